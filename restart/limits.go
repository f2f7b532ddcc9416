package restart

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
)

// Limits bound what may be done about the tasks of a phase, whatever is reported and whatever a policy answers. They stand
// in [Phase].Limits. LeastCost keeps them by itself. [Hold] holds the answer of any policy against them, and so do package
// tracker and [Next]. The zero value protects.
//
// Every task ends. A task is restarted at most Restarts times, at most Duplicates copies are launched beside another,
// and of several copies neither the one that has run longest is killed nor the one that has done most. So there is
// always a copy, the oldest, that only a restart ends while it is the only one: a task that is given a slot when it
// waits for one has ended after at most Restarts+1 times what the longest of its attempts takes by itself, and the
// delays until a restarted task runs again. Where all of its attempts take the same, that is Restarts+1 times what its
// first one would have taken. That says nothing of attempts that hang for ever: give each a hard timeout of your own.
// Attempts that fail, or are lost with their machine, are the host's to bound as well. A task of NoCopy gets no
// copy, and one of NoRestart no restart.
//
// No trial begins that might let all trials lose more than a bound. [Trials] states it, and FreeTrials and LossShare are its
// numbers.
type Limits struct {
	// Restarts is γ, how often a task may be killed to start again. 0 means 3; Off: never.
	Restarts int
	// Copies is how many copies of a task may be launched while another runs, in all. 0 means 8; Off: none.
	Copies int
	// FreeTrials is how many trials may be lost before one was won. 0 means 3; Off: none.
	FreeTrials int
	// LossShare is which share of the phase's slot time trials may lose, as a probability. 0 means 0.03; Off: trials may lose
	// any amount.
	LossShare float64
}

// The defaults of the limits are choices.
const (
	usualRestarts  = 3    // of a task
	usualCopies    = 8    // of a task
	usualFree      = 3    // trials that may be lost before one was won
	usualLossShare = 0.03 // of the phase's slot time that trials may lose
)

// Validate reports the first field that is out of range, with its value and its range.
func (l Limits) Validate() error {
	const place = "restart: Limits"
	return cmp.Or(
		check.Count(place, "Restarts", l.Restarts, true),
		check.Count(place, "Copies", l.Copies, true),
		check.Count(place, "FreeTrials", l.FreeTrials, true),
		check.Share(place, "LossShare", l.LossShare, true),
	)
}

// Effective returns the limits with their defaults filled in.
func (l Limits) Effective() Limits {
	return Limits{
		check.Or(l.Restarts, usualRestarts), check.Or(l.Copies, usualCopies),
		check.Or(l.FreeTrials, usualFree), check.Or(l.LossShare, usualLossShare),
	}
}

// Hold returns the decision of a policy, or one to keep the task where a limit of the phase forbids it, with the limit.
// Where that is what trials may lose, the numbers are what this one might lose, and what trials may still lose, in seconds
// of slots. O(len(t.Attempts)), and one look at t.Fresh; no allocation.
func Hold(d Decision, t Task, p Phase) Decision {
	l := p.Limits.Effective()
	reason, compared := NoReason, Comparison{}
	switch d.Action {
	case Restart:
		if t.NoRestart {
			reason = NotRestartable
		} else if max(t.Restarts, 0) >= l.Restarts {
			reason, compared = RestartsSpent, spent(PastRestarts, t.Restarts, l.Restarts)
		} else if len(t.Attempts) > 1 && spared(t.Attempts, d.Attempt) {
			reason = FurthestOn
		}
	case Kill:
		if len(t.Attempts) < 2 || kept(t.Attempts, d.Attempt) && !replaced(&t, d.Attempt, l.Restarts) {
			reason = FurthestOn
		}
	case Copy:
		if t.NoCopy {
			reason = NotEligible
		} else if max(t.Copies, 0) >= l.Copies {
			reason, compared = CopiesSpent, spent(PastCopies, t.Copies, l.Copies)
		}
	default:
		return d
	}
	if reason == NoReason && d.Action != Kill && len(t.Attempts) > 0 {
		s := stakesOf(&t, &p)
		if loses, most := s.mayLose(&l, &t, &p, d.Action); loses >= most {
			reason, compared = LossBound, Compare(LostSlotSeconds, loses, max(0, most))
		}
	}
	if reason == NoReason {
		return d
	}
	d.Action, d.Reason, d.Comparison, d.Attempt, d.Gain, d.Avoid = Keep, reason, compared, 0, 0, MachineSet{}
	return d
}

// far is how much of the task is done where the copy is.
func (c *Attempt) far() float64 { return c.Resumed + c.Done }

// spared reports whether a copy has run longest of all, or has done most. Of those that are as old it is the one that
// has done more, and otherwise the first.
func spared(copies []Attempt, i int) bool {
	oldest, furthest := 0, 0
	for j := range copies {
		a, b := &copies[j], &copies[oldest]
		if a.Elapsed > b.Elapsed || a.Elapsed == b.Elapsed && a.far() > b.far() {
			oldest = j
		}
		if a.far() > copies[furthest].far() {
			furthest = j
		}
	}
	return i == oldest || i == furthest
}

// kept reports whether a copy of several must not be killed: it is spared, and another has not done as much in more
// time.
func kept(copies []Attempt, i int) bool {
	if !spared(copies, i) {
		return false
	}
	for j := range copies {
		if copies[j].Elapsed > copies[i].Elapsed && copies[j].far() >= copies[i].far() {
			return false
		}
	}
	return true
}
