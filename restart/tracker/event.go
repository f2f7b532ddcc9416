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

// Kind is the kind of an event: a fact that a [Tracker] is told, or a question. Each kind has a method of the Tracker.
// The names and values are stable.
type Kind uint8

// The kinds of events, with the fields of Event that each kind uses. Asked, Offered and Swept are questions; the other
// kinds are facts of an attempt, a task, a machine or the phase.
const (
	// Started is [Tracker.Start]: Task, Machine.
	Started Kind = iota + 1
	// Submitted is [Tracker.Submit]: Task, Machine.
	Submitted
	// Begun is [Tracker.Begin]: Task, Attempt, Machine.
	Begun
	// Reported is [Tracker.Report]: Task, Attempt, Report.
	Reported
	// Finished is [Tracker.Finish], Failed [Tracker.Fail], Killed [Tracker.Kill], Restarted [Tracker.Restart]: Task,
	// Attempt.
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
	// SlotsSet is [Tracker.SetSlots]: Slots. The event needs no Time.
	SlotsSet
	// EligibleSet is [Tracker.SetEligible]: Task, NoCopy, NoRestart. The event needs no Time.
	EligibleSet
	// Closed is [Tracker.Close].
	Closed
	// Asked is [Tracker.Decide]: Task.
	Asked
	// Offered is [Tracker.Next]: Machine.
	Offered
	// Swept is [Tracker.Sweep].
	Swept
	// Recorded is [Tracker.Record]: Task, Attempt, Report. The tracker takes the report and decides nothing.
	Recorded
	// Merged is [Tracker.Merge]: Delta.
	Merged
)

// Kinds is the number of kinds. The kinds are 1 to Kinds.
const Kinds = int(Merged)

// kinds describes each kind for journals and logs: its word, and the keys that must and that may follow.
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

// Keys returns the keys that an event of the kind must have, and the keys that it may have. Do not change the slices.
func (k Kind) Keys() (must, may []string) {
	if int(k) >= len(kinds) {
		return nil, nil
	}
	return kinds[k].must, kinds[k].may
}

// Has reports whether events of the kind have the key.
func (k Kind) Has(key string) bool {
	must, may := k.Keys()
	return slices.Contains(must, key) || slices.Contains(may, key)
}

// words returns the words of all kinds.
func words() []string {
	list := make([]string, len(kinds))
	for i := range kinds {
		list[i] = kinds[i].word
	}
	return list
}

// String returns the kind's name in a journal, of one or two words.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].word
	}
	return enum.Name(nil, k)
}

// MarshalText returns the kind's name; an error for a kind that does not exist.
func (k Kind) MarshalText() ([]byte, error) { return enum.Text(words(), k) }

// UnmarshalText sets the kind by its name.
func (k *Kind) UnmarshalText(text []byte) error { return enum.Parse(words(), text, k) }

// Timed reports whether events of the kind have a time. An event without a time takes effect at the time of the event
// before.
func (k Kind) Timed() bool { return int(k) >= len(kinds) || !kinds[k].untimed }

// Event is one call of a [Tracker] as plain data. Each [Kind] uses only the fields that its comment names. Events can
// be compared, stored and applied again: the same events give the same answers.
type Event struct {
	Kind Kind
	// Time is the time of the event, by the host's clock.
	Time time.Time
	// Task is the index of a task, and Attempt the number of an attempt of the task, both from 0. Machine is the
	// host's index of a machine; negative if not known.
	Task, Attempt, Machine int
	// Leaves is the time at which the machine leaves; the zero time if the machine stays after all.
	Leaves time.Time
	// Report is the progress that the attempt reports.
	Report Report
	// Slots is how many attempts may run at once.
	Slots int
	// Delta holds the observations of machines by another process, in base64.
	Delta string
	// NoCopy says that the task must not be copied, NoRestart that it must not be restarted.
	NoCopy, NoRestart bool
}

// wire lists the fields for text, JSON and logs.
func (ev *Event) wire(c *wire.Codec) {
	c.Word("kind", &ev.Kind)
	c.Time("time", &ev.Time)
	c.When(ev.Kind.Has("task")).Int("task", &ev.Task)
	c.When(ev.Kind.Has("attempt")).Int("attempt", &ev.Attempt)
	c.When(ev.Kind.Has("machine")).Int("machine", &ev.Machine)
	c.Time("leaves", &ev.Leaves)
	c.Float("done", &ev.Report.Done)
	c.Float("score", &ev.Report.Score)
	c.Duration("remaining", &ev.Report.Remaining)
	c.Float("saved", &ev.Report.Saved)
	c.Text("delta", &ev.Delta)
	c.When(ev.Kind.Has("slots")).Int("slots", &ev.Slots)
	c.Bool("no-copy", &ev.NoCopy)
	c.Bool("no-restart", &ev.NoRestart)
}

// String returns the event as one line: the kind, and its fields. A journal has shorter lines.
func (ev Event) String() string { return wire.Line(ev.wire) }

// LogValue returns the event as a group of fields for log/slog.
func (ev Event) LogValue() slog.Value { return wire.Log(ev.wire) }

// MarshalJSON returns the event as an object of its fields: durations in seconds, null for unknown.
func (ev Event) MarshalJSON() ([]byte, error) { return wire.JSON(ev.wire) }

// UnmarshalJSON reads the JSON of MarshalJSON.
func (ev *Event) UnmarshalJSON(data []byte) error { return wire.Read(data, ev, (*Event).wire) }

// Report is the progress that an attempt reports. A field that is zero is not known.
type Report struct {
	// Done is the work that the attempt has done, in the units of Config.Work: bytes if Work is in bytes, a share in
	// [0, 1] if Work is nil. An attempt that resumes from a checkpoint counts the checkpoint's work, too. A number in
	// a wrong unit is detected: too large a number at once (Ledger.BadUnits), too small a number when attempts end
	// (Ledger.SmallUnits). Then t_rem goes by ages.
	Done float64
	// Score is the attempt's progress score in [0, 1]. If it is 0, the tracker uses Done divided by the task's work. A
	// host that knows only the score may report it alone; then every estimate and policy takes Score times the task's
	// work as Done.
	Score float64
	// Remaining is the host's own estimate of t_rem, such as the result of [estimate.TimeLeftBySubphase]. If it is 0
	// or estimate.Unknown, the tracker estimates t_rem by Config.Model. A report with another negative value is
	// ignored.
	//
	// [estimate.TimeLeftBySubphase]: https://pkg.go.dev/github.com/straggler-go/straggler/estimate#TimeLeftBySubphase
	Remaining time.Duration
	// Saved is how much of the task's work a checkpoint holds, in the units of Done. 0 leaves the last value of the
	// task. Attempts that begin from now on resume at the checkpoint: t_new counts the work that is left, and all
	// estimates count the work beyond the checkpoint. An attempt with less Done than the checkpoint in its first
	// report has begun anew. For a task of no work, Saved is ignored.
	Saved float64
}

// valid reports whether all numbers of a report are in range.
func (r *Report) valid() bool {
	return r.Done >= 0 && r.Score >= 0 && r.Saved >= 0 && num.Finite(r.Done) && num.Finite(r.Score) && num.Finite(r.Saved) &&
		(r.Remaining >= 0 || r.Remaining == estimate.Unknown)
}
