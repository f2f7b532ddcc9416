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
// While tasks wait for a slot, or no slot is free, Mantri restarts a task if t_rem > E(t_new) + Δ. Otherwise Mantri makes one
// more copy, if the copy probably uses less in all: P(t_rem > t_new (c+1)/c) > δ. When slots are idle, Mantri makes a copy if
// E(t_rem - t_new) > ρΔ. It kills an attempt that is slower than the α fastest, once the attempt has run for Δ. A task that
// may not have a copy is restarted by the first rule, also when slots are idle.
//
// If t_rem is uncertain, [Attempt].Left is its distribution, and the rules ask more than a mean:
//
//   - A restart needs P(t_rem > E(t_new) + Δ) >= Confidence, and P(t_rem > t_new) > 1/2. A few hung attempts can stretch
//     E(t_new), so a second test is enough, too: with the median t of t_new, P(t_rem > t + Δ) >= (1 + Confidence)/2 and
//     P(t_rem > t_new + Δ) > 1/2.
//   - A copy while tasks wait must also be expected to use less: c E(t_rem) > (c+1) E(min(t_rem, t_new)).
//   - A copy on an idle slot costs no time if it ends later. It needs E(max(0, t_rem - t_new)) > ρΔ, and a chance:
//     P(t_rem > E(t_new) + ρΔ) > δ.
//
// The paper is silent or misprinted in these places, and Mantri does the following:
//
//   - Line 10 prints E(t_new - t_rem), which would copy tasks that are about to end. Mantri uses E(t_rem - t_new).
//   - α is 2, as footnote 5 says in words.
//   - A copy is "recent" for CopyPause.
//   - An attempt is judged once it has run for Δ, the time of its first report. If nothing is known of the attempt by then, it
//     is judged after CopyPause.
//   - If a task has several attempts, the slowest is restarted.
//   - A restart needs an even chance, which footnote 4 takes for granted.
//   - All clones are kept.
//   - A task gets at most MaxCopies copies in all.
//   - If a task has several attempts, the oldest and the attempt that has done most are not killed; see [Limits]. No attempt
//     is killed as the slower one where only ages are known.
//   - If all tasks have begun and no slot is idle, Mantri acts as if tasks waited, because a copy would have to wait, too.
type Mantri struct {
	// MaxRestarts is γ, how often a task may be restarted. 0 means 3; Off: never.
	MaxRestarts int
	// CopyThreshold is δ, the probability of saving resources that a copy needs while slots are scarce, in (0, 1).
	// 0 means 0.25; Off: no such copies.
	CopyThreshold float64
	// IdleGain is ρ: how many Δ a copy must be expected to save while slots are idle. 0 means 3; Off: no such copies.
	IdleGain float64
	// FastestKept is α, how many of a task's fastest attempts are never killed. 0 means 2. A task has at most FastestKept + 1
	// attempts, with the newest copy.
	FastestKept int
	// CopyPause is how many Δ must pass after the start of a copy before the task may get another copy or be restarted. 0 means
	// 2: a new copy reports after one Δ, and is compared at the next report.
	CopyPause float64
	// RaisedBar is how many Δ each earlier restart of a task adds to the bar of the next restart. It keeps a long task from
	// being killed γ times. 0, the default, is the paper's constant bar.
	RaisedBar float64
	// Confidence is the least probability, in (0, 1), that an uncertain t_rem exceeds the bar of a restart. 0 means 0.75, which
	// is 1-δ: the paper restarts "only when the probability of success is high".
	Confidence float64
	// MaxCopies is how many copies a task may be given in all. 0 means 8; Off: none.
	MaxCopies int
}

// Effective returns the policy with its defaults filled in, for logs.
func (m Mantri) Effective() Mantri {
	m.fill()
	return m
}

