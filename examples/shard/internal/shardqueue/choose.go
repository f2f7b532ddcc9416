package shardqueue

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/skew"
)

const (
	micro   = 1e-6 // seconds; the unit of sizes in a plan
	telling = .5   // seconds; the record of machines ignores a shorter call
	// half x a machine's part of the plan is in a batch: the factor of the paper on factoring.
	half = .5
	// first is the part of the planned time that the first batch of a machine of unknown speed takes, and the longest
	// piece that is given to it. So a slow machine does not begin with the longest piece.
	first = .1
	// overdue is the part of its predicted time that a late batch is taken to need still.
	overdue = .1

	leastWait = 200 * time.Millisecond // before a machine that got nothing asks again
	mostWait  = 2 * time.Second        // after this the machine asks again, whatever was planned
)

// lane is a lane of a machine in a plan.
type lane struct {
	machine int     // nobody: a machine that is expected
	ready   float64 // seconds until the lane is free
	factor  float64
}

// choose returns the pieces for a free lane of a machine, the longest first. If there are none, it returns the time
// after which the machine should ask again.
func (q *Queue) choose(now time.Time, m int) ([]int, time.Duration) {
	lanes := q.lanes(now, m)
	if own := q.waiting(m); own != nil { // a retried machine gets its set again
		return q.share(own, slices.DeleteFunc(lanes, func(l lane) bool { return l.machine != m }), m), 0
	}
	if free := q.waiting(nobody); free != nil {
		if mine := q.share(free, append(lanes, q.expected(now, m)...), m); mine != nil {
			return mine, 0
		}
		if mine := q.share(free, lanes, m); mine != nil { // nobody waits for a machine that may never come
			return mine, 0
		}
	}
	wait := mostWait
	for _, l := range lanes[1:] {
		if l.ready > 0 {
			wait = min(wait, duration(l.ready))
		}
	}
	return nil, max(wait, leastWait)
}

// waiting returns the pieces that wait and are kept for the machine, the longest first.
func (q *Queue) waiting(machine int) (pieces []int) {
	for _, i := range q.order {
		if q.pieces[i].status == waiting && q.pieces[i].kept == machine {
			pieces = append(pieces, i)
		}
	}
	return pieces
}

// factor returns the time of a test on a machine divided by the time on the average machine.
func (q *Queue) factor(m int) float64 { return q.machines[m].factor * q.record.Factor(m) }

// lanes returns the lanes of the machines that are there, first a free lane of the machine that asks. So the machine
// that asks gets a piece if another machine would end it at the same time.
func (q *Queue) lanes(now time.Time, asks int) []lane {
	all := []lane{{machine: asks, factor: q.factor(asks)}}
	free := true
	for m := range q.machines {
		if !q.machines[m].present {
			continue
		}
		for _, at := range q.machines[m].lanes {
			l := lane{machine: m, factor: q.factor(m)}
			if at != nobody {
				b := &q.batches[at]
				whole := float64(b.seconds * l.factor)
				l.ready = max(whole-now.Sub(b.at).Seconds(), float64(whole*overdue))
			} else if m == asks && free {
				free = false
				continue
			}
			all = append(all, l)
		}
	}
	return all
}

// expected returns the lanes of the machines that have not come yet: average machines with as many lanes as the machine
// that asks. A machine that has not come for a time is expected after the same time again.
func (q *Queue) expected(now time.Time, asks int) (all []lane) {
	late := max(now.Sub(q.opened).Seconds(), 0)
	for range (q.config.Machines - len(q.machines)) * len(q.machines[asks].lanes) {
		all = append(all, lane{machine: nobody, ready: late, factor: 1})
	}
	return all
}

// share plans the pieces on the lanes, and returns the first half of the part of the first lane. It returns nil if the
// other lanes end all pieces sooner. A machine of unknown speed gets small pieces, whatever its part.
func (q *Queue) share(pieces []int, lanes []lane, m int) []int {
	problem := skew.Problem{Sizes: make([]int64, max(len(pieces), len(lanes))), Reducers: make([]skew.Reducer, len(lanes))}
	for k, i := range pieces {
		problem.Sizes[k] = int64(math.Round(q.config.Pieces[i].Seconds / micro))
	}
	for k, l := range lanes {
		problem.Reducers[k] = skew.Reducer{Ready: duration(min(l.ready, mostSeconds)), SecondsPerUnit: micro * l.factor}
	}
	plan, err := skew.Assign(problem)
	if err != nil { // only a sum of sizes beyond an int64: then the longest piece is a batch
		return pieces[:1]
	}
	mine, small, sum := []int{}, []int{}, 0.
	for k, i := range pieces {
		s := q.config.Pieces[i].Seconds
		if plan.Reducer[k] == 0 {
			mine = append(mine, i)
			sum += s
		}
		if s <= plan.Seconds*first {
			small = append(small, i)
		}
	}
	switch {
	case len(mine) == 0:
		return nil
	case !q.machines[m].known && len(small) > 0:
		return q.upTo(small, plan.Seconds*first)
	}
	return q.upTo(mine, sum*half)
}

// upTo returns the first of the pieces, and further ones as long as all together take at most the seconds.
func (q *Queue) upTo(pieces []int, seconds float64) []int {
	batch, sum := pieces[:1:1], q.config.Pieces[pieces[0]].Seconds
	for _, i := range pieces[1:] {
		if s := q.config.Pieces[i].Seconds; sum+s <= seconds {
			batch = append(batch, i)
			sum += s
		}
	}
	return batch
}
