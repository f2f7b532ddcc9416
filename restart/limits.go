package restart

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
)

// Limits bound the restarts, the copies and the losses of a phase, whatever attempts report and whatever a policy answers.
// They stand in [Phase].Limits. LeastCost keeps them by itself. For any other policy [Hold] keeps them, and so do package
// tracker and [Next], which call it. The zero value protects.
//
// Every task ends. A task is restarted at most Restarts times, and is given at most Copies copies. Of several attempts
// the oldest is never killed, nor is the attempt that has done most. So the oldest attempt runs until it ends, unless it is the
// only attempt and is restarted. Therefore a task ends within Restarts+1 times the time of its longest attempt, and the
// delays until a restarted task gets a slot again. If all of its attempts take the same time, the task ends within Restarts+1
// times the time of its first attempt.
//
// Three cases are the host's to bound. An attempt may hang for ever: give each attempt a hard timeout. An attempt may fail, or
// be lost with its machine: bound the number of tries. A task with NoCopy gets no copy, and a task with NoRestart is not
// restarted, so that it waits for its only attempt.
//
// No trial begins that might let all trials lose more slot time than a bound. The page of [Trials] states the bound;
// FreeTrials and LossShare are its numbers.
type Limits struct {
	// Restarts is how often a task may be restarted; γ of the paper. 0 means 3; Off: never.
	Restarts int
	// Copies is how many copies a task may be given in all. 0 means 8; Off: none.
	Copies int
	// FreeTrials is how many trials may be lost before the first trial was won. 0 means 3; Off: none.
	FreeTrials int
	// LossShare is the share of the phase's slot time that trials may lose, in (0, 1]. 0 means 0.03; Off: trials may lose any
	// amount.
	LossShare float64
}

// The defaults of the limits are choices.
const (
	usualRestarts  = 3    // restarts of a task
	usualCopies    = 8    // copies of a task
	usualFree      = 3    // trials that may be lost before the first was won
	usualLossShare = 0.03 // share of the phase's slot time that trials may lose
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

// Hold returns the decision of a policy if the limits of the phase allow it. Otherwise Hold returns a decision to keep the
// task, with the limit as its reason and comparison. For the bound on losses the comparison is [LostSlotSeconds].
// O(len(t.Attempts)), and one quantile of t.Fresh; no allocation.
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

// far returns how much of the task's work the attempt has behind it: work that it found done when it began, and its own work.
func (c *Attempt) far() float64 { return c.Resumed + c.Done }

// spared reports whether attempt i is the oldest attempt of its task, or has most work behind it. If several attempts have the
// largest age, the attempt with most work behind it is the oldest; if they are equal in that, too, the first is.
func spared(attempts []Attempt, i int) bool {
	oldest, furthest := 0, 0
	for j := range attempts {
		a, b := &attempts[j], &attempts[oldest]
		if a.Elapsed > b.Elapsed || a.Elapsed == b.Elapsed && a.far() > b.far() {
			oldest = j
		}
		if a.far() > attempts[furthest].far() {
			furthest = j
		}
	}
	return i == oldest || i == furthest
}

// kept reports whether attempt i must not be killed: it is spared, and no older attempt has as much work behind it.
func kept(attempts []Attempt, i int) bool {
	if !spared(attempts, i) {
		return false
	}
	for j := range attempts {
		if attempts[j].Elapsed > attempts[i].Elapsed && attempts[j].far() >= attempts[i].far() {
			return false
		}
	}
	return true
}
