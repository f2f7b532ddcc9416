package cluster

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// Ahead computes outputs again before a task needs them, on machines that have begun to lose outputs [Mantri §5.3].
// Package replicate finds these machines (LossBursts), and the outputs that are worth the time (ChooseRecompute).
type Ahead struct {
	// Bursts is the rule that finds machines that have begun to lose outputs.
	Bursts replicate.LossBurstsConfig
	// Share is the share of the time of finished tasks that may be used; 0 is the default of the library.
	Share float64
}

// recomputer runs tasks again if their outputs are likely to be lost. Such a run is an attempt of a task that has
// ended. It uses a slot, and its output becomes the replica of the task's output.
type recomputer struct {
	bursts *replicate.LossBursts
	budget *replicate.TimeBudget
	losing []int32 // machines in a burst with outputs that were not yet checked
	queue  []int32 // tasks to run again when a slot is free
	runs   []int32 // running attempts that compute ahead of need
	queued []bool  // by task
	ids    []int32
	risks  []replicate.AtRisk
	chosen []int
}

func newRecomputer(s *sim, a *Ahead) (*recomputer, error) {
	if a == nil {
		return nil, nil
	}
	bursts, err := replicate.NewLossBursts(len(s.machines), a.Bursts)
	if err != nil {
		return nil, err
	}
	budget, err := replicate.NewTimeBudget(a.Share)
	return &recomputer{bursts: bursts, budget: budget, queued: make([]bool, len(s.tasks))}, err
}

// ahead returns the recomputer, or nil.
func (s *sim) ahead() *recomputer {
	if s.guard == nil {
		return nil
	}
	return s.guard.ahead
}

// grant adds the time of an attempt that has ended its task to the budget.
func (r *recomputer) grant(used time.Duration) {
	if r != nil {
		r.budget.Grant(used)
	}
}

// lost records that an output was needed and was lost.
func (r *recomputer) lost(s *sim, machine int32) {
	if r != nil && r.bursts.Lost(s.clock(), int(machine)) {
		r.losing = append(r.losing, machine)
	}
}

// found records that an output was needed and was there.
func (r *recomputer) found(s *sim, id int32) {
	if r != nil && !s.tasks[id].ahead {
		r.bursts.Found(s.clock(), int(s.tasks[id].machine))
	}
}

// turn decides about the outputs on machines that lose outputs, and gives free slots to the tasks that run again.
func (r *recomputer) turn(s *sim) {
	if r == nil {
		return
	}
	for _, machine := range r.losing {
		r.choose(s, machine)
	}
	r.losing = r.losing[:0]
	waiting := r.queue[:0]
	for _, id := range r.queue {
		switch machine := r.slotFor(s, id); {
		case !r.inDanger(s, id):
			r.queued[id] = false
		case machine == none:
			waiting = append(waiting, id)
		default:
			r.launch(s, id, machine)
		}
	}
	r.queue = waiting
}

// choose asks which outputs on a machine are worth computing again.
func (r *recomputer) choose(s *sim, machine int32) {
	missing, active := r.bursts.Missing(s.clock(), int(machine))
	if !active {
		return
	}
	r.ids, r.risks = r.ids[:0], r.risks[:0]
	for id := range s.tasks {
		t := &s.tasks[id]
		if t.machine != machine || r.queued[id] || !r.inDanger(s, int32(id)) || s.guard.node[id] == none {
			continue
		}
		risk := replicate.AtRisk{
			Cost:    s.guard.graphs[s.phases[t.phase].job].Cost(int(s.guard.node[id])),
			Missing: missing, Readers: r.readers(s, t.phase),
		}
		if t.replica != none {
			risk.Copies = 1
		}
		r.ids, r.risks = append(r.ids, int32(id)), append(r.risks, risk)
	}
	r.chosen = replicate.ChooseRecompute(r.chosen[:0], r.risks, r.budget.Left())
	for _, i := range r.chosen {
		if id := r.ids[i]; r.budget.Spend(r.risks[i].Cost.ClusterTime) {
			r.queue, r.queued[id] = append(r.queue, id), true
		}
	}
}

