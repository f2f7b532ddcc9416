package machines

import (
	"time"

	"github.com/straggler-go/straggler/internal/enum"
)

// Attempt describes one attempt of a task that runs or ran on a machine.
type Attempt struct {
	// Ran is how long the attempt has run so far, or its whole time if the attempt has ended.
	Ran time.Duration
	// Usual is the typical time that an average machine needs for all the work of the task. With Usual, a task that
	// is long because of its data is no evidence against its machine. Use the median of the phase rather than the
	// mean, because a slow machine makes the mean longer. 0 means that the typical time is not known. Then the
	// attempt is no evidence about the speed of the machine.
	//
	// Pass 0 as well for a task that is long by itself. The sign of such a task is that an earlier attempt was
	// killed on another machine and would have taken about as long. In this case neither machine is slow. The
	// method Repeat of estimate.UnitTimes detects such tasks.
	Usual time.Duration
	// Done is the share of the task's work that the attempt has done, or 0 if the share is not known. For a
	// finished attempt Done is ignored.
	Done float64
}

// Outcome says how an attempt ended. The numbers and the names of the constants will not change.
type Outcome uint8

const (
	// Finished means that the attempt did all its work. Its time shows how fast the machine is.
	Finished Outcome = iota
	// Killed means that the scheduler ended the attempt because it was slow, because another attempt was faster, or
	// because its slot was needed. Its whole time would have been at least the time that it ran. Its progress, if
	// known, shows how fast the machine is.
	Killed
	// Failed means that the attempt ended by itself without a result.
	Failed
)

var outcomeNames = [...]string{Finished: "finished", Killed: "killed", Failed: "failed"}

// String returns the outcome's name.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the outcome's name, or an error for a value without a name.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText sets the outcome to the outcome with the given name, or returns an error for an unknown name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }
