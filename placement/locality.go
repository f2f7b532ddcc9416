package placement

import (
	"math"
	"time"

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

// Experimental: no host of this repository calls it yet.
//
// LocalityFactors learns what reading costs at each level, for the locationFactor of Mantri's equation 3:
// estimate.Fresh wants it relative to the average task of the phase, so that no copy starts where it has little chance
// to end first [Mantri §5.2]. The zero value is ready for use. Not safe for concurrent use; one per phase.
type LocalityFactors struct {
	bytes, took [levels]float64
}

// Observe records that a task read the given bytes at the level in the given time. It reports whether that was used: a
// level that does not exist is not, nor is a number of bytes or a time that is not positive and finite. O(1).
func (r *LocalityFactors) Observe(level Level, bytes float64, took time.Duration) bool {
	if level >= levels || !(bytes > 0) || math.IsInf(bytes, 1) || took <= 0 {
		return false
	}
	r.bytes[level] += bytes
	r.took[level] += took.Seconds()
	return true
}

// Factor returns how much longer a byte takes at the level than it took the average byte of the phase: 2 is twice as
// long. A level without observations takes the factor of the next nearer one that has some, since it will hardly be
// faster, but at least 1; without any it is 1. O(1), no allocation.
func (r *LocalityFactors) Factor(level Level) float64 {
	if level >= levels {
		return 1
	}
	average := sum(r.took[:]) / sum(r.bytes[:])
	if r.bytes[level] > 0 {
		return positive(r.took[level] / r.bytes[level] / average)
	}
	for l := level; l > 0; l-- {
		if r.bytes[l-1] > 0 {
			return max(1, positive(r.took[l-1]/r.bytes[l-1]/average))
		}
	}
	return 1
}

// positive guards against figures so extreme that their ratio is none.
func positive(ratio float64) float64 {
	if ratio > 0 && !math.IsInf(ratio, 1) {
		return ratio
	}
	return 1
}
