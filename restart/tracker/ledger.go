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

// Ledger counts what happened to the copies of a phase, and what it cost. It does not say what was saved: that would be
// the error of the estimates as much as the merit of the policy. Two runs say it, or a replay of a log under both
// policies.
type Ledger struct {
	// Started is how many copies were started or submitted in all, Finished how many tasks ended with success.
	Started, Finished int
	// Copies is how many of them were launched while the task had another, clones aside, and Restarts how many copies
	// were killed so that their task starts again.
	Copies, Restarts int
	// Clones is how many copies were launched beside another as one more of a task's first copies.
	Clones int
	// Won and Lost are how many of Copies ended their task, and how many ended because another one did. Pruned is how
	// many copies of any kind were killed, neither by a restart nor because another one won.
	Won, Lost, Pruned int
	// Failed counts copies that failed or were lost with their machine.
	Failed int
	// Late counts results of attempts that had been taken as ended. Each ended its task; its time stays in Wasted.
	Late int
	// Ignored counts what the tracker was told and could make no sense of. BadUnits counts reports of more work than the
	// task has, and BadAnswers what a policy of the host's own answered and could not be meant: it counts as Keep.
	Ignored, BadUnits, BadAnswers int
	// SmallUnits counts copies that ended with success and had reported some progress, but less than a twelfth of their
	// work when three quarters of their time had passed: its unit is smaller than that of the works, or it says nothing
	// of how far they are. Once three have, and most of those that reported, t_rem and t_new go by ages, as if nothing
	// were reported. Copies of less than three intervals don't count.
	SmallUnits int
	// ClockSteps is how often the host's clock stepped back, or was the zero time.Time.
	ClockSteps int
	// Used is the time that ended copies have run, in all: the slots' time, without that in an engine's queue. Wasted is
	// the part of it that did not end a task with success.
	Used, Wasted time.Duration
}

type counted struct {
	key string
	of  *int
}

// counts lists what is counted.
func (l *Ledger) counts() [15]counted {
	return [...]counted{
		{"started", &l.Started}, {"finished", &l.Finished}, {"copies", &l.Copies}, {"restarts", &l.Restarts},
		{"clones", &l.Clones}, {"won", &l.Won}, {"lost", &l.Lost}, {"pruned", &l.Pruned}, {"failed", &l.Failed},
		{"late", &l.Late}, {"ignored", &l.Ignored}, {"bad-units", &l.BadUnits}, {"small-units", &l.SmallUnits},
		{"bad-answers", &l.BadAnswers}, {"clock-steps", &l.ClockSteps},
	}
}

// Add adds the account of another phase.
func (l *Ledger) Add(other Ledger) {
	more := other.counts()
	for i, n := range l.counts() {
		*n.of += *more[i].of
	}
	l.Used = num.Add(l.Used, other.Used)
	l.Wasted = num.Add(l.Wasted, other.Wasted)
}

// wire lists the fields.
func (l *Ledger) wire(c *wire.Codec) {
	for _, n := range l.counts() {
		c.Int(n.key, n.of)
	}
	c.Duration("used", &l.Used)
	c.Duration("wasted", &l.Wasted)
}

// String returns the account as one line, without what is zero: "started=54 finished=40 restarts=14 used=3780s
// wasted=9s".
func (l Ledger) String() string { return wire.Line(l.wire) }

// LogValue returns the account as a group of fields, for log/slog, without what is zero.
func (l Ledger) LogValue() slog.Value { return wire.Log(l.wire) }

// MarshalJSON returns the account as an object of what is not zero, durations in seconds.
func (l Ledger) MarshalJSON() ([]byte, error) { return wire.JSON(l.wire) }

// reasons is how many reasons there are.
const reasons = restart.BeatenMachine + 1

// counts is how often each answer was given, by action and reason: only those that ever were, in this order.
type counts []count

type count struct {
	action restart.Action
	reason restart.Reason
	n      int
}

func (c *counts) add(d *restart.Decision) {
	for i := range *c {
		if one := &(*c)[i]; one.action == d.Action && one.reason == d.Reason {
			one.n++
			return
		}
	}
	if d.Action <= restart.Start && d.Reason < reasons {
		*c = append(*c, count{d.Action, d.Reason, 1})
		slices.SortFunc(*c, func(a, b count) int {
			return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.reason, b.reason))
		})
	}
}
