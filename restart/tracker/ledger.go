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

// Ledger counts what became of the attempts of a phase, and sums their slot time. The slot time of an attempt is the
// time for which it ran. The Ledger does not say how much time was saved, because such a number would rest on
// estimates. To measure the saving, run the work twice, or replay a log with both policies.
type Ledger struct {
	// Started is the number of attempts that were started or submitted. Finished is the number of tasks that ended
	// with success.
	Started, Finished int
	// Copies is the number of attempts that were launched while another attempt of the task ran, except clones.
	// Restarts is the number of attempts that were killed in order to run their task again.
	Copies, Restarts int
	// Clones is the number of clones that were launched beside another attempt of their task. Clones are attempts that
	// are started from the beginning, before anything is slow.
	Clones int
	// Won is the number of copies that ended their task. Lost is the number of copies that ended because another
	// attempt ended their task. Pruned is the number of all other killed attempts: they were killed neither for a
	// restart, nor because their task had ended.
	Won, Lost, Pruned int
	// Failed is the number of attempts that failed or were lost with their machine.
	Failed int
	// Late is the number of successes that came after the tracker was told that the attempt had ended. Such a success
	// ends its task all the same. The run time of the attempt stays in Wasted.
	Late int
	// Ignored is the number of events that made no sense, and so had no effect. BadUnits is the number of reports with
	// more work than the task has. BadAnswers is the number of impossible answers of a policy that the host has
	// written; the tracker keeps the task instead.
	Ignored, BadUnits, BadAnswers int
	// SmallUnits is the number of attempts whose progress was far too small. Such an attempt ended with success, and
	// had run for three quarters of its time at its last report. But this report was less than a twelfth of its work.
	// Either Report.Done has a smaller unit than Config.Work, or Done does not show progress.
	//
	// After three such attempts, if they are the majority of the attempts that reported, the tracker believes no
	// progress any more. It then predicts all times from the ages of attempts. An attempt is ignored here if its age
	// at its last report was less than three intervals.
	SmallUnits int
	// ClockSteps is the number of times at which the host's clock stepped back, or an event had the zero time.Time.
	ClockSteps int
	// Used is the total run time of all attempts that have ended. It does not include time in an engine's queue.
	// Wasted is the part of Used in which attempts ran that did not end their task with success.
	Used, Wasted time.Duration
}

// counted is a counter of a Ledger, with the key under which texts, JSON and logs contain it.
type counted struct {
	key string
	of  *int
}

// counts returns the counters of the ledger, each with its key.
func (l *Ledger) counts() [15]counted {
	return [...]counted{
		{"started", &l.Started}, {"finished", &l.Finished}, {"copies", &l.Copies}, {"restarts", &l.Restarts},
		{"clones", &l.Clones}, {"won", &l.Won}, {"lost", &l.Lost}, {"pruned", &l.Pruned}, {"failed", &l.Failed},
		{"late", &l.Late}, {"ignored", &l.Ignored}, {"bad-units", &l.BadUnits}, {"small-units", &l.SmallUnits},
		{"bad-answers", &l.BadAnswers}, {"clock-steps", &l.ClockSteps},
	}
}

// Add adds the numbers of another phase's ledger.
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

// String returns the ledger as one line, without the fields that are zero. For example: "started=54 finished=40
// restarts=14 used=3780s wasted=9s".
func (l Ledger) String() string { return wire.Line(l.wire) }

// LogValue returns the ledger as a group of fields for log/slog, without fields that are zero.
func (l Ledger) LogValue() slog.Value { return wire.Log(l.wire) }

// MarshalJSON returns an object of the fields that are not zero, durations in seconds.
func (l Ledger) MarshalJSON() ([]byte, error) { return wire.JSON(l.wire) }

// UnmarshalJSON reads the JSON that MarshalJSON returns.
func (l *Ledger) UnmarshalJSON(data []byte) error { return wire.Read(data, l, (*Ledger).wire) }

// reasons is the number of reasons, as a reason.
const reasons = restart.Reason(restart.Reasons)

// counts contains how often each action was answered for each reason. It contains no zeros, and is in the order of
// the actions, then of the reasons.
type counts []count

// count is the number of answers with the same action and the same reason.
type count struct {
	action restart.Action
	reason restart.Reason
	n      int
}

// add counts a decision.
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
