package clone

import "github.com/straggler-go/straggler/internal/enum"

// State is what a copy of a task does. The names and values are stable.
type State uint8

const (
	// Running is the zero value; a copy that is queued counts as running.
	Running State = iota
	// Finished copies have a result.
	Finished
	// Failed copies ended without one, or were killed.
	Failed
)

var stateNames = [...]string{"running", "finished", "failed"}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name; an error for a value that does not exist.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }

// Losers appends to dst the copies of one task to kill: all that still run, as indices into copies, once want of them
// have finished, and none before. A want below 1 counts as 1.
//
// One finished copy is enough for a result that is read once. Where copies of a downstream task read the output, each
// would rather have an upstream copy of its own [Dolly §4.4]: then want is the number of downstream copies until the
// window of delay assignment is over, and 1 from then on. O(len(copies)); allocates only to grow dst.
func Losers(dst []int, copies []State, want int) []int {
	finished := 0
	for _, s := range copies {
		if s == Finished {
			finished++
		}
	}
	if finished < max(want, 1) {
		return dst
	}
	for i, s := range copies {
		if s == Running {
			dst = append(dst, i)
		}
	}
	return dst
}
