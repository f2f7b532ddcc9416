package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Mantri is the resource-aware restart of [Mantri §5.1, Pseudocode 1]. Its zero value has the paper's parameters. It is
// immutable in use and safe for concurrent use.
//
// While tasks wait for a slot, or no slot is free, it kills and restarts a task if t_rem > E(t_new) + Δ, and otherwise
// makes one more copy only if that probably uses less in all, P(t_rem > t_new (c+1)/c) > δ. When slots are idle it
// makes a copy if E(t_rem - t_new) > ρΔ. It kills a copy that is slower than the α fastest, once it has run for Δ. A task
// that may not have a copy is restarted by the same bar whether slots are idle or not.
//
// Where t_rem is uncertain, which [Attempt.Left] says, all of it is asked of both distributions, and a mean is not enough.
// A restart needs P(t_rem > E(t_new) + Δ) >= Confidence, with P(t_rem > t_new) > 1/2, which the paper's footnote 4
// takes for granted. Since a few that take very long, or hang, stretch E(t_new), P(t_rem > t + Δ) >= (1 + Confidence)/2
// with the median t of t_new, and P(t_rem > t_new + Δ) > 1/2, are enough as well. A copy while slots are scarce must
// also be expected to use less, c E(t_rem) > (c+1) E(min(t_rem, t_new)). One on an idle slot costs no time if it ends
// later, so it needs E(max(0, t_rem - t_new)) > ρΔ, and a chance: P(t_rem > E(t_new) + ρΔ) > δ.
//
// Where the paper is silent or misprinted: line 10 prints E(t_new - t_rem), which would duplicate the tasks that are
// about to end; α is 2, as footnote 5 says in words; a copy is "recent" for CopyPause; a copy is judged once it has run
// for Δ, the time of its first report, or for CopyPause if nothing is known of it by then; of a task's several copies
// the slowest is the one restarted; a restart wants an even chance, which footnote 4 takes for granted; clones that
// were launched up front are kept, all of them; a task gets at most MaxCopies copies in all; of several copies
// neither the one that has run longest is killed nor the one that has done most, see [Limits], and none as slower than
// others of which only the age is known; and a phase whose tasks have all begun but that has no idle slot is treated as
// if tasks waited, since a copy would have to wait too.
type Mantri struct {
	// MaxRestarts is γ, how often a task may be killed and restarted. 0 means 3; Off: never.
	MaxRestarts int
	// CopyThreshold is δ, the probability of saving resources that a copy needs while slots are scarce, in (0, 1).
	// 0 means 0.25; Off: no such copies.
	CopyThreshold float64
	// IdleGain is ρ: how many Δ a copy must be expected to save while slots are idle. 0 means 3; Off: no such copies.
	IdleGain float64
	// FastestKept is α, how many of a task's fastest copies are never killed. 0 means 2. With the copy launched last, a
	// task has at most FastestKept + 1.
	FastestKept int
	// CopyPause is how many Δ must pass after a launch before the task may get one more copy, or lose one to a restart.
	// 0 means 2: a new copy reports after one Δ, and is compared at the next.
	CopyPause float64
	// RaisedBar is how many Δ each earlier restart of a task adds to the bar of the next. 0, the default, is the paper's
	// constant bar. It keeps a task that is truly long from being killed γ times.
	RaisedBar float64
	// Confidence is how probable it must be that an uncertain t_rem exceeds the bar of a restart, in (0, 1). 0 means 0.75,
	// which is 1-δ: the paper restarts "only when the probability of success is high".
	Confidence float64
	// MaxCopies is how many copies of a task may be launched while another runs, in all. 0 means 8; Off: none.
	MaxCopies int
}

// Effective returns the policy with its defaults filled in, for logs.
func (m Mantri) Effective() Mantri {
	m.fill()
	return m
}

