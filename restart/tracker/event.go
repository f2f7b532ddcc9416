package tracker

import (
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
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
	// EligibleSet is [Tracker.SetEligible]: Task, NoCopy, NoRestart. It needs no Time.
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
	// Merged is [Tracker.Merge]: Delta.
	Merged
)

// Kinds is how many kinds of events there are: they are 1 to Kinds.
const Kinds = int(Merged)

// kinds is what each kind says, in a journal and elsewhere: its word, and the keys that must and may stand behind it.
var kinds = [...]struct {
	word      string
	untimed   bool
	must, may []string
}{
	{word: "none"},
	Started:   {word: "start", must: []string{"task"}, may: []string{"machine"}},
	Submitted: {word: "submit", must: []string{"task"}, may: []string{"machine"}},
	Begun:     {word: "begin", must: []string{"task"}, may: []string{"attempt", "machine"}},
	Reported: {
		word: "report", must: []string{"task"}, may: []string{"attempt", "done", "score", "remaining", "saved"},
	},
	Finished:      {word: "finish", must: []string{"task"}, may: []string{"attempt"}},
	Failed:        {word: "fail", must: []string{"task"}, may: []string{"attempt"}},
	Killed:        {word: "kill", must: []string{"task"}, may: []string{"attempt"}},
	Restarted:     {word: "restart", must: []string{"task"}, may: []string{"attempt"}},
	GivenUp:       {word: "give-up", must: []string{"task"}},
	MachineLost:   {word: "lose machine", must: []string{"machine"}},
	OutputLost:    {word: "lose task", must: []string{"task"}},
	MachineLeaves: {word: "leave", must: []string{"machine"}, may: []string{"in"}},
	SlotsSet:      {word: "slots", untimed: true, must: []string{"slots"}},
	EligibleSet:   {word: "eligible", untimed: true, must: []string{"task"}, may: []string{"copy", "restart"}},
	Closed:        {word: "close"},
	Asked:         {word: "decide", must: []string{"task"}},
	Offered:       {word: "next", may: []string{"machine"}},
	Swept:         {word: "sweep"},
	Recorded: {
		word: "progress", must: []string{"task"}, may: []string{"attempt", "done", "score", "remaining", "saved"},
	},
	Merged: {word: "merge", must: []string{"delta"}},
}

// Keys returns the keys that an event of the kind has: those that must and those that may be given. Read them only.
func (k Kind) Keys() (must, may []string) {
	if int(k) >= len(kinds) {
		return nil, nil
	}
	return kinds[k].must, kinds[k].may
}

// Has reports whether events of the kind have a key.
func (k Kind) Has(key string) bool {
	must, may := k.Keys()
	return slices.Contains(must, key) || slices.Contains(may, key)
}

// words are the words of all kinds.
func words() []string {
	list := make([]string, len(kinds))
	for i := range kinds {
		list[i] = kinds[i].word
	}
	return list
}

// String returns the word or two that stand for the kind in a journal.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].word
	}
	return enum.Name(nil, k)
}

// MarshalText returns the kind's word or two; an error for a kind that does not exist.
func (k Kind) MarshalText() ([]byte, error) { return enum.Text(words(), k) }

// UnmarshalText sets the kind by its word or two.
func (k *Kind) UnmarshalText(text []byte) error { return enum.Parse(words(), text, k) }

// Timed reports whether events of the kind have a time. Those of the others take effect at the time of the event
// before.
func (k Kind) Timed() bool { return int(k) >= len(kinds) || !kinds[k].untimed }

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
	// Delta is what another process has seen of the machines, in base64.
	Delta string
	// NoCopy and NoRestart say what must not be done to a task.
	NoCopy, NoRestart bool
}

// wire lists the fields.
func (e *Event) wire(c *wire.Codec) {
	c.Word("kind", &e.Kind)
	c.Time("time", &e.Time)
	c.When(e.Kind.Has("task")).Int("task", &e.Task)
	c.When(e.Kind.Has("attempt")).Int("attempt", &e.Attempt)
	c.When(e.Kind.Has("machine")).Int("machine", &e.Machine)
	c.Time("leaves", &e.Leaves)
	c.Float("done", &e.Report.Done)
	c.Float("score", &e.Report.Score)
	c.Duration("remaining", &e.Report.Remaining)
	c.Float("saved", &e.Report.Saved)
	c.Text("delta", &e.Delta)
	c.When(e.Kind.Has("slots")).Int("slots", &e.Slots)
	c.Bool("no-copy", &e.NoCopy)
	c.Bool("no-restart", &e.NoRestart)
}

// String returns the event as one line: the kind, and the fields that it has. A journal has shorter ones.
func (e Event) String() string { return wire.Line(e.wire) }

// LogValue returns the event as a group of fields, for log/slog.
func (e Event) LogValue() slog.Value { return wire.Log(e.wire) }

// MarshalJSON returns the event as an object of its fields, durations in seconds, null for unknown.
func (e Event) MarshalJSON() ([]byte, error) { return wire.JSON(e.wire) }

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
