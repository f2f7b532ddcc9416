package machines

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// progress is the total progress of each machine, a measure of the LATE paper. Before its first use it costs
// nothing.
type progress struct {
	used   bool
	totals estimate.Empirical
	halved time.Duration
}

// step is the number of units that the progress of a whole task has. Totals are stored as whole numbers of units,
// so their sums are exact.
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

// AddProgress adds to the total progress of a machine. LATE finds slow nodes by this total: "the sum of progress
// scores for all tasks which have succeeded or are in progress" on the node [LATE §4]. While an attempt progresses,
// the host adds positive changes. If the attempt is killed or fails, the host subtracts all that it has added for
// the attempt.
//
// All totals are halved each time that a HalfLife has passed. So a machine that joined late, or was busy with other
// work, can catch up with the others. The paper has one job and no such rule.
//
// A change is rounded to a multiple of 2^-24. The host should round its scores to such multiples before it
// subtracts them from each other. Then machines that have done equal work have equal totals, whatever the sizes of
// their changes. AddProgress reports false and adds nothing for a negative machine, and for a change that is not
// finite or above a million tasks.
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

// halve divides all totals by two for each full HalfLife since the last call. O(m log m) for m machines.
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

// Progress returns the total progress of a machine, in tasks, and the distribution of the totals of all machines.
// LATE calls a machine slow if its total is below the 25th percentile of this distribution. Before the first
// AddProgress, the distribution is nil. The caller must not change the distribution, and must not use it after the
// record has changed.
func (r *Record) Progress(machine int) (total float64, of *estimate.Empirical) {
	if !r.progress.used {
		return 0, nil
	}
	if i, ok := r.places[machine]; ok {
		total = float64(r.machines[i].total) / step
	}
	return total, &r.progress.totals
}
