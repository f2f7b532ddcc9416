package machines

import (
	"time"

	"github.com/straggler-go/straggler/internal/enum"
)

// Attempt is what is known of one attempt of a task that runs, or ran, on a machine.
type Attempt struct {
	// Ran is how long it has run; for an attempt that has ended, the whole time.
	Ran time.Duration
	// Usual is how long all of its task's work usually takes on an average machine, so that a task that is long
	// because of its data says nothing against the machine. The median of the phase is better here than the mean,
	// which the slow machine itself pulls up. 0 is unknown: such an attempt says nothing about the machine's speed. It
	// is to be 0 as well where an earlier attempt of the task was killed on another machine and would have taken about
	// as long: then the task is long, and neither machine slow; UnitTimes.Repeat tells.
	Usual time.Duration
	// Done is how much of its work it has done, as a share; 0 if it has not told. A finished attempt has done all.
	Done float64
}

// Outcome is how an attempt ended. The names and values are stable.
type Outcome uint8

const (
	// Finished: it did its work. Its time is what the machine takes.
	Finished Outcome = iota
	// Killed: it was ended from outside, because it was slow, because another copy was faster, or to make room. Its
	// time is the least that it would have taken, and its progress says at which pace.
	Killed
	// Failed: it ended by itself without a result.
	Failed
)

var outcomeNames = [...]string{"finished", "killed", "failed"}

// String returns the outcome's name.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the outcome's name; an error for a value that does not exist.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText reads a name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }
