package restart

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, why it is taken, and the numbers that it rests on. It is a plain value: it can be compared
// with ==, holds no NaN and no pointer, prints as one line, logs as structured fields, and reads back as itself from its
// JSON and from encoding/gob. The zero value keeps the task.
//
// The durations are the very numbers that were compared, to the nanosecond, so a logged decision can be checked by
// hand.
type Decision struct {
	Action Action
	Reason Reason
	// Copy is the index into Task.Copies of the copy to kill, for Restart and Kill; 0 otherwise.
	Copy int
	// Remaining is t_rem of the task, that of its fastest copy, and Fresh is E(t_new); 0 if the rule did not need it,
	// and [estimate.Unknown] if it did and there was none.
	Remaining, Fresh time.Duration
	// Basis is what Remaining rests on, where that is uncertain.
	Basis Basis
	// Bar is what Remaining had to exceed; 0 if the rule compares something else. Where t_rem is uncertain, it is what a
	// new copy usually takes, and Δ, which may be less than Fresh.
	Bar time.Duration
	// Value was held against Threshold: the probability of saving resources against δ, that of an uncertain t_rem to
	// exceed Bar, or what a new copy usually takes, against the confidence that Mantri asks of each, a score against
	// the mean score less its lag, seconds run against seconds, a rate against a rate, a count against a count, a share
	// against a share, the seconds that a copy saves against those of a slot that it adds, each as far as it was looked
	// at where the task is kept. Both are 0 if not used.
	Value, Threshold float64
	// Won of Tried earlier restarts and copies were won, where the policy reads it.
	Won, Tried int
	// Gain ranks tasks, largest first: by the time that the action is expected to save for Mantri, SDA and ESE, the time
	// left for LATE, the time beyond the threshold for Dryad, Spark and Flink; 0 for the rules to which all such tasks are
	// alike. A copy that a leaving machine makes necessary comes first, with the largest duration there is.
	Gain time.Duration
	// Avoid names the machines on which a new copy should not run: where copies run now and where earlier attempts ran.
	// It never names all the machines that there are, where Phase.Machines says how many.
	Avoid MachineSet
}

// wire lists the fields.
func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action == Restart || d.Action == Kill).Int("copy", &d.Copy)
	c.When(d.Basis != NoBasis).Enum("basis", &d.Basis)
	c.Duration("remaining", &d.Remaining)
	c.Duration("fresh", &d.Fresh)
	c.Duration("bar", &d.Bar)
	compared := d.Value != 0 || d.Threshold != 0
	c.When(compared).Float("value", &d.Value)
	c.When(compared).Float("threshold", &d.Threshold)
	tried := d.Tried != 0
	c.When(tried).Int("won", &d.Won)
	c.When(tried).Int("tried", &d.Tried)
	c.Duration("gain", &d.Gain)
	if c.Reading() || d.Avoid.Len() > 0 {
		avoid := d.Avoid.list()
		wire.Numbers(c, "avoid", &avoid)
		c.Check(d.Avoid.hold(avoid), "avoid", avoid, wantMachines)
	}
}

// String returns the decision as one line: action, reason, and the numbers that were used, durations in seconds.
func (d Decision) String() string { return wire.Line(d.wire) }

// AppendText appends what String returns to dst.
func (d *Decision) AppendText(dst []byte) ([]byte, error) {
	c := wire.Lines(dst)
	d.wire(c)
	return c.Appended(), nil
}

// LogValue returns the decision as a group of fields, for log/slog.
func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }

// MarshalJSON returns the decision as an object of the fields that it prints, durations in seconds, null for unknown.
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }

// UnmarshalJSON reads what MarshalJSON writes: the very same decision.
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }

// UnmarshalText reads what String returns, which has six digits of each number.
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
