package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Mantri is the policy of the paper, resource-aware restart [Mantri §5.1, Pseudocode 1]. The zero value has its
// parameters.
//
// The task's fastest attempt still needs t_rem, and a new attempt would take t_new ([Task].Fresh). The task has c
// running attempts, which report every Δ ([Phase].Interval). E is an expected value, and P a probability; the fields
// name γ, δ, ρ and α.
//
//	while tasks wait:    restart  if t_rem > E(t_new) + Δ, at most γ times
//	                     copy     if P(t_rem > t_new (c+1)/c) > δ
//	when slots are idle: copy     if E(t_rem - t_new) > ρΔ
//	always:              kill     all but the α fastest attempts, as soon as they have run for Δ
//
// A task that may not have a copy is restarted by the first rule, also when slots are idle.
//
// If t_rem is uncertain, [Attempt].Left is its distribution, and the rules need more than a mean:
//
//   - A restart needs P(t_rem > E(t_new) + Δ) >= Confidence, and P(t_rem > t_new) > 1/2. A few hung attempts can make
//     E(t_new) very large. So a second test also allows a restart. With the median t of t_new, it needs P(t_rem > t +
//     Δ) >= (1 + Confidence)/2 and P(t_rem > t_new + Δ) > 1/2.
//   - A copy while tasks wait must also be expected to use less slot time: c E(t_rem) > (c+1) E(min(t_rem, t_new)).
//   - A copy on an idle slot costs no time if it ends later than the old attempt. It needs E(max(0, t_rem - t_new)) >
//     ρΔ, and a chance to save time: P(t_rem > E(t_new) + ρΔ) > δ.
//
// In some places the paper gives no rule or has a misprint. There Mantri does the following:
//
//   - Line 10 of the pseudocode prints E(t_new - t_rem), which would copy tasks that are about to end. Mantri uses
//     E(t_rem - t_new).
//   - α is 2, as footnote 5 says in words.
//   - A copy is "recent" for the time CopyPause.
//   - An attempt is judged as soon as it has run for Δ, the time of its first report. If it has not reported by then,
//     it is judged after CopyPause.
//   - If a task has several attempts, the slowest is restarted.
//   - A restart must end sooner with a probability of at least 1/2. Footnote 4 assumes that the rule implies this.
//   - All clones are kept ([Task].Clones).
//   - A task gets at most MaxCopies copies over its whole life.
//   - If a task has several attempts, two are never killed: the oldest attempt, and the attempt with the most work
//     behind it. See [Limits]. If t_rem was predicted from an attempt's age alone, the attempt is not killed for
//     being slower.
//   - If all tasks have begun and no slot is idle, Mantri acts as if tasks waited, because a copy would have to wait,
//     too.
type Mantri struct {
	// MaxRestarts is how often a task may be restarted; γ in the paper. 0 means 3; Off: never.
	MaxRestarts int `want:"count or off"`
	// CopyThreshold applies to a copy while tasks wait for slots; δ in the paper. The copy must save slot time with a
	// probability greater than CopyThreshold, in (0, 1). 0 means 0.25; Off: no such copies.
	CopyThreshold float64 `want:"probability or off"`
	// IdleGain applies to a copy while slots are idle; ρ in the paper. The copy must be expected to save more than
	// IdleGain report periods. 0 means 3; Off: no such copies.
	IdleGain float64 `want:"factor or off"`
	// FastestKept is how many of a task's fastest attempts are never killed; α in the paper. 0 means 2. A task has at
	// most FastestKept + 1 attempts at once, because a new copy is not yet judged.
	FastestKept int `want:"count"`
	// CopyPause is a number of report periods. After the start of a copy, this time must pass before the task may get
	// another copy or be restarted. 0 means 2: a new copy reports after one period, and is compared at the next
	// report.
	CopyPause float64 `want:"factor"`
	// RaisedBar is a number of report periods. Each earlier restart of a task raises the bar of the next restart by
	// this time. So a long task is not killed again and again. 0, the default, is the paper's rule: the bar stays the
	// same.
	RaisedBar float64 `want:"factor"`
	// Confidence applies to a task whose remaining time (t_rem) is uncertain. A restart needs at least this
	// probability, in (0, 1), that t_rem exceeds the bar. 0 means 0.75, which is 1-δ: the paper restarts "only when
	// the probability of success is high".
	Confidence float64 `want:"probability"`
	// MaxCopies is how many copies a task may be given over its whole life. 0 means 8; Off: none.
	MaxCopies int `want:"count or off"`
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (m Mantri) Effective() Mantri {
	m.fill()
	return m
}

// fill replaces zero fields by their defaults. It changes the policy in place, because a copy of the policy would
// take a tenth of the time of a decision.
func (m *Mantri) fill() {
	limits := Limits{Restarts: m.MaxRestarts, Copies: m.MaxCopies}.Effective()
	m.MaxRestarts, m.MaxCopies = limits.Restarts, limits.Copies
	m.Confidence = check.Or(m.Confidence, 0.75)
	// A negative number is an error. But even then a task's last attempt must not be killed.
	if m.FastestKept <= 0 {
		m.FastestKept = 2
	}
	m.CopyThreshold = check.Or(m.CopyThreshold, 0.25)
	m.IdleGain = check.Or(m.IdleGain, 3)
	m.CopyPause = check.Or(m.CopyPause, 2)
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (m Mantri) Validate() error { return check.Valid(m) }

// Decide says what to do about a running task. If only the time of a new attempt (t_new) becomes longer, Keep never
// turns into Restart. If only the remaining time (t_rem) becomes longer, Restart never turns into Keep. The cost is
// O(len(t.Attempts)), one mean and at most one probability of t.Fresh. If t_rem is uncertain, about fifty quantiles
// of t.Fresh and Attempt.Left are added. Decide allocates nothing.
func (m Mantri) Decide(t Task, p Phase) (d Decision) {
	m.fill()
	d.Reason = NotRunning
	if len(t.Attempts) == 0 {
		return d
	}
	v := m.look(t.Attempts, p.Interval)
	keep := max(m.FastestKept, t.Clones)
	if v.prunes(&d, t.Attempts, keep) {
		return d
	}
	if !d.estimates(v.fastest, t.Fresh.Expected()) {
		if v.fastest == nil && p.Silent {
			d.Reason = NoProgress
		}
		return d
	}
	if p.Waiting <= 0 && p.FreeSlots > 0 && !t.NoCopy && m.MaxCopies != Off {
		m.idle(&d, &t, v)
	} else {
		m.scarce(&d, &t, v)
	}
	if d.Action != Keep {
		d.Gain = max(0, num.Sub(d.Remaining, d.Fresh))
		d.Avoid = avoid(&t, &p)
	}
	return d
}

// idle is the rule while slots are idle (line 10 of the pseudocode).
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
	if no, compared := m.mayCopy(t, v); no != NoReason {
		d.Reason, d.Comparison = no, compared
		return
	}
	d.Action, d.Reason = Copy, IdleSlot
}

// scarce is the rule while tasks wait for slots (lines 6 and 7 of the pseudocode).
func (m *Mantri) scarce(d *Decision, t *Task, v view) {
	// The conversion prevents a fused multiply-add, so that every processor gives the same result.
	raised := float64(m.RaisedBar * float64(max(t.Restarts, 0)))
	d.Bar = num.Add(d.Fresh, num.Times(v.interval, 1+raised))
	d.Reason = NotSlow
	if d.Remaining > d.Bar && m.sure(d, t, v) {
		// A restart needs a median of t_new below t_rem. By Markov's inequality the median of t_new is at most twice
		// the mean of t_new. So the median is computed only if t_rem is at most twice the mean.
		if no, compared := m.mayRestart(t, v); no != NoReason {
			d.Reason, d.Comparison = no, compared
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
	no, refusal := m.mayCopy(t, v)
	switch {
	case !saves && d.Reason != NotSlow: // the reason against a restart, already set, tells the host more
	case !saves:
		d.Comparison = compared
	case no != NoReason:
		d.Reason, d.Comparison = no, refusal
	default:
		d.Action, d.Reason, d.Comparison = Copy, SavesResources, compared
	}
}

// saves reports whether the task will probably use less slot time with one more copy, and by which comparison.
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

// because sets the reason and the comparison of a decision.
func (d *Decision) because(why Reason, of Measure, value, threshold float64) {
	d.Reason, d.Comparison = why, Compare(of, value, threshold)
}

func spent(of Measure, n, most int) Comparison {
	return Compare(of, float64(max(n, 0)), float64(max(most, 0)))
}

// evenChance is the probability of ending sooner that a restart must exceed. The paper's rule implies it only if the
// median of t_new is below its mean [Mantri §5.1, footnote 4]. With two kinds of machines the median may be above the
// mean.
const evenChance = 0.5

// mayRestart returns the reason why the task must not be restarted now, with the two numbers that were compared, or NoReason.
func (m *Mantri) mayRestart(t *Task, v view) (Reason, Comparison) {
	limits := Limits{Restarts: m.MaxRestarts}
	no, compared := limits.forbid(Restart, t)
	if no == NoReason {
		no, compared = m.tooSoon(t, v)
	}
	if no == NoReason && v.slowest < 0 {
		no = FurthestOn
	}
	return no, compared
}

// mayCopy returns the reason why the task must not get one more copy now, with the two numbers that were compared, or
// NoReason.
func (m *Mantri) mayCopy(t *Task, v view) (Reason, Comparison) {
	most := max(m.FastestKept, t.Clones) + 1
	if !t.NoCopy && len(t.Attempts) >= most {
		return EnoughAttempts, spent(RunningAttempts, len(t.Attempts), most)
	}
	limits := Limits{Copies: m.MaxCopies}
	if no, compared := limits.forbid(Copy, t); no != NoReason {
		return no, compared
	}
	return m.tooSoon(t, v)
}

// tooSoon returns the reason why the attempts of the task can't be judged yet, or NoReason: they are too young, or the task
// got a copy, or lost an attempt while another went on, within the last CopyPause report periods.
func (m *Mantri) tooSoon(t *Task, v view) (Reason, Comparison) {
	pause := num.Times(v.interval, m.CopyPause)
	if !v.judged {
		age, least := max(t.Attempts[rank(t.Attempts).oldest].Elapsed, 0), v.interval
		if age >= least {
			least = pause // the attempt has not reported yet, so it is judged only after the longer time
		}
		return TooYoung, Compare(RunSeconds, age.Seconds(), least.Seconds())
	}
	return t.settling(pause)
}

// view contains the facts of a task's attempts that Mantri needs.
type view struct {
	interval  time.Duration         // time between two progress reports (Δ), 0 or more
	remaining time.Duration         // remaining time (t_rem) of the fastest attempt, or Unknown
	slowest   int                   // index of the slowest attempt that is judged and may be killed; -1 for none
	surplus   int                   // the same, of attempts whose remaining time was not predicted from their age
	judged    bool                  // at least one attempt has run for long enough to be judged
	left      estimate.Distribution // distribution of the remaining time of the fastest attempt; nil if it is certain
	fastest   *Attempt              // nil if no remaining time is known
}

// look computes a view of the attempts of a task. The argument interval is the time between two progress reports.
func (m *Mantri) look(attempts []Attempt, interval time.Duration) view {
	r, v := rank(attempts), view{interval: max(interval, 0), remaining: estimate.Unknown, slowest: -1, surplus: -1}
	if r.fastest >= 0 {
		v.fastest = &attempts[r.fastest]
		v.remaining, v.left = max(0, v.fastest.Remaining), v.fastest.Left
	}
	for i := range attempts {
		c := &attempts[i]
		if !m.judged(c, v.interval) {
			continue
		}
		v.judged = true
		if len(attempts) > 1 && r.spares(i) {
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

// judged reports whether an attempt has run for long enough to be compared with others. The longer time, for an attempt
// that has not reported, prevents an endless loop: a third attempt whose first report is late would be killed again and
// again.
func (m *Mantri) judged(c *Attempt, interval time.Duration) bool {
	return c.Elapsed >= interval && (c.Remaining != estimate.Unknown || c.Elapsed >= num.Times(interval, m.CopyPause))
}

// prunes decides to kill the slowest attempt if at least keep other attempts are faster, and reports whether it has set
// the decision to a kill. An attempt whose remaining time was predicted from its age is not killed; see [ByAge].
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

// faster returns how many attempts of the list are faster than attempt i.
func faster(attempts []Attempt, i int) (n int) {
	for j := range attempts {
		if j != i && slower(attempts, i, j) {
			n++
		}
	}
	return n
}

// slower reports whether attempt i is slower than attempt j of the same task: by t_rem, where unknown is longest, then
// the younger, then the attempt with the higher index.
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

// sure reports whether an uncertain remaining time allows a restart, by one of the two tests of [Mantri], and sets the
// bar of the test.
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
	// The conversion prevents that the sum is fused with 1-allBut.
	median, allBut := t.Fresh.Quantile(evenChance)+margin, float64((1+m.Confidence)/2)
	if v.left.CDF(median) > 1-allBut || !(exceeds(&t.Fresh, v.left, 1, margin, evenChance) > evenChance) {
		return false
	}
	d.Bar, _ = num.Duration(median)
	d.Comparison = Compare(Probability, 1-v.left.CDF(median), allBut)
	return true
}

// savesTime reports whether a copy on an idle slot is expected to save enough, with a real chance.
func (m *Mantri) savesTime(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return d.Remaining > d.Bar
	}
	// CopyThreshold may be Off, a negative number.
	chance := max(m.CopyThreshold, 0)
	d.Comparison = Compare(Probability, 1-v.left.CDF(d.Bar.Seconds()), chance)
	if !(d.Value > chance) {
		return false
	}
	least := (d.Bar - d.Fresh).Seconds()
	most := point(v.left, leftPoints-1, leftPoints) - point(&t.Fresh, 0, freshPoints)
	// Here t_rem is longest and t_new shortest. No other pair of the two saves more.
	if !(most > least) {
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

// exceeds returns the probability that t_rem*share - margin is greater than t_new, if this probability is above bar.
// Here t_rem is the remaining time of an attempt (left), and t_new is the time of a new attempt (fresh). If the
// probability is not above bar, exceeds may return a larger number, which is at most bar.
func exceeds(fresh *estimate.Fresh, left estimate.Distribution, share, margin, bar float64) float64 {
	longest := point(left, leftPoints-1, leftPoints)
	most := fresh.Below(float64(longest*share) - margin)
	// If the first and the last of the values of t_rem are equal, all values are.
	if most <= bar || point(left, 0, leftPoints) == longest {
		return most
	}
	for i := range leftPoints - 1 {
		most += fresh.Below(float64(point(left, i, leftPoints)*share) - margin)
	}
	return most / leftPoints
}

// costs returns the slot time, in seconds, that the task is expected to use until it ends: as it is (keep), and with
// one more copy (another).
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
