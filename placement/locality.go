package placement

import (
	"github.com/straggler-go/straggler/internal/enum"
)

// Place is a machine and the rack that it stands in, by the host's indices.
type Place struct {
	Rack, Machine int
}

// Locality is how far a task's input is from where the task runs. The values and names are stable.
type Locality uint8

// The localities, nearest first.
const (
	SameMachine Locality = iota
	SameRack
	OtherRack
	levels
)

var localityNames = [...]string{"same-machine", "same-rack", "other-rack"}

// String returns the locality's name.
func (l Locality) String() string { return enum.Name(localityNames[:], l) }

// MarshalText returns the locality's name, or an error for a value that does not exist.
func (l Locality) MarshalText() ([]byte, error) { return enum.Text(localityNames[:], l) }

// UnmarshalText takes a locality's name.
func (l *Locality) UnmarshalText(text []byte) error { return enum.Parse(localityNames[:], text, l) }

// Distance returns how near the nearest replica of a task's input is; OtherRack if there is none. O(len(replicas)), no
// allocation.
func Distance(from Place, replicas []Place) Locality {
	nearest := OtherRack
	for _, replica := range replicas {
		switch {
		case replica.Rack != from.Rack:
		case replica.Machine == from.Machine:
			return SameMachine
		default:
			nearest = SameRack
		}
	}
	return nearest
}

// Nearest returns the index of the free place nearest to the task's input, as the policy that Mantri builds on does for
// phases other than reduce [Mantri §5.2], and its locality. Ties go to the lowest index; -1 if nothing is free.
// O(len(free) len(replicas)), no allocation.
func Nearest(free, replicas []Place) (int, Locality) {
	best, level := nowhere, levels
	for i, place := range free {
		if l := Distance(place, replicas); l < level {
			best, level = i, l
		}
	}
	if best == nowhere {
		return nowhere, OtherRack
	}
	return best, level
}