// fill fills the defaults in, in place: a copy of the policy takes as long as a tenth of a decision.
func (m *Mantri) fill() {
	limits := Limits{Restarts: m.MaxRestarts, Copies: m.MaxCopies}.Effective()
	m.MaxRestarts, m.MaxCopies = limits.Restarts, limits.Copies
	m.Confidence = check.Or(m.Confidence, 0.75)
	if m.FastestKept <= 0 { // a negative one is an error, but must not kill a task's last copy
		m.FastestKept = 2
	}
	m.CopyThreshold = check.Or(m.CopyThreshold, 0.25)
	m.IdleGain = check.Or(m.IdleGain, 3)
	m.CopyPause = check.Or(m.CopyPause, 2)
}

// Validate reports the first field that is out of range, with its value and its range.
func (m Mantri) Validate() error { return m.validate("restart: Mantri") }

func (m *Mantri) validate(place string) error {
	switch {
	case m.MaxRestarts < 0 && m.MaxRestarts != Off:
		return check.Bad(place, "MaxRestarts", m.MaxRestarts, "a positive number, 0 for the default, or Off")
	case !(m.CopyThreshold >= 0 && m.CopyThreshold < 1) && m.CopyThreshold != Off:
		return check.Bad(place, "CopyThreshold", m.CopyThreshold,
			"a probability in (0, 1), 0 for the default, or Off")
	case m.MaxCopies < 0 && m.MaxCopies != Off:
		return check.Bad(place, "MaxCopies", m.MaxCopies, "a positive number, 0 for the default, or Off")
	case !(m.Confidence >= 0 && m.Confidence < 1):
		return check.Bad(place, "Confidence", m.Confidence, "a probability in (0, 1), or 0 for the default")
	case m.FastestKept < 0:
		return check.Bad(place, "FastestKept", m.FastestKept, "a positive number, or 0 for the default")
	}
	if m.IdleGain != Off {
		if err := check.Factor(place, "IdleGain", m.IdleGain); err != nil {
			return err
		}
	}
	if err := check.Factor(place, "CopyPause", m.CopyPause); err != nil {
		return err
	}
	return check.Factor(place, "RaisedBar", m.RaisedBar)
}

// Decide says what to do about a running task. O(len(t.Attempts)), one mean and at most one probability of t.Fresh, and
// some fifty looks at it and at Attempt.Left where t_rem is uncertain; no allocation. With all else equal, a longer t_new
// never turns Keep into Restart, and a longer t_rem never turns Restart into Keep.
func (m Mantri) Decide(t Task, p Phase) (d Decision) {
	m.fill()
	d.Reason = NotRunning
	if len(t.Attempts) == 0 {
		return d
	}
	v := m.look(t.Attempts, p.Interval)
	keep := max(m.FastestKept, t.Clones)
	if v.prunes(&d, t.Attempts, keep) || !v.estimates(&d, &t, &p) {
		return d
	}
	if p.Waiting <= 0 && p.FreeSlots > 0 && !t.NoCopy && m.MaxCopies != Off {
		m.idle(&d, &t, v)
	} else {
		m.scarce(&d, &t, v)
	}
	if d.Action != Keep {
		d.Gain = max(0, num.Sub(d.Remaining, d.Fresh))
		d.Avoid = Avoid(t, p)
	}
	return d
}

// idle is the rule for idle slots, line 10: a slot costs nothing, so a copy has to save time only.
func (m *Mantri) idle(d *Decision, t *Task, v view) {
	if m.IdleGain == Off {
		d.Reason = Disabled
		return
	}
	d.Bar = num.Add(d.Fresh, num.Times(v.interval, m.IdleGain))
	if !m.savesTime(d, t, v) {
		d.Reason = NotSlow
		return
	}
	if no := m.mayCopy(t, v); no != NoReason {
		m.refuse(d, no, t, v)
		return
	}
	d.Action, d.Reason = Copy, IdleSlot
}

