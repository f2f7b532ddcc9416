package restart

import (
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
// Where t_rem is uncertain, which [Copy.Left] says, all of it is asked of both distributions, and a mean is not enough.
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
// were launched up front are kept, all of them; a task gets at most MaxDuplicates copies in all; of several copies
// neither the one that has run longest is killed nor the one that has done most, see [Limits], and none as slower than
// others of which only the age is known; and a phase whose tasks have all begun but that has no idle slot is treated as
// if tasks waited, since a copy would have to wait too.
type Mantri struct {
	// MaxRestarts is γ, how often a task may be killed and restarted. 0 means 3; Off: never.
	MaxRestarts int
	// DuplicateThreshold is δ, the probability of saving resources that a copy needs while slots are scarce, in (0, 1).
	// 0 means 0.25; Off: no such copies.
	DuplicateThreshold float64
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
	// MaxDuplicates is how many copies of a task may be launched while another runs, in all. 0 means 8; Off: none.
	MaxDuplicates int
}

// Effective returns the policy with its defaults filled in, for logs.
func (m Mantri) Effective() Mantri {
	m.fill()
	return m
}

// fill fills the defaults in, in place: a copy of the policy takes as long as a tenth of a decision.
func (m *Mantri) fill() {
	limits := Limits{m.MaxRestarts, m.MaxDuplicates}.Effective()
	m.MaxRestarts, m.MaxDuplicates = limits.Restarts, limits.Duplicates
	m.Confidence = check.Or(m.Confidence, 0.75)
	if m.FastestKept <= 0 { // a negative one is an error, but must not kill a task's last copy
		m.FastestKept = 2
	}
	m.DuplicateThreshold = check.Or(m.DuplicateThreshold, 0.25)
	m.IdleGain = check.Or(m.IdleGain, 3)
	m.CopyPause = check.Or(m.CopyPause, 2)
}

// Validate reports the first field that is out of range, with its value and its range.
func (m Mantri) Validate() error { return m.validate("restart: Mantri") }

func (m *Mantri) validate(place string) error {
	switch {
	case m.MaxRestarts < 0 && m.MaxRestarts != Off:
		return check.Bad(place, "MaxRestarts", m.MaxRestarts, "a positive number, 0 for the default, or Off")
	case !(m.DuplicateThreshold >= 0 && m.DuplicateThreshold < 1) && m.DuplicateThreshold != Off:
		return check.Bad(place, "DuplicateThreshold", m.DuplicateThreshold,
			"a probability in (0, 1), 0 for the default, or Off")
	case m.MaxDuplicates < 0 && m.MaxDuplicates != Off:
		return check.Bad(place, "MaxDuplicates", m.MaxDuplicates, "a positive number, 0 for the default, or Off")
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

// Decide says what to do about a running task. O(len(t.Copies)), one mean and at most one probability of t.Fresh, and
// some fifty looks at it and at Copy.Left where t_rem is uncertain; no allocation. With all else equal, a longer t_new
// never turns Keep into Restart, and a longer t_rem never turns Restart into Keep.
func (m Mantri) Decide(t Task, p Phase) (d Decision) {
	m.fill()
	d.Reason = NotRunning
	if len(t.Copies) == 0 {
		return d
	}
	v := m.look(t.Copies, p.Interval)
	keep := max(m.FastestKept, t.Clones)
	if v.prunes(t.Copies, keep) {
		d.Action, d.Reason, d.Copy = Kill, SlowerCopy, v.surplus
		return d
	}
	if !v.estimates(&d, &t, &p) {
		return d
	}
	if p.Waiting <= 0 && p.FreeSlots > 0 && !t.NoDuplicate && m.MaxDuplicates != Off {
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
	d.Reason = m.mayDuplicate(t, v)
	if d.Reason == NoReason {
		d.Action, d.Reason = Duplicate, IdleSlot
	}
}

// scarce is the rule while tasks wait, lines 6 and 7: restart where a new copy ends sooner, else add a copy only if
// that saves resources.
func (m *Mantri) scarce(d *Decision, t *Task, v view) {
	raised := float64(m.RaisedBar * float64(max(t.Restarts, 0))) // no fused multiply-add: one answer everywhere
	d.Bar = num.Add(d.Fresh, num.Times(v.interval, 1+raised))
	d.Reason = NotSlow
	if d.Remaining > d.Bar && m.sure(d, t, v) {
		if d.Reason = m.mayRestart(t, v); d.Reason == NoReason {
			// The median is below t_rem. By Markov's inequality it is at most twice the mean: most restarts need no look.
			if v.left != nil || d.Remaining/2 > d.Fresh || t.Fresh.Quantile(evenChance) < d.Remaining.Seconds() {
				d.Action, d.Reason, d.Copy = Restart, FreshSooner, v.slowest
				return
			}
			d.Reason = Unlikely
		}
	}
	if m.DuplicateThreshold == Off {
		return
	}
	c := float64(len(t.Copies))
	d.Threshold = m.DuplicateThreshold
	if v.left == nil {
		d.Value = t.Fresh.Below(d.Remaining.Seconds() * c / (c + 1))
	} else {
		d.Value = exceeds(&t.Fresh, v.left, c/(c+1), 0, m.DuplicateThreshold)
	}
	if !(d.Value > d.Threshold) {
		return
	}
	if v.left != nil {
		if !v.spares(t) {
			return
		}
	}
	d.Reason = m.mayDuplicate(t, v)
	if d.Reason == NoReason {
		d.Action, d.Reason = Duplicate, SavesResources
	}
}

// evenChance is what "t_rem > E(t_new) + Δ" is meant to imply: that a restart probably ends sooner [Mantri §5.1,
// footnote 4]. It does where the median of t_new is below its mean; where it is not, as with two kinds of machines, it
// has to be asked.
const evenChance = 0.5

// mayRestart returns what speaks against killing a copy, or NoReason.
func (m *Mantri) mayRestart(t *Task, v view) Reason {
	switch {
	case t.NoRestart:
		return NotEligible
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

// mayDuplicate returns what speaks against one more copy, or NoReason.
func (m *Mantri) mayDuplicate(t *Task, v view) Reason {
	switch {
	case t.NoDuplicate:
		return NotEligible
	case len(t.Copies) > max(m.FastestKept, t.Clones), max(t.Duplicates, 0) >= m.MaxDuplicates: // Off is below every count
		return EnoughCopies
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
	return t.SinceCopy > 0 && t.SinceCopy < pause || len(t.Copies) > 1 && v.youngest < pause
}
