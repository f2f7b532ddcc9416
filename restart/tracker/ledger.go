package tracker

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Ledger counts the attempts of a phase by their fate, and their slot time. It does not say how much time was saved,
// because such a number would rest on estimates. To measure the savings, run the work twice, or replay a log under
// both policies.
type Ledger struct {
	// Started counts the attempts that were started or submitted. Finished counts the tasks that ended with success.
	Started, Finished int
	// Copies counts the attempts that were launched while another attempt of the task ran, without clones. Restarts
	// counts the attempts that were killed so that their task starts again.
	Copies, Restarts int
	// Clones counts the clones that were launched beside another attempt.
	Clones int
	// Won counts the copies that ended their task. Lost counts the copies that ended because another attempt did.
	// Pruned counts the attempts of any kind that were killed for another reason than a restart or the end of their
	// task.
	Won, Lost, Pruned int
	// Failed counts the attempts that failed or were lost with their machine.
	Failed int
	// Late counts the successes of attempts that already counted as ended. Each such success ended its task; its time
	// stays in Wasted.
	Late int
	// Ignored counts the events that made no sense. BadUnits counts the reports of more work than the task has.
	// BadAnswers counts the impossible answers of a policy of the host's own; each counts as Keep.
	Ignored, BadUnits, BadAnswers int
	// SmallUnits counts the attempts that ended with success, and reported some progress, but less than a twelfth of
	// their work when three quarters of their time had passed. Either Done has a smaller unit than Config.Work, or it
	// does not show progress. After three such attempts, if they are the majority of the attempts that reported, t_rem
	// and t_new go by ages, as if no attempt reported. Attempts of less than three intervals do not count.
	SmallUnits int
	// ClockSteps counts the times at which the host's clock stepped back, or was the zero time.Time.
	ClockSteps int
	// Used is the run time of all ended attempts: the slot time, without time in an engine's queue. Wasted is the part
	// of Used that did not end a task with success.
	Used, Wasted time.Duration
}

type counted struct {
	key string
	of  *int
}

// counts lists the counters with their keys.
func (l *Ledger) counts() [15]counted {
	return [...]counted{
		{"started", &l.Started}, {"finished", &l.Finished}, {"copies", &l.Copies}, {"restarts", &l.Restarts},
		{"clones", &l.Clones}, {"won", &l.Won}, {"lost", &l.Lost}, {"pruned", &l.Pruned}, {"failed", &l.Failed},
		{"late", &l.Late}, {"ignored", &l.Ignored}, {"bad-units", &l.BadUnits}, {"small-units", &l.SmallUnits},
		{"bad-answers", &l.BadAnswers}, {"clock-steps", &l.ClockSteps},
	}
}

// Add adds the ledger of another phase.
func (l *Ledger) Add(other Ledger) {
	more := other.counts()
	for i, n := range l.counts() {
		*n.of += *more[i].of
	}
	l.Used = num.Add(l.Used, other.Used)
	l.Wasted = num.Add(l.Wasted, other.Wasted)
}

// wire lists the fields for text, JSON and logs.
func (l *Ledger) wire(c *wire.Codec) {
	for _, n := range l.counts() {
		c.Int(n.key, n.of)
	}
	c.Duration("used", &l.Used)
	c.Duration("wasted", &l.Wasted)
}

// String returns the ledger as one line, without fields that are zero: "started=54 finished=40 restarts=14 used=3780s
// wasted=9s".
func (l Ledger) String() string { return wire.Line(l.wire) }

// LogValue returns the ledger as a group of fields for log/slog, without fields that are zero.
func (l Ledger) LogValue() slog.Value { return wire.Log(l.wire) }

// MarshalJSON returns an object of the fields that are not zero, durations in seconds.
func (l Ledger) MarshalJSON() ([]byte, error) { return wire.JSON(l.wire) }

// UnmarshalJSON reads the JSON of MarshalJSON.
func (l *Ledger) UnmarshalJSON(data []byte) error { return wire.Read(data, l, (*Ledger).wire) }

// reasons is the number of reasons.
const reasons = restart.BeatenMachine + 1

// counts holds how often each action was answered for each reason, in the order of their values, without zeros.
type counts []count

type count struct {
	action restart.Action
	reason restart.Reason
	n      int
}

func (cs *counts) add(d *restart.Decision) {
	for i := range *cs {
		if one := &(*cs)[i]; one.action == d.Action && one.reason == d.Reason {
			one.n++
			return
		}
	}
	if d.Action <= restart.Start && d.Reason < reasons {
		*cs = append(*cs, count{d.Action, d.Reason, 1})
		slices.SortFunc(*cs, func(a, b count) int {
			return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.reason, b.reason))
		})
	}
}
