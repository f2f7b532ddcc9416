package engine

import (
	"log/slog"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// State is the state of an attempt, as the engine shows it. The names and values are stable.
type State uint8

const (
	// Queued: the attempt waits in the engine's queue. Queued is the zero value.
	Queued State = iota
	// Running: a machine works on the attempt.
	Running
	// Succeeded: the attempt has ended with a result.
	Succeeded
	// Failed: the attempt has ended by the task's own fault, such as a wrong exit status.
	Failed
	// Lost: the attempt is gone with its machine, or was silent for too long. The task is not to blame. The
	// machine rests; see [MachinesConfig].
	Lost
	// Cancelled: the attempt has ended because somebody told it to end. If no action of the phase told it so,
	// the attempt counts as a loss of its task, and its machine does not rest.
	Cancelled
)

var stateNames = [...]string{"queued", "running", "succeeded", "failed", "lost", "cancelled"}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name, or an error for a value that is no state.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name, or returns an error for a text that names no state.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }

func (s State) ended() bool { return s >= Succeeded }

// Attempt is a report of the engine about one attempt of a task. Its times are by the clock of the attempt's
// machine, or of the server that dates the attempt: see the section on clocks in the package's page. As JSON
// the report is exact if the names are valid UTF-8 and the times lie in the years 0 to 9999.
type Attempt struct {
	// ID is the attempt's name: Action.ID for an attempt that the phase submitted, else the engine's own name.
	// Each attempt of a phase has an ID of its own. If phases share an engine, put the name of the job before
	// the ID.
	ID    string
	Task  int
	State State
	// Machine is the name of the machine where the attempt runs or ran. Empty: not known, or the attempt waits.
	Machine string
	// Begun is when the attempt began to run, not when it was queued. Zero: the time at which the attempt was
	// first seen to run, or the AsOf of the first report if it is given.
	Begun time.Time
	// Ended is when the attempt ended. Zero: now.
	Ended time.Time
	// Progress is the attempt's progress since Begun.
	Progress tracker.Report
	// AsOf is when Progress was measured. Zero: now. A report is ignored unless its AsOf is newer than the last
	// report's. A last report that was dated in the future does not count in this comparison.
	AsOf time.Time
	// Published says that the engine has already published this attempt's result as the result of the task.
	// Then this attempt is the winner, whichever other attempt succeeds. [Phase.Published] tells the phase the
	// same, without waiting for a list.
	Published bool
}

// Op is the kind of an action. The names and values are stable.
type Op uint8

const (
	// Submit hands a new attempt of a task to the engine. Submit is the zero value.
	Submit Op = iota
	// Cancel ends an attempt.
	Cancel
	// Publish makes an attempt's result the result of its task. A task's Publish names only one attempt. Poll
	// returns it until the publication is confirmed: see [Phase.Published].
	Publish
)

var opNames = [...]string{"submit", "cancel", "publish"}

// String returns the op's name.
func (o Op) String() string { return enum.Name(opNames[:], o) }

// MarshalText returns the op's name, or an error for a value that is no op.
func (o Op) MarshalText() ([]byte, error) { return enum.Text(opNames[:], o) }

// UnmarshalText sets the op by its name, or returns an error for a text that names no op.
func (o *Op) UnmarshalText(text []byte) error { return enum.Parse(opNames[:], text, o) }

// Action is something that the adapter has to do now. Carry the actions out in their order. Each action may be
// returned again, with the same ID, until the engine shows it as carried out. So these calls must change
// nothing:
//
//   - to submit an ID that the engine has,
//   - to cancel an attempt that has ended,
//   - to publish a result that is published.
//
// If the engine refuses a Submit, tell Poll an Attempt with that ID in the state Failed or Lost, or wait until
// the action comes again.
type Action struct {
	Op   Op
	Task int
	// ID is the attempt's name. To Submit: the name by which Poll must see the new attempt; "17.2" is attempt 2
	// of task 17. To Cancel: the attempt to end. To Publish: the attempt that won.
	ID string
	// Machine is the attempt's machine. To Submit: where to submit, if the machines have slots; else empty. To
	// Cancel and to Publish: where the attempt runs or ran, or was submitted; empty if not known.
	Machine string
	// Avoid names the machines on which the new attempt should not run: machines that run or ran an attempt of
	// the task, and machines that rest, are slow or leave. Avoid never names all known machines.
	Avoid []string
	// Decision is the reason of the action: the policy's decision about the task, or a Kill with the reason
	// Overtaken where another attempt won. Decision is zero in these cases:
	//
	//   - a first attempt of a task,
	//   - an attempt that replaces a failed or lost one,
	//   - a Cancel because the attempt's machines are down, or because its task was given up.
	Decision restart.Decision
}

// String returns the action as one line, for example "submit 17.2 on n1 not on n3: restart fresh-sooner ...".
func (a Action) String() string {
	line := a.Op.String() + " " + a.ID
	if a.Machine != "" {
		line += " on " + a.Machine
	}
	if len(a.Avoid) > 0 {
		line += " not on " + strings.Join(a.Avoid, ",")
	}
	if a.Decision.Action != restart.Keep {
		line += ": " + a.Decision.String()
	}
	return line
}

// wire lists the fields for JSON and log/slog.
func (a *Action) wire(c *wire.Codec) {
	c.Word("op", &a.Op)
	c.When(true).Int("task", &a.Task)
	c.When(true).Text("id", &a.ID)
	c.Text("machine", &a.Machine)
	c.Texts("avoid", &a.Avoid)
	if c.Reading() || a.Decision != (restart.Decision{}) {
		c.Value("decision", &a.Decision)
	}
}

// LogValue returns the action as a group of fields, for log/slog.
func (a Action) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the action as an object. The decision is an object within it, durations are in seconds,
// and null stands for an unknown number.
func (a Action) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON reads the output of MarshalJSON. The action that it sets is equal to the action that was
// written.
func (a *Action) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Action).wire) }
