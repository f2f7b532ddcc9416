package cluster

import (
	"time"

	"github.com/straggler-go/straggler/laxity"
)

// laxityOrder gives slots to jobs by package laxity: the job with the least time to spare is first. A job is in the
// queue while it wants a slot. overload.go finds the machines that are too loaded for a deadline.
type laxityOrder struct {
	s      *sim
	queue  [kinds]*laxity.Queue
	ticket [kinds][]int // ticket of each job in the queue; -1 if it is not in the queue
	job    [kinds][]int32
}

func newLaxityOrder(s *sim) (*laxityOrder, error) {
	o := &laxityOrder{s: s}
	for k := range o.queue {
		q, err := laxity.NewQueue(*s.c.Order.Laxity)
		if err != nil {
			return nil, err
		}
		o.queue[k], o.ticket[k] = q, make([]int, len(s.c.Jobs))
		for i := range o.ticket[k] {
			o.ticket[k][i] = -1
		}
	}
	return o, nil
}

// facts returns the facts about a job: the time to its deadline, and its remaining time, which is the sum of the
// longest tasks of its phases that have not ended [DynamicShare §3.2].
func (o *laxityOrder) facts(job int32) laxity.Job {
	left := laxity.NoDeadline
	if d := o.s.c.Jobs[job].Deadline; d > 0 {
		left = d - o.s.now
	}
	need, j := time.Duration(0), &o.s.jobs[job]
	for p := j.phases[0]; p < j.phases[1]; p++ {
		if o.s.phases[p].unfinished > 0 {
			need += o.s.longest(p)
		}
	}
	return laxity.Job{UntilDeadline: left, Projected: need}
}

// longest returns the predicted time of a phase's longest task, or without a prediction its time at speed 1 without
// luck.
func (s *sim) longest(p int32) time.Duration {
	if known := s.phases[p].projected; known > 0 {
		return known
	}
	most := 0.0
	facts := s.factsOf(p)
	for _, t := range facts.Tasks {
		most = max(most, t.Seconds)
	}
	return time.Duration(most * float64(time.Second))
}

func (o *laxityOrder) leave(job int32) {
	for k := range o.queue {
		o.remove(job, Kind(k))
	}
}

func (o *laxityOrder) took(int32, Kind) {}
func (o *laxityOrder) gave(int32, Kind) {}

func (o *laxityOrder) update(job int32, kind Kind, _, wants int32) {
	switch in := o.ticket[kind][job] >= 0; {
	case wants == 0 && in:
		o.remove(job, kind)
	case wants > 0 && in:
		o.queue[kind].Update(o.s.clock(), o.ticket[kind][job], o.facts(job))
	case wants > 0:
		o.push(job, kind)
	}
}

func (o *laxityOrder) push(job int32, kind Kind) {
	t := o.queue[kind].Push(o.s.clock(), o.facts(job))
	o.ticket[kind][job] = t
	for len(o.job[kind]) <= t {
		o.job[kind] = append(o.job[kind], none)
	}
	o.job[kind][t] = job
}

func (o *laxityOrder) remove(job int32, kind Kind) {
	if t := o.ticket[kind][job]; t >= 0 {
		o.queue[kind].Remove(t)
		o.ticket[kind][job] = -1
	}
}

func (o *laxityOrder) next(kind Kind) (int32, bool) {
	choice, ok := o.queue[kind].Peek(o.s.clock())
	if !ok {
		return 0, false
	}
	job := o.job[kind][choice.Ticket]
	o.s.tell(job, "next for a %v slot: %v", kind, choice)
	return job, true
}

func (o *laxityOrder) hold(job int32, kind Kind, on bool) {
	if on {
		o.remove(job, kind)
	} else if o.ticket[kind][job] < 0 {
		o.push(job, kind)
	}
}

func (o *laxityOrder) wants(kind Kind) bool { return o.queue[kind].Len() > 0 }
