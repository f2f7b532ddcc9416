package restart

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Mantri is the resource-aware restart of [Mantri §5.1, Pseudocode 1]. Its zero value has the paper's parameters. It is
// immutable in use and safe for concurrent use.
//
// While tasks wait for a slot, or no slot is free, it kills and restarts a task if t_rem > E(t_new) + Δ, and otherwise
// makes one more copy only if that probably uses less in all, P(t_rem > t_new (c+1)/c) > δ. When slots are idle it makes
// a copy if E(t_rem - t_new) > ρΔ. It kills a copy that is slower than the α fastest, once it has run for Δ.
//
// Where the paper is silent or misprinted: line 10 prints E(t_new - t_rem), which would duplicate the tasks that are
// about to end; α is 2, as footnote 5 says in words; a copy is "recent" for CopyPause; a copy is judged once it has run
// for Δ, the time of its first report, or for CopyPause if nothing is known of it by then; of a task's several copies the
// slowest is the one restarted; and a phase whose tasks have all begun but that has no idle slot is treated as if tasks
// waited, since a copy would have to wait too.
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
}

// Effective returns the policy with its defaults filled in, for logs.
func (m Mantri) Effective() Mantri {
	m.fill()
	return m
}

// fill fills the defaults in, in place: a copy of the policy takes as long as a tenth of a decision.
func (m *Mantri) fill() {
	if m.MaxRestarts == 0 {
		m.MaxRestarts = 3
	}
	if m.FastestKept <= 0 { // a negative one is an error, but must not kill a task's last copy
		m.FastestKept = 2
	}
	m.DuplicateThreshold = orDefault(m.DuplicateThreshold, 0.25)
	m.IdleGain = orDefault(m.IdleGain, 3)
	m.CopyPause = orDefault(m.CopyPause, 2)
}

// Validate reports the first field that is out of range, with its value and its range.
func (m Mantri) Validate() error {
	switch {
	case m.MaxRestarts < 0 && m.MaxRestarts != Off:
		return badField("Mantri", "MaxRestarts", m.MaxRestarts, "a positive number, 0 for the default, or Off")
	case !(m.DuplicateThreshold >= 0 && m.DuplicateThreshold < 1) && m.DuplicateThreshold != Off:
		return badField("Mantri", "DuplicateThreshold", m.DuplicateThreshold, "a probability in (0, 1), 0 for the default, or Off")
	case m.FastestKept < 0:
		return badField("Mantri", "FastestKept", m.FastestKept, "a positive number, or 0 for the default")
	}
	if m.IdleGain != Off {
		if err := checkFactor("Mantri", "IdleGain", m.IdleGain); err != nil {
			return err
		}
	}
	if err := checkFactor("Mantri", "CopyPause", m.CopyPause); err != nil {
		return err
	}
	return checkFactor("Mantri", "RaisedBar", m.RaisedBar)
}

// Decide says what to do about a running task. O(len(t.Copies)), one mean and at most one probability of t.Fresh; no
// allocation. With all else equal, a longer t_new never turns Keep into Restart, and a longer t_rem never turns Restart
// into Keep.
func (m Mantri) Decide(t Task, p Phase) (d Decision) {
	m.fill()
	d.Reason = NotRunning
	if len(t.Copies) == 0 {
		return d
	}
	v := m.look(t.Copies, p.Interval)
	if v.surplus(t.Copies, m.FastestKept) {
		d.Action, d.Reason, d.Copy = Kill, SlowerCopy, v.slowest
		return d
	}
	d.Reason, d.Remaining, d.Fresh = NoEstimate, v.remaining, t.Fresh.Expected()
	if d.Remaining == estimate.Unknown || d.Fresh == estimate.Unknown {
		return d
	}
	if p.Waiting <= 0 && p.FreeSlots > 0 {
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
	d.Bar = num.Add(d.Fresh, times(v.interval, m.IdleGain))
	if d.Remaining <= d.Bar {
		d.Reason = NotSlow
		return
	}
	d.Reason = m.mayDuplicate(t, v)
	if d.Reason == NoReason {
		d.Action, d.Reason = Duplicate, IdleSlot
	}
}

// scarce is the rule while tasks wait, lines 6 and 7: restart where a new copy ends sooner, else add a copy only if that
// saves resources.
func (m *Mantri) scarce(d *Decision, t *Task, v view) {
	raised := float64(m.RaisedBar * float64(max(t.Restarts, 0))) // no fused multiply-add: one answer everywhere
	d.Bar = num.Add(d.Fresh, times(v.interval, 1+raised))
	d.Reason = NotSlow
	if d.Remaining > d.Bar {
		if d.Reason = m.mayRestart(t, v); d.Reason == NoReason {
			d.Action, d.Reason, d.Copy = Restart, FreshSooner, v.slowest
			return
		}
	}
	if m.DuplicateThreshold == Off {
		return
	}
	c := float64(len(t.Copies))
	d.Value, d.Threshold = t.Fresh.Below(d.Remaining.Seconds()*c/(c+1)), m.DuplicateThreshold
	if !(d.Value > d.Threshold) {
		return
	}
	d.Reason = m.mayDuplicate(t, v)
	if d.Reason == NoReason {
		d.Action, d.Reason = Duplicate, SavesResources
	}
}

// mayRestart returns what speaks against killing a copy, or NoReason.
func (m *Mantri) mayRestart(t *Task, v view) Reason {
	switch {
	case t.NoRestart:
		return NotEligible
	case max(t.Restarts, 0) >= m.MaxRestarts: // Off is below every count
		return RestartsSpent
	case v.slowest < 0:
		return TooYoung
	case m.recent(t, v):
		return CopyTooRecent
	}
	return NoReason
}

// mayDuplicate returns what speaks against one more copy, or NoReason.
func (m *Mantri) mayDuplicate(t *Task, v view) Reason {
	switch {
	case t.NoDuplicate:
		return NotEligible
	case len(t.Copies) > m.FastestKept:
		return EnoughCopies
	case v.slowest < 0:
		return TooYoung
	case m.recent(t, v):
		return CopyTooRecent
	}
	return NoReason
}

// recent reports whether a copy beyond the first was launched, or one of several was killed, within the pause.
func (m *Mantri) recent(t *Task, v view) bool {
	pause := times(v.interval, m.CopyPause)
	return t.SinceCopy > 0 && t.SinceCopy < pause || len(t.Copies) > 1 && v.youngest < pause
}
