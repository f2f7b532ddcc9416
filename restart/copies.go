package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

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

func (m *Mantri) look(copies []Copy, interval time.Duration) view {
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
func (m *Mantri) judged(c *Copy, interval time.Duration) bool {
	return c.Elapsed >= interval && (c.Remaining != estimate.Unknown || c.Elapsed >= num.Times(interval, m.CopyPause))
}

// prunes reports whether the slowest copy that has had its time is slower than keep others. By age alone none is: the
// older of two always seems the slower, and most of all when it is about to end.
func (v view) prunes(copies []Copy, keep int) bool {
	return v.surplus >= 0 && len(copies) > keep && faster(copies, v.surplus) >= keep
}

// faster counts the copies that are faster than the i-th.
func faster(copies []Copy, i int) (n int) {
	for j := range copies {
		if j != i && slower(copies, i, j) {
			n++
		}
	}
	return n
}

// slower orders a task's copies: longer t_rem is slower, unknown slowest; then the younger; then the later index.
func slower(copies []Copy, i, j int) bool {
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
