package machines

import (
	"time"

	"github.com/straggler-go/straggler/internal/enum"
)

// Attempt describes one attempt of a task that runs or ran on a machine.
type Attempt struct {
	// Ran is how long the attempt has run, or its whole time if it has ended.
	Ran time.Duration
	// Usual is the typical time of all the task's work on an average machine. With Usual, a task that is long
	// because of its data does not count against its machine. The median of the phase is a better value than the
	// mean, because a slow machine pulls the mean up. 0 means unknown, and the attempt then says nothing about the
	// machine's speed.
	//
	// Pass 0 as well for a task that is long by itself: an earlier attempt of the task was killed on another
	// machine, and would have taken about as long. In this case neither machine is slow; UnitTimes.Repeat detects
	// it.
	Usual time.Duration
	// Done is the share of its work that the attempt has done; 0 if unknown. Done is not read for a finished
	// attempt.
	Done float64
}

// Outcome says how an attempt ended. The names and values are stable.
type Outcome uint8

const (
	// Finished means that the attempt did its work. Its time is the time that the machine needs.
	Finished Outcome = iota
	// Killed means that the scheduler ended the attempt: it was slow, another attempt was faster, or its slot was
	// needed. Its time is a lower bound, and its progress shows its speed.
	Killed
	// Failed means that the attempt ended by itself without a result.
	Failed
)

var outcomeNames = [...]string{"finished", "killed", "failed"}

// String returns the outcome's name.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the outcome's name, or an error for a value without a name.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText sets the outcome by its name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }
