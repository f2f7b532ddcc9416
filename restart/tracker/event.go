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

// EventKind is the kind of an [Event]. An event is either a fact that the host tells a [Tracker], or a question. The
// Tracker has one method for each kind. The names and values are stable.
type EventKind uint8

// The kinds of events. Each comment gives the method of [Tracker] that makes the event, and the fields of [Event]
// that the event uses, in addition to Time. Asked, Offered and Swept are questions. The other kinds are facts about
// an attempt, a task, a machine or the phase.
const (
	// Started is the event of [Tracker.Start]. It uses the fields Task and Machine.
	Started EventKind = iota + 1
	// Submitted is the event of [Tracker.Submit]. It uses the fields Task and Machine.
	Submitted
	// Begun is the event of [Tracker.Begin]. It uses the fields Task, Attempt and Machine.
	Begun
	// Reported is the event of [Tracker.Report]. It uses the fields Task, Attempt and Report.
	Reported
	// Finished is the event of [Tracker.Finish], Failed of [Tracker.Fail], Killed of [Tracker.Kill], and Restarted of
	// [Tracker.Restart]. All four use the fields Task and Attempt.
	Finished
	Failed
	Killed
	Restarted
	// GivenUp is the event of [Tracker.GiveUp]. It uses the field Task.
	GivenUp
	// MachineLost is the event of [Tracker.LoseMachine]. It uses the field Machine.
	MachineLost
	// OutputLost is the event of [Tracker.LoseOutput]. It uses the field Task.
	OutputLost
	// MachineLeaves is the event of [Tracker.Leave]. It uses the fields Machine and Leaves.
	MachineLeaves
	// SlotsSet is the event of [Tracker.SetSlots]. It uses the field Slots. The event needs no Time.
	SlotsSet
	// EligibleSet is the event of [Tracker.SetEligible]. It uses the fields Task, NoCopy and NoRestart. The event
	// needs no Time.
	EligibleSet
	// Closed is the event of [Tracker.Close]. It uses no further field.
	Closed
	// Asked is the event of [Tracker.Decide]. It uses the field Task.
	Asked
	// Offered is the event of [Tracker.Next]. It uses the field Machine.
	Offered
	// Swept is the event of [Tracker.Sweep]. It uses no further field.
	Swept
	// Recorded is the event of [Tracker.Record]. It uses the fields Task, Attempt and Report. It is a report like
	// Reported, but the tracker makes no decision.
	Recorded
	// Merged is the event of [Tracker.Merge]. It uses the field Delta.
	Merged
	// Retried is the event of [Tracker.Retry]. It uses the field Task.
	Retried
	// Added is the event of [Tracker.Add]. It uses the field Work. The event needs no Time.
	Added
	// Forgotten is the event of [Tracker.Forget]. It uses the field Task. The event needs no Time.
	Forgotten
)

// EventKinds is the number of kinds. The values of the kinds are 1 to EventKinds.
const EventKinds = len(kinds) - 1

// kinds describes each kind for journals and logs: the word for the kind, the keys that must follow the word, and the
// keys that may follow. The journal line of an untimed kind may
// omit the time.
var kinds = [...]struct {
	word      string
	untimed   bool
	must, may []string
}{
	0:         {word: "none"},
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
	Merged:  {word: "merge", must: []string{"delta"}},
	Retried: {word: "retry", must: []string{"task"}},

	Added:     {word: "add", untimed: true, may: []string{"work"}},
	Forgotten: {word: "forget", untimed: true, must: []string{"task"}},
}

// Keys returns the keys that an event of the kind must have in a journal, and the keys that the event may have. Do
// not change the slices.
func (k EventKind) Keys() (must, may []string) {
	if int(k) >= len(kinds) {
		return nil, nil
	}
	return kinds[k].must, kinds[k].may
}

// Has reports whether an event of the kind may have the given key in a journal.
func (k EventKind) Has(key string) bool {
	must, may := k.Keys()
	return slices.Contains(must, key) || slices.Contains(may, key)
}

// words returns the words for all kinds, in the order of their values.
func words() []string {
	list := make([]string, len(kinds))
	for i := range kinds {
		list[i] = kinds[i].word
	}
	return list
}

// String returns the kind's name, as a journal contains it: one or two words.
func (k EventKind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].word
	}
	return enum.Name(nil, k)
}

// MarshalText returns the kind's name, or an error for a kind that does not exist.
func (k EventKind) MarshalText() ([]byte, error) { return enum.Text(words(), k) }

// UnmarshalText sets the kind to the kind that has the given name.
func (k *EventKind) UnmarshalText(text []byte) error { return enum.Parse(words(), text, k) }

// Timed reports whether events of the kind have a time. An event without a time takes effect at the time of the event
// before it.
func (k EventKind) Timed() bool { return int(k) >= len(kinds) || !kinds[k].untimed }

// Event is one call of a [Tracker] as plain data. The comment of each [EventKind] gives the fields that an event of
// this kind uses. Events can be compared, stored, and applied again by [Tracker.Apply]. The same events in the same
// order give the same answers.
type Event struct {
	Kind EventKind
	// Time is the time of the event on the host's clock.
	Time time.Time
	// Task is the index of a task, and Attempt is the number of an attempt of this task. Both begin at 0. Machine is
	// the host's number of a machine; a negative number means that the machine is not known.
	Task, Attempt, Machine int
	// Leaves is the time at which the machine will leave. The zero time means that the machine stays after all.
	Leaves time.Time
	// Report is the progress that the attempt reports.
	Report Report
	// Slots is how many attempts of the phase may run at the same time.
	Slots int
	// Work is the size of the input of a new task. A negative or NaN number means that the size is not known.
	Work float64
	// Delta contains observations of machines that another process has made, in base64.
	Delta string
	// NoCopy says that the task must not be copied. NoRestart says that the task must not be restarted.
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
	c.Float("work", &ev.Work)
	c.When(ev.Kind.Has("slots")).Int("slots", &ev.Slots)
	c.Bool("no-copy", &ev.NoCopy)
	c.Bool("no-restart", &ev.NoRestart)
}

// String returns the event as one line: its kind, and then its fields. A journal has a shorter form of this line.
func (ev Event) String() string { return wire.Line(ev.wire) }

// LogValue returns the event as a group of fields for log/slog.
func (ev Event) LogValue() slog.Value { return wire.Log(ev.wire) }

// MarshalJSON returns the event as an object of its fields: durations in seconds, null for unknown.
func (ev Event) MarshalJSON() ([]byte, error) { return wire.JSON(ev.wire) }

// UnmarshalJSON reads the JSON that MarshalJSON returns.
func (ev *Event) UnmarshalJSON(data []byte) error { return wire.Read(data, ev, (*Event).wire) }

// Report is the progress that an attempt reports. A field that is zero is unknown.
type Report struct {
	// Done is the work that the attempt has done. It has the unit of Config.Work: for example bytes. If Config.Work is
	// nil, Done is a share in [0, 1]. If the attempt has resumed from a checkpoint, Done includes the work of the
	// checkpoint.
	//
	// The tracker detects numbers in a wrong unit. It detects at once that a number is too large (Ledger.BadUnits). It
	// detects when attempts end that their numbers were too small (Ledger.SmallUnits). It then predicts the remaining
	// time from the ages of attempts.
	Done float64
	// Score is the attempt's progress score in [0, 1]. If Score is 0, the tracker uses Done divided by the task's
	// work. A host that knows only the score may report it alone. Then every estimate and every policy uses Score
	// times the task's work as Done.
	Score float64
	// Remaining is the host's own estimate of the attempt's remaining time, such as the result of
	// [estimate.TimeLeftBySubphase]. If it is 0 or estimate.Unknown, the tracker estimates the remaining time by
	// Config.Model. A report with any other negative value is ignored.
	//
	// [estimate.TimeLeftBySubphase]: https://pkg.go.dev/github.com/straggler-go/straggler/estimate#TimeLeftBySubphase
	Remaining time.Duration
	// Saved is how much of the task's work is stored in a checkpoint, in the unit of Done. 0 means that the checkpoint
	// has not changed since the last report.
	//
	// Attempts that begin after this report resume from the checkpoint. They have only the rest of the work to do, and
	// all estimates use this rest. If the Done of an attempt's first report is less than the checkpoint, the attempt
	// has not used the checkpoint, and has to do all the work itself. If the task has no work, Saved is ignored.
	Saved float64
}

// valid reports whether all numbers of a report are in range.
func (r *Report) valid() bool {
	return r.Done >= 0 && r.Score >= 0 && r.Saved >= 0 && num.Finite(r.Done) && num.Finite(r.Score) && num.Finite(r.Saved) &&
		(r.Remaining >= 0 || r.Remaining == estimate.Unknown)
}
