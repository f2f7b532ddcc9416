package placement

import (
	"github.com/straggler-go/straggler/internal/enum"
)

// Location is a machine and its rack, by the host's indices. Machines are numbered within a rack or in the whole cluster.
type Location struct {
	// Rack and Machine are the host's indices.
	Rack, Machine int
}

// Locality is the distance between a task's input and the machine where the task runs. The values and names are stable.
type Locality uint8

// The localities, nearest first.
const (
	SameMachine Locality = iota
	SameRack
	OtherRack
	localityCount
)

var localityNames = [...]string{"same-machine", "same-rack", "other-rack"}

// String returns the locality's name.
func (l Locality) String() string { return enum.Name(localityNames[:], l) }

// MarshalText returns the locality's name, or an error for a value that does not exist.
func (l Locality) MarshalText() ([]byte, error) { return enum.Text(localityNames[:], l) }

// UnmarshalText reads a locality's name, and returns an error for any other text.
func (l *Locality) UnmarshalText(text []byte) error { return enum.Parse(localityNames[:], text, l) }

// Distance returns the locality of the replica that is nearest to from. Without replicas the result is OtherRack.
// O(len(replicas)), no allocation.
func Distance(from Location, replicas []Location) Locality {
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

// Nearest returns the index of the free location that is nearest to the task's input, and its locality. The policy below
// Mantri places the tasks of all phases except reduce in this way [Mantri §5.2]. Ties go to the lowest index. If free is
// empty, the index is -1 and the locality is OtherRack. O(len(free) len(replicas)), no allocation.
func Nearest(free, replicas []Location) (int, Locality) {
	best, level := nowhere, localityCount
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
