package placement

import (
	"github.com/straggler-go/straggler/internal/enum"
)

// Location is a machine and its rack, by the indices that the host uses. The host may number the machines in each
// rack or in the whole cluster.
type Location struct {
	// Rack and Machine are the host's indices.
	Rack, Machine int
}

// Locality says how far a machine is from the input of a task. The values and the names of the constants will not
// change.
type Locality uint8

// The localities, the nearest first: the input is on the same machine, in the same rack, or in another rack.
const (
	SameMachine Locality = iota
	SameRack
	OtherRack
	localityCount
)

var localityNames = [...]string{SameMachine: "same-machine", SameRack: "same-rack", OtherRack: "other-rack"}

// String returns the name of the locality.
func (l Locality) String() string { return enum.Name(localityNames[:], l) }

// MarshalText returns the name of the locality. It returns an error if the value has no name.
func (l Locality) MarshalText() ([]byte, error) { return enum.Text(localityNames[:], l) }

// UnmarshalText sets the locality to the constant whose name is text. It returns an error if no constant has this name.
func (l *Locality) UnmarshalText(text []byte) error { return enum.Parse(localityNames[:], text, l) }

// Distance returns the locality of the nearest copy of a task's input. The argument from is the machine on which the
// task would run, and replicas are the machines that store a copy. Without replicas the result is OtherRack. Cost:
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

// Nearest returns the index of the free machine that is nearest to the input of a task, and the locality of this
// machine. replicas are the machines that store a copy of the input. If several machines are equally near, the
// result is the lowest index. If free is empty, the index is -1 and the locality is OtherRack. The scheduler on
// which Mantri builds places the tasks of all phases except reduce in this way [Mantri §5.2]. Cost: O(len(free)
// len(replicas)), no allocation.
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
