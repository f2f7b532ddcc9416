package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// LeastCost is the default policy. For each task it compares the expected costs of the possible actions, and takes
// the cheapest action.
//
// An example. A task has run for 100 s and reports a tenth of its work. So it still needs 900 s. Other tasks took 100
// s, tasks wait for slots, and no trial has ended yet.
//
//   - To keep the task costs 900 s of a slot, and half a second more for each second until the task ends: 1,350 s.
//   - A copy costs less. With probability 1/4 the task is long by itself, and the copy is in vain. Otherwise the copy
//     finishes the task after 100 s, in two slots. The expected cost is about 525 s.
//
// So LeastCost makes a copy. The copy does 1 % of its work each second, and will probably end first. As soon as it has
// done more than the old attempt, LeastCost kills the old attempt.
//
// The comment of the package has the rules in five sentences. In detail:
//
//   - The probability that a task is long is [Trials.Long]. If it is long, a new attempt takes as long as the old attempt
//     would take on the new attempt's machine. If not, a new attempt takes t_new ([Task].Fresh).
//   - A second until the task ends costs Price while tasks wait, and IdlePrice while no task waits. The cheapest action is
//     taken if it saves two report periods at least, and the new attempt will probably end sooner. If attempts are silent,
//     it is enough that the old attempt will not probably end sooner.
//   - While a slot is idle and no task waits, no task needs the slot of the slower of two attempts. Then the old attempt is
//     killed only after an attempt of the phase has ended, and a silent copy only if it has run for as long as the old
//     attempt had run when the copy began.
//   - While tasks wait, a copy takes a slot from a task. So a phase whose attempts are silent has one open trial at a
//     time after it has lost more trials than it has won.
//   - A task that may have no copy ([Task].NoCopy) needs no won trial: its first trial is a restart. The restart waits until
//     the attempt has run for a typical time, or for as long as a copy may run if that is longer. While a task can get a
//     copy on an idle slot, and no task waits, it is not restarted.
//   - On a bad machine ([Attempt].Location), an attempt is killed without a won trial and without the bound.
//
// Every field is a choice of the operator; 0 means the default. A LeastCost does not change in use, and is safe for
// concurrent use. Sources: t_rem and t_new [Mantri §5.1]. The model of luck and size, the criterion and the bound are
// this library's own. The page docs/worlds.md shows their effect.
type LeastCost struct {
	// Price is the value of ending a task one second sooner while tasks wait, in seconds of a slot. 0 means 0.5.
	Price float64 `want:"factor"`
	// IdlePrice is the value of ending a task one second sooner while no task waits, in seconds of a slot. 0 means 3:
	// a copy may use three seconds of idle slots for each second that it saves.
	IdlePrice float64 `want:"factor"`
}

// The numbers of the default policy are this library's choices. The page docs/decisions/19-least-cost.md shows the
// effect of other numbers.
const (
	// marginPeriods is the cost that an action must save at least, in report periods. So long, too, a task waits after a
	// copy was started or killed.
	marginPeriods = 2
	// An event is called likely if it has at least this probability. A new attempt must be likely to end sooner than the
	// old attempt; where attempts are silent, the old attempt must not be likely to end sooner.
	likely = 0.6
	// A task gets no further copy while more attempts of it run than this number, and more than its clones.
	keptAttempts = 2
)

// If a price is halved or doubled, the time of the phases changes by a few tenths of a percent.
const (
	usualPrice     = 0.5
	usualIdlePrice = 3
)

