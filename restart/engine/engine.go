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

// State is the state of an attempt in the engine. The names and values are stable.
type State uint8

const (
	// Queued: the attempt waits in the engine's queue. Queued is the zero value.
	Queued State = iota
	// Running: the attempt runs on a machine.
	Running
	// Succeeded: the attempt has ended with a result.
	Succeeded
	// Failed: the attempt has ended without a result because of the task itself, for example with a wrong exit
	// status.
	Failed
	// Lost: the attempt has ended without a result because of its machine, for example because the machine is gone.
	// After that the machine gets no new attempts for a while; see [MachinesConfig]. If the attempt succeeds all the
	// same, because its machine was only silent, its result is used unless the task has one.
	Lost
	// Cancelled: the attempt has ended because it was cancelled. If the phase had not asked for that, the task loses
	// an attempt (see Config.MaxLost), but the machine still gets new attempts.
	Cancelled
)

var stateNames = [...]string{
	Queued: "queued", Running: "running", Succeeded: "succeeded", Failed: "failed", Lost: "lost",
	Cancelled: "cancelled",
}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name, or an error if the value is not a state.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name, or returns an error if the text is not the name of a state.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }

// ended reports whether an attempt in this state has ended.
func (s State) ended() bool { return s >= Succeeded }

// Attempt is a report of the engine about one attempt of a task. The times come from the clock of the attempt's
// machine, or of the server that dates the attempt. The section "Whose clock" of the package's page explains how they
// are used. As JSON the report is exact if the names are valid UTF-8 and the times are in the years 0 to 9999.
type Attempt struct {
	// ID is the attempt's name. For an attempt that the phase submitted, it is Action.ID. For any other attempt it is
	// the engine's own name. Each attempt of a phase has a different ID. If several phases share an engine, put the
	// name of the job before the ID.
	ID    string
	Task  int
	State State
	// Machine is the name of the machine on which the attempt runs or ran. It is empty if the machine is not known,
	// or if the attempt still waits.
	Machine string
	// Begun is when the attempt began to run, not when it was queued. If Begun is zero, the AsOf of the first report
	// is used, or else the time at which the attempt was first seen to run.
	Begun time.Time
	// Ended is when the attempt ended. If Ended is zero, the time of the call is used.
	Ended time.Time
	// Progress is the attempt's progress since Begun.
	Progress tracker.Report
	// AsOf is when Progress was measured. If AsOf is zero, the time of the call is used. A report is ignored unless
	// its AsOf is later than the AsOf of the report before. An earlier report whose AsOf was in the future is left
	// out of this comparison.
	AsOf time.Time
	// Published says that the engine has already published this attempt's result as the result of the task. Then this
	// attempt is the winner, even if another attempt succeeds. [Phase.Published] tells the phase the same, without a
	// report.
	Published bool
}

// Op is the kind of an action: Submit, Cancel or Publish. The names and values are stable.
type Op uint8

const (
	// Submit asks the engine to run a new attempt of a task. Submit is the zero value.
	Submit Op = iota
	// Cancel asks the engine to end an attempt.
	Cancel
	// Publish asks the engine to make an attempt's result the result of its task. For each task, Publish is returned
	// for a single attempt only. Poll returns it until the publication is confirmed: see [Phase.Published].
	Publish
)

var opNames = [...]string{Submit: "submit", Cancel: "cancel", Publish: "publish"}

// String returns the op's name.
func (o Op) String() string { return enum.Name(opNames[:], o) }

// MarshalText returns the op's name, or an error if the value is not an op.
func (o Op) MarshalText() ([]byte, error) { return enum.Text(opNames[:], o) }

// UnmarshalText sets the op by its name, or returns an error if the text is not the name of an op.
func (o *Op) UnmarshalText(text []byte) error { return enum.Parse(opNames[:], text, o) }

// Turn is what a call of Poll, Push or Close asks of the adapter, and what it says about tasks that have failed. Its lists
// are valid until the next call.
type Turn struct {
	// Actions are the requests to send to the engine now, in their order.
	Actions []Action
	// Rests are the tasks that have failed, wait for the end of their back-off, and have no cancelled attempt that runs.
	Rests []Rest
	// GivenUp are the tasks that were given up since the last call, by [Phase.GiveUp] or after too many failed or lost
	// attempts, in ascending order. The first call after [Restore] lists all of them again. If an attempt of such a task
	// succeeds later, nothing changes.
	GivenUp []int
}

// Rest is a task that has failed and waits for the end of its back-off.
type Rest struct {
	Task     int
	Failures int           // the number of failed attempts of the task
	For      time.Duration // the time until the end of the back-off
}

// Action is a request that the adapter has to send to the engine now. Carry out the actions in their order. Each
// action may be returned again, with the same ID, until the engine shows its effect. So these calls must change
// nothing:
//
//   - to submit an ID that the engine already has,
//   - to cancel an attempt that has already ended,
//   - to publish a result that is already published.
//
// A Submit may use the slot of an attempt that the same call cancels, or that an earlier call cancelled, if lists have
// left out that attempt for [Config].Trace. If such an attempt may still run, let the Submit wait until the attempt has
// ended, or leave the Submit out: the action is returned again. An engine with a queue of its own lets it wait anyway.
//
// If the engine refuses a Submit, pass Poll an Attempt with the same ID in the state Failed or Lost, or wait until
// the action is returned again.
type Action struct {
	Op Op
	// Task and Attempt are the numbers of the task and of its attempt, as the tracker, its events and its answers have
	// them. If an attempt that counted as ended wins, it gets a new number. An attempt that the engine began although its
	// task was over is not in the tracker, and its number is 0.
	Task, Attempt int
	// ID is the name of an attempt. For Submit it is the name that the new attempt must have in the engine's list.
	// For example, "17.2" is attempt 2 of task 17. For Cancel it is the attempt to end. For Publish it is the attempt
	// that won.
	ID string
	// Machine is the attempt's machine. For Submit it is the machine on which the attempt must run, if the machines
	// have slots; else it is empty. For Cancel and Publish it is the machine on which the attempt runs or ran, or for
	// which it was submitted. It is empty if the machine is not known.
	Machine string
	// Avoid lists the names of machines on which the new attempt should not run: machines that run or ran an attempt
	// of the task, and machines that rest, are slow or will leave. Avoid never lists all known machines.
	Avoid []string
	// Decision is the decision of the policy that led to the action. If another attempt of the task has won, it is a
	// Kill with the reason Overtaken. If the attempt has passed its timeout, it is a Kill with the reason Overdue. In these
	// cases no policy decided, and Decision is the zero value:
	//
	//   - the action submits the first attempt of a task,
	//   - the action submits an attempt in place of a failed or lost attempt,
	//   - the action cancels an attempt because its machines are down, or because its task was given up.
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

// wire lists the fields of the action, in their order, for JSON and log/slog.
func (a *Action) wire(c *wire.Codec) {
	c.Word("op", &a.Op)
	c.When(true).Int("task", &a.Task)
	c.When(true).Int("attempt", &a.Attempt)
	c.When(true).Text("id", &a.ID)
	c.Text("machine", &a.Machine)
	c.Texts("avoid", &a.Avoid)
	if c.Reading() || a.Decision != (restart.Decision{}) {
		c.Value("decision", &a.Decision)
	}
}

// LogValue returns the action as a group of fields, for log/slog.
func (a Action) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the action as a JSON object. The decision is an object within it. Durations are in seconds, and
// null means that a number is unknown.
func (a Action) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON sets the action from the output of MarshalJSON. The result equals the original action.
func (a *Action) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Action).wire) }