// fill fills the defaults in, in place: to copy the policy would take a tenth of a decision's time.
func (m *Mantri) fill() {
	limits := Limits{Restarts: m.MaxRestarts, Copies: m.MaxCopies}.Effective()
	m.MaxRestarts, m.MaxCopies = limits.Restarts, limits.Copies
	m.Confidence = check.Or(m.Confidence, 0.75)
	if m.FastestKept <= 0 { // a negative number is an error, but must not kill a task's last attempt
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

// Decide says what to do about a running task. With all else equal, a longer t_new never turns Keep into Restart, and a
// longer t_rem never turns Restart into Keep. O(len(t.Attempts)), one mean and at most one probability of t.Fresh, and some
// fifty quantiles of t.Fresh and Attempt.Left where t_rem is uncertain; no allocation.
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

// idle is the rule for idle slots, line 10: a slot costs nothing, so a copy must only save time.
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

// scarce is the rule while tasks wait, lines 6 and 7: restart if a new attempt ends sooner, else make a copy if the copy
// saves resources.
func (m *Mantri) scarce(d *Decision, t *Task, v view) {
	raised := float64(m.RaisedBar * float64(max(t.Restarts, 0))) // no fused multiply-add: one answer everywhere
	d.Bar = num.Add(d.Fresh, num.Times(v.interval, 1+raised))
	d.Reason = NotSlow
	if d.Remaining > d.Bar && m.sure(d, t, v) {
		// A restart needs a median of t_new below t_rem. By Markov's inequality the median is at most twice the mean of t_new, so
		// the median is computed only if t_rem is less than twice the mean.
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
	case !saves && d.Reason != NotSlow: // the reason against a restart says more
	case !saves:
		d.Comparison = compared
	case no != NoReason:
		m.refuse(d, no, t, v)
	default:
		d.Action, d.Reason, d.Comparison = Copy, SavesResources, compared
	}
}

// saves reports whether the task probably uses less slot time with one more copy. It also returns the comparison that decided.
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

// because sets a decision's reason and its comparison.
func (d *Decision) because(why Reason, of Measure, value, threshold float64) {
	d.Reason, d.Comparison = why, Compare(of, value, threshold)
}

// refuse keeps the task. It sets the reason, which mayRestart or mayCopy returned, and the two numbers behind the reason.
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
			least = pause // nothing is known of the attempt yet
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

// spent returns the comparison of a count with a limit. A limit that is Off is 0 in the comparison.
func spent(of Measure, n, most int) Comparison {
	return Compare(of, float64(max(n, 0)), float64(max(most, 0)))
}

// evenChance is the probability that a restart ends sooner which "t_rem > E(t_new) + Δ" is meant to imply [Mantri §5.1,
// footnote 4]. The implication holds if the median of t_new is below its mean. With two kinds of machines the median may be
// above the mean, so the probability is asked as well.
const evenChance = 0.5

// mayRestart returns the reason against a restart, or NoReason.
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

// mayCopy returns the reason against one more copy, or NoReason.
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

// recent reports whether the task got a copy, or lost one of several attempts, within the last CopyPause report periods.
func (m *Mantri) recent(t *Task, v view) bool {
	pause := num.Times(v.interval, m.CopyPause)
	return t.SinceCopy > 0 && t.SinceCopy < pause || len(t.Attempts) > 1 && v.youngest < pause
}

// view holds the facts of a task's attempts that Mantri needs.
type view struct {
	interval  time.Duration         // Δ, 0 or more
	remaining time.Duration         // of the fastest attempt, or Unknown
	youngest  time.Duration         // age of the newest attempt
	slowest   int                   // index of the slowest attempt that can be judged and may be killed; -1 if there is none
	surplus   int                   // the same among attempts whose t_rem does not rest on their age
	judged    bool                  // some attempt can be judged
	left      estimate.Distribution // t_rem of the fastest attempt; nil if it is certain
	basis     Basis
}

func (m *Mantri) look(attempts []Attempt, interval time.Duration) view {
	v := view{
		interval: max(interval, 0), remaining: estimate.Unknown, youngest: num.MaxDuration, slowest: -1, surplus: -1,
	}
	for i := range attempts {
		c := &attempts[i]
		v.youngest = min(v.youngest, c.Elapsed)
		if c.Remaining != estimate.Unknown && (v.remaining == estimate.Unknown || c.Remaining < v.remaining) {
			v.remaining, v.left, v.basis = max(0, c.Remaining), c.Left, c.Basis
		}
		if !m.judged(c, v.interval) {
			continue
		}
		v.judged = true
		if len(attempts) > 1 && spared(attempts, i) {
			continue
		}
		if v.slowest < 0 || slower(attempts, i, v.slowest) {
			v.slowest = i
		}
		if c.Basis != ByAge && (v.surplus < 0 || slower(attempts, i, v.surplus)) {
			v.surplus = i
		}
	}
	return v
}

// judged reports whether an attempt has run for long enough to be compared with others: for one report period, or for CopyPause
// report periods if it has not reported yet. Without the longer time, a third attempt whose first report is a moment late would
// be killed as the slowest, started again, killed again, and so on for ever.
func (m *Mantri) judged(c *Attempt, interval time.Duration) bool {
	return c.Elapsed >= interval && (c.Remaining != estimate.Unknown || c.Elapsed >= num.Times(interval, m.CopyPause))
}

// prunes decides to kill the slowest attempt, if at least keep other attempts are faster, and reports whether it does. Ages
// alone make no attempt slower: the older of two attempts always seems slower, most of all when it is about to end.
func (v view) prunes(d *Decision, attempts []Attempt, keep int) bool {
	if v.surplus < 0 || len(attempts) <= keep {
		return false
	}
	n := faster(attempts, v.surplus)
	if n < keep {
		return false
	}
	d.because(SlowerAttempt, FasterAttempts, float64(n), float64(keep))
	d.Action, d.Attempt = Kill, v.surplus
	return true
}

// faster returns how many attempts are faster than attempt i.
func faster(attempts []Attempt, i int) (n int) {
	for j := range attempts {
		if j != i && slower(attempts, i, j) {
			n++
		}
	}
	return n
}

// slower orders a task's attempts: a longer t_rem is slower, and an unknown t_rem slowest; then the younger attempt; then the
// later index.
func slower(attempts []Attempt, i, j int) bool {
	a, b := &attempts[i], &attempts[j]
	if a.Remaining != b.Remaining {
		return a.Remaining == estimate.Unknown || b.Remaining != estimate.Unknown && a.Remaining > b.Remaining
	}
	if a.Elapsed != b.Elapsed {
		return a.Elapsed < b.Elapsed
	}
	return i > j
}

// estimates sets t_rem and E(t_new) in a decision, and reports whether both are known.
func (v view) estimates(d *Decision, t *Task, p *Phase) bool {
	d.Reason, d.Remaining, d.Fresh, d.Basis = NoEstimate, v.remaining, t.Fresh.Expected(), v.basis
	if d.Remaining == estimate.Unknown && p.Silent {
		d.Reason = NoProgress
	}
	return d.Remaining != estimate.Unknown && d.Fresh != estimate.Unknown
}

// sure reports whether t_rem exceeds the bar with enough confidence, and probably exceeds t_new. A few hung attempts can
// stretch E(t_new) so far that no attempt would ever be restarted, even if hung attempts hold every slot. So a second test is
// enough, too: t_rem exceeds the median of t_new all but surely, and t_new probably, each by Δ. Then the decision's bar is
// the median plus Δ.
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
	median, allBut := t.Fresh.Quantile(evenChance)+margin, float64((1+m.Confidence)/2) // not fused with 1-allBut
	if v.left.CDF(median) > 1-allBut || !(exceeds(&t.Fresh, v.left, 1, margin, evenChance) > evenChance) {
		return false
	}
	d.Bar, _ = num.Duration(median)
	d.Comparison = Compare(Probability, 1-v.left.CDF(median), allBut)
	return true
}

// savesTime reports whether a copy on an idle slot is expected to save more than ρΔ, and has a chance to.
func (m *Mantri) savesTime(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return d.Remaining > d.Bar
	}
	chance := max(m.CopyThreshold, 0) // CopyThreshold may be Off
	d.Comparison = Compare(Probability, 1-v.left.CDF(d.Bar.Seconds()), chance)
	if !(d.Value > chance) {
		return false
	}
	least := (d.Bar - d.Fresh).Seconds()
	most := point(v.left, leftPoints-1, leftPoints) - point(&t.Fresh, 0, freshPoints)
	if !(most > least) { // no other pair of t_rem and t_new saves more
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

// exceeds returns P(t_rem share - margin > t_new), if the probability is above the bar; otherwise an upper bound of the
// probability that is at most the bar.
func exceeds(fresh *estimate.Fresh, left estimate.Distribution, share, margin, bar float64) float64 {
	longest := point(left, leftPoints-1, leftPoints)
	most := fresh.Below(float64(longest*share) - margin)
	if most <= bar || point(left, 0, leftPoints) == longest { // all points are equal
		return most
	}
	for i := range leftPoints - 1 {
		most += fresh.Below(float64(point(left, i, leftPoints)*share) - margin)
	}
	return most / leftPoints
}

// costs returns the seconds of slots that the task is expected to use: as it is, and with one more copy.
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
