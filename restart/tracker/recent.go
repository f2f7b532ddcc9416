package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// recent lists what a growing phase has learnt from attempts that have ended lately. When an attempt has ended too long
// ago, or too many have ended since, the parts forget what they learnt from it. The run times and the trials of a growing
// phase are in a [Knowledge], which forgets by itself.
type recent struct {
	within time.Duration // Config.Recent; 0 in a phase of a fixed number of tasks
	learnt ring[learnt]
}

// learnt is what the parts have learnt from an attempt that has ended.
type learnt struct {
	at      time.Duration
	sample  int32 // id of its sample in the distribution of unit times, or estimate.NoSample
	success bool  // the attempt has ended with success; otherwise it was killed
	machine int32 // index of its machine, or none
	figures figures
}

// mostRecent is the largest number of attempts that have ended from which a growing phase has learnt. The mean of 4096
// samples has a relative error of a 64th, if the standard deviation of times is as large as their mean.
const mostRecent = 1 << 12

// grows reports whether the phase is a growing phase.
func (r *recent) grows() bool { return r.within > 0 }

// note records what was learnt from an attempt.
func (r *recent) note(l learnt) { r.learnt.push(l) }

// next removes the attempt that is to be forgotten first, and returns what was learnt from it. It returns false if
// no attempt is to be forgotten now.
func (r *recent) next(now time.Duration) (l learnt, is bool) {
	if r.learnt.n == 0 || r.learnt.n <= mostRecent && now-r.learnt.at(0).at <= r.within {
		return learnt{}, false
	}
	return r.learnt.pop(), true
}

// The methods below are those of a phase that grows.

// add adds a task, and returns its index; none if the phase has a fixed number of tasks.
func (x *phase) add(work float64) int {
	if !x.recent.grows() || x.book.rows.next >= maxTasks {
		x.ledger.Ignored++
		return none
	}
	return x.book.add(x.forecast.workOf(work))
}

// forget forgets a task. Its attempts count as killed.
func (x *phase) forget(row int) {
	if s := x.book.task(row); s == nil || !x.recent.grows() {
		x.ledger.Ignored++
		return
	}
	x.endAll(row)
	if h := x.book.past(&x.book.tasks[row]); h != nil && h.killed.sample != estimate.NoSample {
		x.recent.note(learnt{at: x.book.now, sample: h.killed.sample, machine: none})
	}
	x.book.forget(int32(row))
}

// expire forgets the tasks and attempts that have ended too long ago.
func (x *phase) expire() {
	if !x.recent.grows() {
		return
	}
	for range x.book.expire(x.book.now - x.recent.within) {
		x.peers.addScore(1, 0)
	}
	for l, is := x.recent.next(x.book.now); is; l, is = x.recent.next(x.book.now) {
		x.forecast.rates.Drop(int(l.sample))
		if l.success {
			x.fleet.forget(l.machine)
			x.peers.forget(l.figures, x.recent.learnt.n == 0)
		}
	}
}
