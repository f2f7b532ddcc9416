package cluster

import (
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// watch connects one phase with package restart. It tells a tracker about the attempts, and carries out the answers.
type watch struct {
	tracker *tracker.Tracker
	slots   int // number of slots that the tracker knows
}

// watchPhase creates the watch of a phase, if there is a policy.
func (s *sim) watchPhase(id int32, facts *Phase) {
	if s.c.Restart == nil || s.c.Interval <= 0 {
		return
	}
	p := &s.phases[id]
	work := make([]float64, len(facts.Tasks))
	for i, t := range facts.Tasks {
		work[i] = workOf(&t)
	}
	t, err := tracker.New(tracker.Config{
		Work: work, Slots: s.total[facts.Kind], Machines: len(s.machines), Interval: s.c.Interval, Lag: s.c.Lag,
		Policy: s.c.Restart, Limits: published.Limits(s.c.Restart), Knowledge: s.knowledge,
	})
	if err != nil {
		s.err = err
		return
	}
	p.watch = &watch{t, s.total[facts.Kind]}
}

// workOf returns the size of a task as the host knows it; 1 if it is unknown, so that all tasks are equal.
func workOf(t *Task) float64 {
	if t.Work > 0 {
		return t.Work
	}
	return 1
}

// mayUse tells the tracker the number of slots that the phase has and could have, if the number has changed.
func (w *watch) mayUse(slots int) {
	if slots != w.slots {
		w.tracker.SetSlots(slots)
		w.slots = slots
	}
}

// report tells the tracker of a progress report, and carries out the answer.
func (w *watch) report(s *sim, id, at int32, score float64) {
	c := &s.copies[at]
	p := &s.phases[id]
	w.mayUse(int(p.running) + s.free[c.kind])
	task := c.task - p.first
	d := w.tracker.Report(s.clock(), int(task), int(c.attempt), tracker.Report{Score: score})
	if int(p.job) == s.c.Explain-1 { // most calls are reports, so their lines are not even prepared for other jobs
		s.tell(p.job, "task %d: attempt %d is at %.1f %%: %v", task, c.attempt, 100*score, d)
	}
	if d.Reason == restart.NoFreeSlot {
		s.wish(id) // the next slot may be for a copy
	}
	w.act(s, id, task, &d)
}

// act carries out a decision about a running task. A copy starts when there is a slot for it.
func (w *watch) act(s *sim, id, task int32, d *tracker.Answer) {
	p := &s.phases[id]
	switch d.Action {
	case restart.Restart, restart.Kill:
		at := s.copyOf(id, task, int32(d.Attempt))
		if at == none {
			return
		}
		if d.Action == restart.Restart {
			w.tracker.Restart(s.clock(), int(task), d.Attempt)
			s.result.Restarted++
			s.tasks[p.first+task].would = s.ends(at)
		} else {
			w.tracker.Kill(s.clock(), int(task), d.Attempt)
			s.result.Pruned++
		}
		s.kill(at, false)
	case restart.Copy:
		s.wish(id)
		s.want(p.job)
	}
}

// takes asks for the best use of a slot on a machine, and reports whether a copy was started. Which waiting task
// starts is not asked here, because it depends on the place of the data.
func (w *watch) takes(s *sim, id, machine int32) bool {
	p := &s.phases[id]
	for p.wishes {
		kind := s.kindOf(id)
		w.mayUse(int(p.running) + s.free[kind])
		d := w.tracker.Next(s.clock(), int(machine))
		switch d.Action {
		case restart.Copy:
			s.tell(p.job, "task %d: a slot on machine %d: %v", d.Task, machine, d)
			t := p.first + int32(d.Task)
			s.launch(t, machine, s.levelOf(t, machine), true)
			return true
		case restart.Restart, restart.Kill:
			w.act(s, id, int32(d.Task), &d)
		default:
			if d.Reason != restart.SameMachine && d.Reason != restart.SlowMachine {
				s.wishNothing(id)
			}
			return false
		}
	}
	return false
}

// wish marks a phase with a running task that should get a copy.
func (s *sim) wish(id int32) {
	p := &s.phases[id]
	kind := s.kindOf(id)
	if !p.wishes {
		p.wishes = true
		s.jobs[p.job].wishes[kind]++
		s.touch(p.job)
	}
}

func (s *sim) wishNothing(id int32) {
	if p := &s.phases[id]; p.wishes {
		p.wishes = false
		s.jobs[p.job].wishes[s.kindOf(id)]--
		s.touch(p.job)
	}
}

// copyOf returns the place of a running attempt of a task; none if it has ended.
func (s *sim) copyOf(id, task, attempt int32) int32 {
	for at := s.tasks[s.phases[id].first+task].first; at != none; at = s.copies[at].sibling {
		if s.copies[at].attempt == attempt {
			return at
		}
	}
	return none
}