// scarce is the rule while tasks wait, lines 6 and 7: restart where a new copy ends sooner, else add a copy only if
// that saves resources.
func (m *Mantri) scarce(d *Decision, t *Task, v view) {
	raised := float64(m.RaisedBar * float64(max(t.Restarts, 0))) // no fused multiply-add: one answer everywhere
	d.Bar = num.Add(d.Fresh, num.Times(v.interval, 1+raised))
	d.Reason = NotSlow
	if d.Remaining > d.Bar && m.sure(d, t, v) {
		// The median is below t_rem. By Markov's inequality it is at most twice the mean: most restarts need no look.
		if no := m.mayRestart(t, v); no != NoReason {
			m.refuse(d, no, t, v)
		} else if v.left == nil && d.Remaining/2 <= d.Fresh && !(t.Fresh.Quantile(evenChance) < d.Remaining.Seconds()) {
			d.because(Unlikely, Probability, t.Fresh.Below(d.Remaining.Seconds()), evenChance)
		} else {
			d.Action, d.Reason, d.Attempt = Restart, FreshSooner, v.slowest
			return
		}
	}
	if m.CopyThreshold == Off {
		return
	}
	compared, saves := m.saves(t, v)
	no := m.mayCopy(t, v)
	switch {
	case !saves && d.Reason != NotSlow: // why it is not restarted says more
	case !saves:
		d.Comparison = compared
	case no != NoReason:
		m.refuse(d, no, t, v)
	default:
		d.Action, d.Reason, d.Comparison = Copy, SavesResources, compared
	}
}

// saves reports whether one more copy saves resources, and the comparison that says so.
func (m *Mantri) saves(t *Task, v view) (compared Comparison, saves bool) {
	c, chance := float64(len(t.Attempts)), 0.0
	if v.left == nil {
		chance = t.Fresh.Below(v.remaining.Seconds() * c / (c + 1))
	} else {
		chance = exceeds(&t.Fresh, v.left, c/(c+1), 0, m.CopyThreshold)
	}
	if saves = chance > m.CopyThreshold; saves && v.left != nil {
		if keep, another := v.costs(t); !(another < keep) {
			return Compare(SlotSeconds, keep, another), false
		}
	}
	return Compare(Probability, chance, m.CopyThreshold), saves
}

// because sets a decision's reason and the two numbers that were compared.
func (d *Decision) because(why Reason, of Measure, value, threshold float64) {
	d.Reason, d.Comparison = why, Compare(of, value, threshold)
}

// refuse keeps a task for a reason of mayRestart's or mayCopy's, with what was compared.
func (m *Mantri) refuse(d *Decision, why Reason, t *Task, v view) {
	d.Reason, d.Comparison = why, Comparison{}
	pause := num.Times(v.interval, m.CopyPause)
	switch why {
	case RestartsSpent:
		d.Comparison = spent(PastRestarts, t.Restarts, m.MaxRestarts)
	case CopiesSpent:
		d.Comparison = spent(PastCopies, t.Copies, m.MaxCopies)
	case EnoughAttempts:
		d.Comparison = spent(RunningAttempts, len(t.Attempts), max(m.FastestKept, t.Clones)+1)
	case SeveralRun:
		d.Comparison = spent(RunningAttempts, len(t.Attempts), 1)
	case TooYoung:
		age, least := time.Duration(0), v.interval
		for i := range t.Attempts {
			age = max(age, t.Attempts[i].Elapsed)
		}
		if age >= least {
			least = pause // nothing is known of it yet
		}
		d.Comparison = Compare(RunSeconds, age.Seconds(), least.Seconds())
	case CopyTooRecent:
		since := t.SinceCopy
		if len(t.Attempts) > 1 && !(since > 0 && since < pause) {
			since = v.youngest
		}
		d.Comparison = Compare(SinceCopySeconds, since.Seconds(), pause.Seconds())
	}
}

// spent compares a count with the most that is allowed, which may be Off.
func spent(of Measure, n, most int) Comparison {
	return Compare(of, float64(max(n, 0)), float64(max(most, 0)))
}

// evenChance is what "t_rem > E(t_new) + Δ" is meant to imply: that a restart probably ends sooner [Mantri §5.1,
// footnote 4]. It does where the median of t_new is below its mean; where it is not, as with two kinds of machines, it
// has to be asked.
const evenChance = 0.5

// mayRestart returns what speaks against killing a copy, or NoReason.
func (m *Mantri) mayRestart(t *Task, v view) Reason {
	switch {
	case t.NoRestart:
		return NotRestartable
	case max(t.Restarts, 0) >= m.MaxRestarts: // Off is below every count
		return RestartsSpent
	case !v.judged:
		return TooYoung
	case m.recent(t, v):
		return CopyTooRecent
	case v.slowest < 0:
		return FurthestOn
	}
	return NoReason
}

