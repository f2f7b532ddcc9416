package cluster

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/laxity/outlier"
)

// overload finds, once a second, the machines on which a job with a deadline is much later than on its other
// machines, by packages laxity and laxity/outlier. Such a machine gets no more tasks of the job. Tasks that wait for
// such a machine may go elsewhere, if this makes fewer tasks late [DynamicShare §3.3].
type overload struct {
	detector *outlier.Detector
	named    [][]int32 // overloaded machines of each job
	tasks    []laxity.Task
	verdicts []outlier.Verdict
	moves    []laxity.Transfer
}

func newOverload(s *sim) (*overload, error) {
	if s.c.Overload == nil {
		return nil, nil
	}
	detector, err := outlier.NewDetector(*s.c.Overload)
	s.queue.Push(watchEvery, overloads, 0, 0)
	return &overload{detector: detector, named: make([][]int32, len(s.jobs))}, err
}

// shuns reports whether a machine should get no more tasks of a job for now.
func (o *overload) shuns(job, machine int32) bool {
	return o != nil && slices.Contains(o.named[job], machine)
}

func (o *overload) turn(s *sim) {
	s.queue.Push(s.now+watchEvery, overloads, 0, 0)
	for id := range s.jobs {
		if j := &s.jobs[id]; j.come && j.left > 0 && s.c.Jobs[id].Deadline > 0 {
			o.look(s, int32(id))
		}
	}
}

// look finds the machines that are overloaded with a job.
func (o *overload) look(s *sim, job int32) {
	o.tasks = o.tasks[:0]
	s.eachOnWorker(job, func(_, machine int32, left time.Duration, _ bool) {
		o.tasks = append(o.tasks, laxity.Task{
			Worker: int(machine), UntilDeadline: s.c.Jobs[job].Deadline - s.now, Remaining: left,
		})
	})
	workers, err := laxity.PerWorker(o.tasks, len(s.machines))
	if err != nil {
		s.err = err
		return
	}
	least := make([]time.Duration, len(workers))
	for i, w := range workers {
		least[i] = w.Least
	}
	o.verdicts = o.detector.Detect(o.verdicts[:0], least)
	if len(o.named[job]) > 0 {
		s.want(job) // it may decline fewer slots than before
	}
	o.named[job] = o.named[job][:0]
	for machine, v := range o.verdicts {
		if v.Overloaded {
			s.result.Overloaded++
			o.named[job] = append(o.named[job], int32(machine))
			s.tell(job, "machine %d: %v", machine, v)
			o.unload(s, job, int32(machine))
		}
	}
}

// unload lets tasks of a job that wait for an overloaded machine go elsewhere.
func (o *overload) unload(s *sim, job, machine int32) {
	var ids []int32
	var pending []laxity.Pending
	s.eachOnWorker(job, func(task, on int32, left time.Duration, started bool) {
		if on == machine {
			ids = append(ids, task)
			pending = append(pending, laxity.Pending{
				UntilDeadline: s.c.Jobs[job].Deadline - s.now, Remaining: left, Started: started,
				EndElsewhere: s.usually(task),
			})
		}
	})
	o.moves = laxity.Offload(o.moves[:0], pending)
	for i, m := range o.moves {
		if m.Move {
			s.result.Offloaded++
			p := &s.phases[s.tasks[ids[i]].phase]
			s.tell(job, "task %d, which waits for machine %d: %v", ids[i]-p.first, machine, m)
			s.unbind(ids[i])
			s.want(job)
		}
	}
}

// eachOnWorker calls f with each task of a job that runs on a machine, or that waits for a machine for which its size
// was chosen, and with its remaining time there.
func (s *sim) eachOnWorker(job int32, f func(task, machine int32, left time.Duration, started bool)) {
	for id := s.jobs[job].phases[0]; id < s.jobs[job].phases[1]; id++ {
		p := &s.phases[id]
		if !p.open || p.unfinished == 0 {
			continue
		}
		for t := p.first; t < p.end; t++ {
			if at := s.tasks[t].first; at != none {
				c := &s.copies[at]
				f(t, c.machine, estimate.TimeLeft(s.score(at), s.now-c.begun), true)
			} else if p.bound != nil && p.bound[t-p.first] != none && s.tasks[t].owed > 0 {
				machine := p.bound[t-p.first]
				left := s.usually(t)
				if left != estimate.Unknown {
					left = s.freeIn(machine, p.facts.Kind) + time.Duration(float64(left)*s.slowness(machine))
				}
				f(t, machine, left, false)
			}
		}
	}
}

// usually returns the time of a task on a usual machine, from earlier runs, or otherwise from its work.
func (s *sim) usually(task int32) time.Duration {
	t := s.taskFacts(task)
	if known := s.forecast.of(s.kindOf(s.tasks[task].phase), t); known != estimate.Unknown {
		return known
	}
	return time.Duration(t.Seconds * float64(time.Second))
}
