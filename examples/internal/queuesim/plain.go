package queuesim

import (
	"slices"
	"strconv"
	"time"
)

// plain is the plain queue: workers take any job, and a failed job runs again.
type plain struct{}

func (plain) start(q *queue) error {
	for i := range q.left {
		q.insert(strconv.Itoa(i), i, anyWorker, 0)
	}
	return nil
}

func (plain) ended(q *queue, j *job) {
	switch {
	case j.state == succeeded && q.results[j.task] == nil:
		q.publish(j)
	case j.state == failed && q.results[j.task] == nil && j.tries < Tries:
		j.state, j.since = waits, q.now+q.backOff(j.task, j.tries)
		j.ready = j.since
	}
}

func (plain) over(q *queue) bool { return q.idle() }

func (plain) goesOn() bool { return false }

// naive copies attempts that run for over twice the median.
type naive struct{ plain }

func (n naive) start(q *queue) error {
	q.each(NaiveEvery, NaiveEvery, func() { n.looks(q) })
	if q.SecondCoordinator > 0 {
		q.each(q.SecondCoordinator+NaiveEvery/2, NaiveEvery, func() { n.looks(q) })
	}
	return n.plain.start(q)
}

// looks applies the rule. All its state is in the table.
func (naive) looks(q *queue) {
	for _, at := range q.CoordinatorKilled {
		if (Span{at, at + RestartTakes}).holds(q.now) {
			return
		}
	}
	var took []time.Duration
	for _, j := range q.results {
		if j != nil {
			took = append(took, j.ended-j.begun)
		}
	}
	slices.Sort(took)
	for _, j := range slices.Clone(q.jobs) {
		switch {
		case q.results[j.task] != nil && j.state <= runs:
			q.cancel(j)
		case j.state == runs && len(took) >= NaiveEnded && q.now-j.begun > NaiveTimes*took[len(took)/2]:
			q.insert("copy of "+strconv.Itoa(j.task), j.task, anyWorker, q.now)
		}
	}
}

// over returns false while a copy may still be made of an attempt that will never end by itself.
func (n naive) over(q *queue) bool {
	return q.idle() && !slices.ContainsFunc(q.jobs, func(j *job) bool {
		return j.state == runs && q.find("copy of "+strconv.Itoa(j.task)) == nil
	})
}
