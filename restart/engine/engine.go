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

// State is what an engine says of an attempt. The names and values are stable.
type State uint8

const (
	// Queued: it waits in the engine's queue. It is the zero value.
	Queued State = iota
	// Running: a machine works on it.
	Running
	// Succeeded: it has ended with a result.
	Succeeded
	// Failed: it has ended by the task's own fault.
	Failed
	// Lost: it is gone with its machine, or fell silent for too long; the task is not to blame.
	Lost
	// Cancelled: it has ended because it was told to. If that was not by an action of ours, it counts as lost, but the
	// machine is not held to be bad.
	Cancelled
)

var stateNames = [...]string{"queued", "running", "succeeded", "failed", "lost", "cancelled"}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name; an error for a value that does not exist.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }

func (s State) ended() bool { return s >= Succeeded }

// Attempt is what the engine shows of one attempt of a task. Its times are by the clock of its machine, or of whoever
// dates it: see the package's page on clocks. An attempt that travels as JSON keeps what it says if its names are valid
// UTF-8 and its times lie in the years 0 to 9999.
type Attempt struct {
	// ID is the name that Action.ID gave it, or the engine's own. No two attempts of a phase
	// have the same; where phases share an engine, put the name of the job before it.
	ID    string
	Task  int
	State State
	// Machine is where it runs or ran; empty if not known, or if it waits.
	Machine string
	// Begun is when it began to run, which is not when it was queued. Zero: when it was first seen to run, or AsOf of
	// that line.
	Begun time.Time
	// Ended is when it ended. Zero: now.
	Ended time.Time
	// Progress is how far it has come, since it began.
	Progress tracker.Report
	// AsOf is when Progress was true. Zero: now. The same time again is the same report, and is passed over, as is an
	// earlier time, unless the last one was in the future.
	AsOf time.Time
	// Published says that its result is in its place: it is the task's, whichever other attempt succeeds.
	// [Phase.Published] says the same at once.
	Published bool
}

// Op is what to do. The names and values are stable.
type Op uint8

const (
	// Submit hands a new attempt of a task to the engine.
	Submit Op = iota
	// Cancel ends an attempt.
	Cancel
	// Publish makes an attempt's result that of its task. Of a task it names one attempt alone. It is given again until
	// it is confirmed: see [Phase.Published].
	Publish
)

var opNames = [...]string{"submit", "cancel", "publish"}

// String returns the name of what to do.
func (o Op) String() string { return enum.Name(opNames[:], o) }

// MarshalText returns the op's name; an error for a value that does not exist.
func (o Op) MarshalText() ([]byte, error) { return enum.Text(opNames[:], o) }

// UnmarshalText sets the op by its name.
func (o *Op) UnmarshalText(text []byte) error { return enum.Parse(opNames[:], text, o) }

// Action is what to do now. Carry the actions out in their order. Each may be given again, with the same ID, until the
// engine shows that it was carried out: to submit an ID that the engine has, to cancel one that has ended, and to
// publish one that is published must change nothing. If an attempt can't be submitted, say so by an Attempt of that
// ID which has failed or is lost, or wait to be asked again.
type Action struct {
	Op   Op
	Task int
	// ID is the attempt: to Submit, the name by which Poll is to hear of the new one, "17.2" for attempt 2 of task 17;
	// to Cancel, the one to end; to Publish, the one that won.
	ID string
	// Machine is where to submit, if the machines have slots of their own. To Cancel and to Publish, where it runs or ran, or
	// was submitted; empty if not known.
	Machine string
	// Avoid are machines on which the new attempt should not run: those that run a copy of the task or ran one, and those
	// that rest. It never names all known machines.
	Avoid []string
	// Decision says why: what the policy decided about the task, or that a copy was overtaken. It is the zero Decision
	// for the first attempts of a task, for those that make up for a failed or lost one, and where an attempt is
	// cancelled since its machines are down or its task was given up.
	Decision restart.Decision
}

// String returns the action as one line: "submit 17.2 on n1 not on n3: restart fresh-sooner ...".
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

// wire lists the fields.
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

// MarshalJSON returns the action as an object, the decision as one within, durations in seconds, null for unknown.
func (a Action) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON reads what MarshalJSON writes: the very same action.
func (a *Action) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Action).wire) }
