package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Prune appends to dst the indices of the copies to kill, in ascending order: all but the α fastest that have run for
// at least Δ [Mantri, Pseudocode 1, line 3]. A copy whose t_rem is unknown counts as the slowest, once it has run for
// CopyPause; among equals the one that has run longest is kept. Decide names the same copies one at a time, slowest first.
// O(len(copies)^2) for what is meant to be three copies; it allocates only if dst is too short.
func (m Mantri) Prune(dst []int, copies []Copy, p Phase) []int {
	m = m.Effective()
	interval := max(p.Interval, 0)
	for i := range copies {
		if m.judged(&copies[i], interval) && faster(copies, i) >= m.FastestKept {
			dst = append(dst, i)
		}
	}
	return dst
}

// Prune is Mantri{}.Prune: it appends the indices of the copies to kill.
func Prune(dst []int, copies []Copy, p Phase) []int { return Mantri{}.Prune(dst, copies, p) }

// view is what Mantri needs to know of a task's copies.
type view struct {
	interval  time.Duration // Δ, 0 or more
	remaining time.Duration // of the fastest copy, or Unknown
	youngest  time.Duration // age of the copy launched last
	slowest   int           // of the copies that can be judged; -1 if none can
}

func (m *Mantri) look(copies []Copy, interval time.Duration) view {
	v := view{interval: max(interval, 0), remaining: estimate.Unknown, youngest: num.MaxDuration, slowest: -1}
	for i := range copies {
		c := &copies[i]
		v.youngest = min(v.youngest, c.Elapsed)
		if c.Remaining != estimate.Unknown && (v.remaining == estimate.Unknown || c.Remaining < v.remaining) {
			v.remaining = max(0, c.Remaining)
		}
		if m.judged(c, v.interval) && (v.slowest < 0 || slower(copies, i, v.slowest)) {
			v.slowest = i
		}
	}
	return v
}

// judged reports whether a copy has had its time: Δ, and the pause if it has shown nothing yet. Without that, a third
// copy whose first report is a moment late is killed as the slowest, and made anew after the pause, for ever.
func (m *Mantri) judged(c *Copy, interval time.Duration) bool {
	return c.Elapsed >= interval && (c.Remaining != estimate.Unknown || c.Elapsed >= times(interval, m.CopyPause))
}

// surplus reports whether the slowest copy that has had its time is slower than keep others.
func (v view) surplus(copies []Copy, keep int) bool {
	if v.slowest < 0 || len(copies) <= keep {
		return false
	}
	return faster(copies, v.slowest) >= keep
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
