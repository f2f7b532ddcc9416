package placement

import (
	"github.com/straggler-go/straggler/internal/enum"
)

// Place is a machine and the rack that it stands in, by the host's indices.
type Place struct {
	Rack, Machine int
}

// Level is how far a task's input is from where the task runs. The values and names are stable.
type Level uint8

// The levels, nearest first.
const (
	SameMachine Level = iota
	SameRack
	OtherRack
	levels
)

var levelNames = [...]string{"same-machine", "same-rack", "other-rack"}

// String returns the level's name.
func (l Level) String() string { return enum.Name(levelNames[:], l) }

// MarshalText returns the level's name, or an error for a value that does not exist.
func (l Level) MarshalText() ([]byte, error) { return enum.Text(levelNames[:], l) }

// UnmarshalText takes a level's name.
func (l *Level) UnmarshalText(text []byte) error { return enum.Parse(levelNames[:], text, l) }

// Distance returns how near the nearest replica of a task's input is; OtherRack if there is none. O(len(replicas)), no
// allocation.
func Distance(from Place, replicas []Place) Level {
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
// phases other than reduce [Mantri §5.2], and its level. Ties go to the lowest index; -1 if nothing is free.
// O(len(free) len(replicas)), no allocation.
func Nearest(free, replicas []Place) (int, Level) {
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
