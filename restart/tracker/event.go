package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Kind is what an event tells a [Tracker], or asks it. Each has a method of the Tracker. Names and values are stable.
type Kind uint8

// What has happened to a copy, to a task, to a machine or to the phase; and the questions Asked, Offered, Swept.
const (
	// Started is [Tracker.Start]: Task, Machine.
	Started Kind = iota + 1
	// Submitted is [Tracker.Submit]: Task, Machine.
	Submitted
	// Begun is [Tracker.Begin]: Task, Attempt, Machine.
	Begun
	// Reported is [Tracker.Report]: Task, Attempt, Report.
	Reported
	// Finished is [Tracker.Finish]: Task, Attempt. So also Failed, Killed and Restarted.
	Finished
	Failed
	Killed
	Restarted
	// GivenUp is [Tracker.GiveUp]: Task.
	GivenUp
	// MachineLost is [Tracker.LoseMachine]: Machine.
	MachineLost
	// OutputLost is [Tracker.LoseOutput]: Task.
	OutputLost
	// MachineLeaves is [Tracker.Leave]: Machine, Leaves.
	MachineLeaves
	// SlotsSet is [Tracker.SetSlots]: Slots. It needs no Time.
	SlotsSet
	// EligibleSet is [Tracker.SetEligible]: Task, NoDuplicate, NoRestart. It needs no Time.
	EligibleSet
	// Closed is [Tracker.Close].
	Closed
	// Asked is [Tracker.Decide]: Task.
	Asked
	// Offered is [Tracker.Next]: Machine.
	Offered
	// Swept is [Tracker.Sweep].
	Swept
	// Recorded is [Tracker.Record]: as Reported, but it asks nothing.
	Recorded
)

// Kinds is how many kinds of events there are: they are 1 to Kinds.
const Kinds = int(Recorded)

var kindNames = [...]string{
	"none", "start", "submit", "begin", "report", "finish", "fail", "kill", "restart", "give-up", "lose machine", "lose task",
	"leave", "slots", "eligible", "close", "decide", "next", "sweep", "progress",
}

// String returns the word or two that stand for the kind in a journal.
func (k Kind) String() string { return enum.Name(kindNames[:], k) }

// MarshalText returns the kind's name; an error for a value that does not exist.
func (k Kind) MarshalText() ([]byte, error) { return enum.Text(kindNames[:], k) }

// UnmarshalText sets the kind by its name.
func (k *Kind) UnmarshalText(text []byte) error { return enum.Parse(kindNames[:], text, k) }

// Timed reports whether events of the kind have a time. Those of the others take effect at the time of the event
// before.
func (k Kind) Timed() bool { return k != SlotsSet && k != EligibleSet }

// Event is what a host tells a [Tracker], or asks it. Of the fields, each [Kind] uses those that it names. It can be
// compared, stored and told again: the same events give the same answers.
type Event struct {
	Kind Kind
	// Time is when, by the host's clock.
	Time time.Time
	// Task and Attempt are the tracker's numbers, from 0. Machine is the host's; negative if not known.
	Task, Attempt, Machine int
	// Leaves is when a machine leaves; zero if it stays after all.
	Leaves time.Time
	// Report is what a copy has reported.
	Report Report
	// Slots is how many copies may run at once.
	Slots int
	// NoDuplicate and NoRestart say what must not be done to a task.
	NoDuplicate, NoRestart bool
}

// Report is what a copy reports of itself. Leave out what is not known.
type Report struct {
	// Done is the work that is done, in the units of Config.Work: bytes if Work is bytes, a share in [0, 1] if Work is
	// nil. A copy that resumes from a checkpoint counts what that held. Too large a number is noticed at once, and
	// counted as BadUnits; too small a one when copies end, and counted as SmallUnits: then t_rem goes by ages.
	Done float64
	// Score is its progress score in [0, 1]; if 0, Done divided by the task's work is used. A host that knows nothing
	// else may report it alone: then Score times the task's work is done, for every estimate and every policy.
	Score float64
	// Remaining is the host's own estimate of t_rem, such as that of [estimate.TimeLeftBySubphase]; if 0 or
	// estimate.Unknown, Config.Model is used. A report of a negative one makes no sense, and is ignored.
	//
	// [estimate.TimeLeftBySubphase]: https://pkg.go.dev/github.com/straggler-go/straggler/estimate#TimeLeftBySubphase
	Remaining time.Duration
	// Saved is how much of the task's work a checkpoint holds, in the units of Done. Copies that begin from now on
	// resume there: t_new counts what the checkpoint leaves, and they are judged, and learned from, by what they do
	// beyond it. One that shows less than that in its first report has begun anew. 0: as it was told last. What is
	// saved of a task without work says nothing.
	Saved float64
}

// valid reports whether a report makes sense.
func (r *Report) valid() bool {
	return r.Done >= 0 && r.Score >= 0 && r.Saved >= 0 && num.Finite(r.Done) && num.Finite(r.Score) && num.Finite(r.Saved) &&
		(r.Remaining >= 0 || r.Remaining == estimate.Unknown)
}