// Effective returns the policy with each zero field replaced by its default, for logs.
func (c LeastCost) Effective() LeastCost {
	c.Price, c.IdlePrice = check.Or(c.Price, usualPrice), check.Or(c.IdlePrice, usualIdlePrice)
	return c
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (c LeastCost) Validate() error { return check.Valid(c) }

// Decide says what to do about a running task. The cost is O(len(t.Attempts)), and about thirty quantiles of t.Fresh
// and of each Attempt.Left. Decide allocates nothing.
func (c LeastCost) Decide(t Task, p Phase) Decision { return c.decide(&t, &p) }

// decide is Decide for facts that the caller has copied: it sets the defaults in p.Limits.
func (c LeastCost) decide(t *Task, p *Phase) (d Decision) {
	d.Reason = NotRunning
	if len(t.Attempts) == 0 {
		return d
	}
	c, p.Limits = c.Effective(), p.Limits.Effective()
	d.Won, d.Tried = p.Trials.Counts()
	var w weights
	w.stakes = stakesOf(t, p)
	if d.estimates(w.fastest, w.expected) {
		w.fill(&c, t, p)
		w.choose(&d, t, p)
	}
	if w.stuck && d.Action != Kill {
		w.unblock(&d, t, p)
	}
	if d.Action == Copy || d.Action == Restart {
		d.Gain = max(0, num.Sub(d.Remaining, d.Fresh))
		d.Avoid = avoid(t, p)
	}
	return d
}

// estimates sets the remaining time (t_rem) of the fastest attempt and the expected time of a new attempt, E(t_new),
// in a decision. It reports whether both are known. The attempt is nil if no t_rem is known.
func (d *Decision) estimates(fastest *Attempt, fresh time.Duration) bool {
	d.Reason, d.Remaining, d.Fresh = NoEstimate, estimate.Unknown, fresh
	if fastest != nil {
		d.Remaining, d.Basis = max(0, fastest.Remaining), fastest.Basis
	}
	return fastest != nil && d.Fresh != estimate.Unknown
}

// unblock restarts a task of a stuck phase, if the task can't get a copy, and a new attempt may end sooner. A copy that
// would have to wait for a slot can't start there either.
func (w *weights) unblock(d *Decision, t *Task, p *Phase) {
	if p.FreeSlots > 0 && !t.NoCopy && p.Limits.Copies != Off {
		return
	}
	if f := w.fastest; f != nil && (f.Left == nil || f.Basis.progress() && d.Remaining <= d.Fresh) {
		return
	}
	slowest := -1
	for i := range t.Attempts {
		if (len(t.Attempts) == 1 || !w.spares(i)) && (slowest < 0 || slower(t.Attempts, i, slowest)) {
			slowest = i
		}
	}
	if no, _ := w.forbids(Restart, t, p); no == NoReason && slowest >= 0 {
		d.Action, d.Reason, d.Attempt, d.Comparison = Restart, Held, slowest, Comparison{}
	}
}

// candidate is an action that can be taken, with its cost in seconds of slots. The zero value is no candidate. Field why
// is the reason of a kill.
type candidate struct {
	Action
	attempt int
	cost    float64
	why     Reason
}

// choose takes the cheapest candidate that is allowed, and that costs less than to keep the task, by two report periods
// at least. If every such candidate is refused, the reason is the refusal of the cheapest.
func (w *weights) choose(d *Decision, t *Task, p *Phase) {
	keep, least := w.fillList(t, p)
	bar := keep - marginPeriods*w.interval
	d.because(NotSlow, SlotSeconds, keep, least+marginPeriods*w.interval)
	for first := true; ; first = false {
		best := w.cheapest(bar)
		if best == nil {
			return
		}
		no, compared := w.refuses(best, t, p)
		if no == NoReason {
			w.take(d, best, p, keep)
			return
		}
		if first {
			d.Reason, d.Comparison = no, compared
		}
		best.Action = Keep
	}
}

// cheapest returns the candidate of least cost, if the cost is below bar; otherwise nil.
func (w *weights) cheapest(bar float64) (best *candidate) {
	for i := range w.list {
		if c := &w.list[i]; c.Action != Keep && c.cost < bar {
			best, bar = c, c.cost
		}
	}
	return best
}

// take sets the decision to the action of a candidate. Keep is the cost of keeping the task.
func (w *weights) take(d *Decision, c *candidate, p *Phase, keep float64) {
	d.Action, d.Attempt = c.Action, c.attempt
	switch {
	case c.Action == Kill:
		d.because(c.why, SavedSlotSeconds, keep-c.cost, marginPeriods*w.interval)
	case c.Action == Restart && !w.guess && w.fastest.Left != nil:
		d.because(BadMachine, SlowFactor, 1/w.moved, badPlace)
	case c.Action == Restart:
		d.because(FreshSooner, SlotSeconds, keep, c.cost)
	case p.Waiting > 0:
		d.because(SavesResources, SlotSeconds, keep, c.cost)
	default:
		d.because(IdleSlot, SlotSeconds, keep, c.cost)
	}
}

// forbids returns the reason why the task must not get a copy or be restarted now, whatever it would save, or NoReason.
func (w *weights) forbids(a Action, t *Task, p *Phase) (Reason, Comparison) {
	no, compared := p.Limits.forbid(a, t)
	if most := max(keptAttempts, t.Clones) + 1; a == Copy && no == NoReason && len(t.Attempts) >= most {
		no, compared = EnoughAttempts, spent(RunningAttempts, len(t.Attempts), most)
	}
	if no == NoReason {
		no, compared = w.tooSoon(t, p)
	}
	if a == Copy && no == NoReason && p.FreeSlots <= 0 && p.Waiting <= 0 {
		no = NoFreeSlot
	}
	return no, compared
}

// tooSoon returns the reason why the attempts of the task can't be judged yet, or NoReason.
func (w *weights) tooSoon(t *Task, p *Phase) (Reason, Comparison) {
	if w.oldest.Elapsed < p.Interval {
		return TooYoung, Compare(RunSeconds, w.oldest.Elapsed.Seconds(), p.Interval.Seconds())
	}
	return t.settling(num.Times(max(p.Interval, 0), marginPeriods))
}

// refuses returns the reason against a candidate, or NoReason: what forbids the action, else the doubts about it.
func (w *weights) refuses(c *candidate, t *Task, p *Phase) (Reason, Comparison) {
	if c.Action == Kill {
		if w.mayKill(c.attempt, t, p.Limits.Restarts) {
			return NoReason, Comparison{}
		}
		return FurthestOn, Comparison{}
	}
	if no, compared := w.forbids(c.Action, t, p); no != NoReason || w.fastest.Left == nil {
		return no, compared // if t_rem is certain, there is no doubt
	}
	if bar := w.likely(c.Action, p); w.sooner < bar {
		return Unlikely, Compare(Probability, w.sooner, bar)
	}
	if won, most := p.Trials.Won, w.mustWin(c.Action, t, p); w.guess && won < most {
		return Unproven, Compare(WonTrials, won, most)
	}
	if loses, most := w.mayLose(&p.Limits, p, c.Action); loses >= most {
		return LossBound, Compare(LostSlotSeconds, loses, max(0, most))
	}
	return NoReason, Comparison{}
}

// likely returns the lowest probability of ending sooner at which a new attempt is started. If attempts are silent, a
// copy on an idle slot that no task waits for needs no chance: it costs no task anything.
func (w *weights) likely(a Action, p *Phase) float64 {
	switch {
	case w.silent && a == Copy && p.Waiting <= 0:
		return 0
	case w.silent:
		return 1 - likely
	}
	return likely
}

// mustWin returns how many trials must have been won before a trial of this kind may begin.
func (w *weights) mustWin(a Action, t *Task, p *Phase) float64 {
	switch {
	case a == Restart && t.NoCopy && w.oldest.Elapsed >= max(w.typical, w.patience):
		return 0 // its first trial is a restart
	case a == Restart:
		return max(provenTrials, provenRatio*p.Trials.Lost)
	case w.silent && p.Waiting > 0 && p.Trials.AtRisk > 0:
		return p.Trials.Lost
	}
	return 0
}
