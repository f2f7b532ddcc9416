package worlds

import (
	"cmp"
	"math"
	"slices"
)

// Ideal simulates a host that knows everything, and attempts without bad luck. The longest task starts first, each
// task on the machine where it ends soonest.
func (w *World) Ideal(set Set, seed int) (o Outcome) {
	l := newLuck(set, seed)
	stops := w.changes()
	slices.Sort(stops)
	for phase := range w.phases() {
		tasks := make([]task, w.size(l, phase))
		for i := range tasks {
			tasks[i] = w.task(l, phase, i)
			tasks[i].seconds += w.fate(l, None, phase, i, 0).more
		}
		slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(b.seconds, a.seconds) })
		free := make([]float64, w.machines()*w.slotsEach())
		for m := range free {
			free[m] = o.Time
		}
		for i := range tasks {
			best, ends := 0, math.Inf(1)
			for m := range free {
				if end := w.end(&tasks[i], m/w.slotsEach(), free[m]+w.Lag, stops); end < ends {
					best, ends = m, end
				}
			}
			o.Slots += ends - free[best]
			free[best] = ends
		}
		for _, at := range free {
			o.Time = max(o.Time, at)
		}
	}
	return o
}

// end returns the end of a task that begins on a machine at an instant; infinity if the machine dies before.
func (w *World) end(t *task, machine int, begins float64, stops []float64) float64 {
	left, now := t.seconds*w.path(t, machine), begins
	for {
		if w.dead(machine, now) {
			return math.Inf(1)
		}
		next := math.Inf(1)
		for _, at := range stops {
			if at > now {
				next = at
				break
			}
		}
		takes := left * w.factor(machine, now)
		if now+takes <= next {
			return now + takes
		}
		left -= (next - now) / w.factor(machine, now)
		now = next
	}
}
