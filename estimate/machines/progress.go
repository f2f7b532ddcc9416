package machines

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// progress is LATE's total progress of the machines. The record of progress costs nothing until its first use.
type progress struct {
	used   bool
	totals estimate.Empirical
	halved time.Duration
}

// step is the number of units in the progress of a whole task. Totals are whole numbers of units, so their sums are
// exact.
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

// AddProgress adds to a machine's total progress. LATE finds slow nodes by this total: "the sum of progress scores
// for all tasks which have succeeded or are in progress" on the node [LATE §4]. The change is positive as an
// attempt progresses. If the attempt is killed or fails, the host subtracts all that it has added.
//
// Totals are halved once in a HalfLife, so that a machine that joined late, or was busy elsewhere, can catch up;
// the paper has one job and no such rule. A change is rounded to a multiple of 2^-24. The host should round its
// scores to such multiples before it takes their difference. Then machines that have done equal work compare equal,
// whatever the sizes of their changes. AddProgress reports false for a negative machine and for a change that is
// not finite or above a million tasks.
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

// halve halves the totals once for each HalfLife that has passed. O(m log m).
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

// Progress returns a machine's total progress, and the distribution of the totals of all machines. LATE calls a
// machine slow if its total is below the 25th percentile. The distribution is nil before the first AddProgress. The
// caller must not change it, and it is valid until the record changes.
func (r *Record) Progress(machine int) (total float64, of *estimate.Empirical) {
	if !r.progress.used {
		return 0, nil
	}
	if i, ok := r.places[machine]; ok {
		total = float64(r.machines[i].total) / step
	}
	return total, &r.progress.totals
}
