package machines

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// progress is LATE's total progress of the machines. It costs nothing until it is used.
type progress struct {
	used   bool
	totals estimate.Empirical
	halved time.Duration
}

// step is how many units of progress make up a task: totals are whole numbers of them, so their sums are exact.
const step = 1 << 24

func (p *progress) join() {
	if p.used {
		p.totals.Insert(0)
	}
}

func (p *progress) leave(total int64) {
	if p.used {
		p.totals.Delete(float64(total) / step)
	}
}

// AddProgress adds to a machine's total progress, the measure by which LATE knows slow nodes: "the sum of progress
// scores for all tasks which have succeeded or are in progress" there [LATE §4]. What an attempt adds as it goes on
// is positive; when it is killed or fails, all that it has added is taken away again. Totals are halved once in a
// HalfLife, so that a machine that joined late, or was busy elsewhere, can catch up; the paper has one job and no such
// rule. Changes count in steps of 2^-24, to the nearest: if the scores that they are the differences of are rounded
// to such steps, machines that have done the same compare equal, whatever the steps of their reports. It reports
// whether the machine is one and the change a finite number of at most a million tasks.
func (r *Record) AddProgress(now time.Time, machine int, change float64) bool {
	at := r.at(now)
	if !(math.Abs(change) <= 1e6) {
		return false
	}
	i := r.touch(machine)
	if i == none {
		return false
	}
	p := &r.progress
	if !p.used {
		p.used, p.halved = true, at
		for range r.Len() {
			p.totals.Insert(0)
		}
	}
	if at-p.halved >= r.config.HalfLife {
		r.halve(at)
	}
	m := &r.machines[i]
	p.leave(m.total)
	m.total = min(max(m.total+int64(math.Round(change*step)), 0), math.MaxInt64/4)
	p.totals.Insert(float64(m.total) / step)
	return true
}

// halve halves the totals for each HalfLife that has passed. O(m log m).
func (r *Record) halve(at time.Duration) {
	p := &r.progress
	times := int64(at-p.halved) / int64(r.config.HalfLife)
	p.halved += time.Duration(times) * r.config.HalfLife
	p.totals.Reset()
	for i := r.newest; i != none; i = r.machines[i].older {
		r.machines[i].total >>= min(times, 63)
		p.totals.Insert(float64(r.machines[i].total) / step)
	}
}

// Progress returns a machine's total progress, and the distribution of those of all machines of the record, nil if
// nobody has added any: LATE calls a machine slow whose total is below the 25th percentile. Read it only; it holds
// until the record changes.
func (r *Record) Progress(machine int) (total float64, of *estimate.Empirical) {
	if !r.progress.used {
		return 0, nil
	}
	if i, ok := r.places.get(machine); ok {
		total = float64(r.machines[i].total) / step
	}
	return total, &r.progress.totals
}