// mayCopy returns what speaks against one more copy, or NoReason.
func (m *Mantri) mayCopy(t *Task, v view) Reason {
	switch {
	case t.NoCopy:
		return NotEligible
	case len(t.Attempts) > max(m.FastestKept, t.Clones):
		return EnoughAttempts
	case max(t.Copies, 0) >= m.MaxCopies: // Off is below every count
		return CopiesSpent
	case !v.judged:
		return TooYoung
	case m.recent(t, v):
		return CopyTooRecent
	}
	return NoReason
}

// recent reports whether a copy beyond the first was launched, or one of several was killed, within the pause.
func (m *Mantri) recent(t *Task, v view) bool {
	pause := num.Times(v.interval, m.CopyPause)
	return t.SinceCopy > 0 && t.SinceCopy < pause || len(t.Attempts) > 1 && v.youngest < pause
}

// view is what Mantri needs to know of a task's copies.
type view struct {
	interval  time.Duration         // Δ, 0 or more
	remaining time.Duration         // of the fastest copy, or Unknown
	youngest  time.Duration         // age of the copy launched last
	slowest   int                   // of the copies that can be judged and may be killed; -1 if there is none
	surplus   int                   // of those, the slowest whose t_rem does not rest on its age; -1 if there is none
	judged    bool                  // some copy can be judged
	left      estimate.Distribution // of the fastest copy; nil if remaining is certain
	basis     Basis
}

func (m *Mantri) look(copies []Attempt, interval time.Duration) view {
	v := view{
		interval: max(interval, 0), remaining: estimate.Unknown, youngest: num.MaxDuration, slowest: -1, surplus: -1,
	}
	for i := range copies {
		c := &copies[i]
		v.youngest = min(v.youngest, c.Elapsed)
		if c.Remaining != estimate.Unknown && (v.remaining == estimate.Unknown || c.Remaining < v.remaining) {
			v.remaining, v.left, v.basis = max(0, c.Remaining), c.Left, c.Basis
		}
		if !m.judged(c, v.interval) {
			continue
		}
		v.judged = true
		if len(copies) > 1 && spared(copies, i) {
			continue
		}
		if v.slowest < 0 || slower(copies, i, v.slowest) {
			v.slowest = i
		}
		if c.Basis != ByAge && (v.surplus < 0 || slower(copies, i, v.surplus)) {
			v.surplus = i
		}
	}
	return v
}

// judged reports whether a copy has had its time: Δ, and the pause if it has shown nothing yet. Without that, a third
// copy whose first report is a moment late is killed as the slowest, and made anew after the pause, for ever.
func (m *Mantri) judged(c *Attempt, interval time.Duration) bool {
	return c.Elapsed >= interval && (c.Remaining != estimate.Unknown || c.Elapsed >= num.Times(interval, m.CopyPause))
}

// prunes kills the slowest copy that has had its time, and reports that, if keep others are faster. By age alone none is:
// the older of two always seems the slower, and most of all when it is about to end.
func (v view) prunes(d *Decision, copies []Attempt, keep int) bool {
	if v.surplus < 0 || len(copies) <= keep {
		return false
	}
	n := faster(copies, v.surplus)
	if n < keep {
		return false
	}
	d.because(SlowerAttempt, FasterAttempts, float64(n), float64(keep))
	d.Action, d.Attempt = Kill, v.surplus
	return true
}

// faster counts the copies that are faster than the i-th.
func faster(copies []Attempt, i int) (n int) {
	for j := range copies {
		if j != i && slower(copies, i, j) {
			n++
		}
	}
	return n
}

// slower orders a task's copies: longer t_rem is slower, unknown slowest; then the younger; then the later index.
func slower(copies []Attempt, i, j int) bool {
	a, b := &copies[i], &copies[j]
	if a.Remaining != b.Remaining {
		return a.Remaining == estimate.Unknown || b.Remaining != estimate.Unknown && a.Remaining > b.Remaining
	}
	if a.Elapsed != b.Elapsed {
		return a.Elapsed < b.Elapsed
	}
	return i > j
}