// readers returns the number of tasks that have not read the outputs of a phase.
func (r *recomputer) readers(s *sim, id int32) (n int) {
	for _, o := range s.phases[id].outputs {
		for t := s.phases[o].first; t < s.phases[o].end; t++ {
			if !s.tasks[t].done && !s.hasReadAll(t) {
				n++
			}
		}
	}
	return n
}

// inDanger reports whether a task has ended, its output is on one machine only, a task has still to read the output,
// and all its own input is there.
func (r *recomputer) inDanger(s *sim, id int32) bool {
	t := &s.tasks[id]
	return t.done && t.replica == none && t.missing == 0 && s.phases[t.phase].missing == 0 && s.stillRead(t.phase)
}

// slotFor returns a machine with a free slot for a task. It is not the machine with the output, and not a machine
// that loses outputs.
func (r *recomputer) slotFor(s *sim, id int32) int32 {
	t := &s.tasks[id]
	for _, m := range s.idle[s.kindOf(t.phase)] {
		if m != t.machine && !r.bursts.Active(s.clock(), int(m)) {
			return m
		}
	}
	return none
}

// launch runs an ended task again. Reading and computing are one stage, without links between racks.
func (r *recomputer) launch(s *sim, id, machine int32) {
	t := &s.tasks[id]
	p := &s.phases[t.phase]
	at := s.occupy(copyOf{task: id, machine: machine, sibling: none, worked: s.now, kept: true, ahead: true})
	c := &s.copies[at]
	s.result.Ahead++
	r.runs = append(r.runs, at)
	s.tell(p.job, "task %d runs again on machine %d, before its output on machine %d is asked for", id-p.first, machine, t.machine)
	s.enter(at, works, c.reading+c.working)
	s.spread(machine)
}

// ended makes the output of a run ahead of need the replica of its task.
func (r *recomputer) ended(s *sim, at int32) {
	c := s.copies[at]
	r.drop(s, at)
	if t := &s.tasks[c.task]; t.done && t.replica == none {
		t.replica, t.ahead = c.machine, true
		g := s.guard
		g.graphs[s.phases[c.phase].job].SetLoss(int(g.node[c.task]), replicate.AllLost(
			g.losses.Probability(s.clock(), int(t.machine)), g.losses.Probability(s.clock(), int(c.machine))))
	}
}

// drop ends a run ahead of need.
func (r *recomputer) drop(s *sim, at int32) {
	c := s.copies[at]
	r.forget(at)
	r.queued[c.task] = false
	s.result.AheadTime += s.now - c.begun
	s.waste(at)
}

// forget removes an attempt from the list of runs ahead of need.
func (r *recomputer) forget(at int32) {
	r.runs = slices.DeleteFunc(r.runs, func(run int32) bool { return run == at })
}

// sweep ends the runs with an output that no task will read.
func (r *recomputer) sweep(s *sim) {
	if r == nil {
		return
	}
	for i := len(r.runs) - 1; i >= 0; i-- {
		if at := r.runs[i]; !s.tasks[s.copies[at].task].done || !s.stillRead(s.copies[at].phase) {
			r.drop(s, at)
		}
	}
}

// takeOver makes the run of a task with a lost output an ordinary attempt. It reports whether there was such a run.
func (r *recomputer) takeOver(s *sim, id int32) bool {
	if r == nil {
		return false
	}
	i := slices.IndexFunc(r.runs, func(at int32) bool { return s.copies[at].task == id })
	if i < 0 {
		return false
	}
	at, t := r.runs[i], &s.tasks[id]
	c := &s.copies[at]
	r.forget(at)
	r.queued[id] = false
	c.kept, c.ahead, c.sibling = false, false, t.first
	t.first = at
	t.copies++
	s.result.AheadLate++
	if p := &s.phases[c.phase]; p.watch != nil {
		c.attempt = int32(p.watch.tracker.Start(s.clock(), int(id-p.first), int(c.machine)))
		s.queue.Push(s.now+s.c.Interval, reports, at, c.life)
	}
	return true
}