// estimates takes t_rem and E(t_new) into a decision, and reports whether both are known.
func (v view) estimates(d *Decision, t *Task, p *Phase) bool {
	d.Reason, d.Remaining, d.Fresh, d.Basis = NoEstimate, v.remaining, t.Fresh.Expected(), v.basis
	if d.Remaining == estimate.Unknown && p.Silent {
		d.Reason = NoProgress
	}
	return d.Remaining != estimate.Unknown && d.Fresh != estimate.Unknown
}

// sure reports whether t_rem is probable enough to exceed the bar, and probably t_new. A few long ones among those
// like it can stretch E(t_new) to what is left of each of them; where they hang and hold every slot, none would ever
// be restarted. So it is enough, too, if t_rem all but surely exceeds what a new copy usually takes, and probably
// what it may take, each by as much as the bar asks. The decision's bar is then that.
func (m *Mantri) sure(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return true
	}
	d.Comparison = Compare(Probability, 1-v.left.CDF(d.Bar.Seconds()), m.Confidence)
	if d.Value >= d.Threshold {
		even := exceeds(&t.Fresh, v.left, 1, 0, evenChance)
		if !(even > evenChance) {
			d.Comparison = Compare(Probability, even, evenChance)
		}
		return even > evenChance
	}
	margin := (d.Bar - d.Fresh).Seconds()
	usual, allBut := t.Fresh.Quantile(evenChance)+margin, float64((1+m.Confidence)/2) // not fused with 1-allBut
	if v.left.CDF(usual) > 1-allBut || !(exceeds(&t.Fresh, v.left, 1, margin, evenChance) > evenChance) {
		return false
	}
	d.Bar, _ = num.Duration(usual)
	d.Comparison = Compare(Probability, 1-v.left.CDF(usual), allBut)
	return true
}

// savesTime reports whether a copy on an idle slot is expected to save more than the bar asks for, and has a chance.
func (m *Mantri) savesTime(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return d.Remaining > d.Bar
	}
	chance := max(m.CopyThreshold, 0) // it may be Off
	d.Comparison = Compare(Probability, 1-v.left.CDF(d.Bar.Seconds()), chance)
	if !(d.Value > chance) {
		return false
	}
	least := (d.Bar - d.Fresh).Seconds()
	most := point(v.left, leftPoints-1, leftPoints) - point(&t.Fresh, 0, freshPoints)
	if !(most > least) { // nor does any other pair save more
		d.Comparison = Compare(SavedSeconds, max(0, most), least)
		return false
	}
	saved, fresh := 0.0, points(&t.Fresh)
	for i := range leftPoints {
		left := point(v.left, i, leftPoints)
		for _, f := range fresh {
			saved += max(0, left-f)
		}
	}
	if saved /= leftPoints * freshPoints; !(saved > least) {
		d.Comparison = Compare(SavedSeconds, saved, least)
	}
	return saved > least
}

// exceeds returns P(t_rem share - margin > t_new), if that is above the bar; otherwise no less than that, and at most
// the bar.
func exceeds(fresh *estimate.Fresh, left estimate.Distribution, share, margin, bar float64) float64 {
	longest := point(left, leftPoints-1, leftPoints)
	most := fresh.Below(float64(longest*share) - margin)
	if most <= bar || point(left, 0, leftPoints) == longest { // all points are one
		return most
	}
	for i := range leftPoints - 1 {
		most += fresh.Below(float64(point(left, i, leftPoints)*share) - margin)
	}
	return most / leftPoints
}

// costs returns how many seconds of slots the task is expected to use as it is, and with one more copy.
func (v *view) costs(t *Task) (keep, another float64) {
	fresh, c := points(&t.Fresh), float64(len(t.Attempts))
	for i := range leftPoints {
		left := point(v.left, i, leftPoints)
		keep += float64(c * left / leftPoints)
		for _, f := range fresh {
			another += float64((c + 1) * min(f, left) / (leftPoints * freshPoints))
		}
	}
	return keep, another
}
