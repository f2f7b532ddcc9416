package cluster

import (
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// Replication protects the outputs that later phases read against the loss of a machine, by package replicate.
type Replication struct {
	// Losses is the rule that estimates the probability of loss.
	Losses replicate.LossesConfig
	// Bandwidth is the speed of copying an output to another machine of the rack, in bytes per second.
	Bandwidth float64
	// History has the known losses of each machine at the start; nil: none.
	History []Record
	// Ahead computes outputs again before a task needs them; nil: never. It needs Config.LateNotice.
	Ahead *Ahead
}

// copiedShare is the share of the processed bytes that may be copied [Mantri §5.3].
const copiedShare = 0.1

// Record has the number of outputs of a machine, and the number of these that were lost before they were read.
type Record struct{ Outputs, Lost int }

// guard has the outputs of the running jobs. For each job, a graph has the cost to compute each output again.
type guard struct {
	config *Replication
	losses *replicate.Losses
	budget *replicate.ByteBudget
	graphs []*replicate.Graph // one for each job
	node   []int32            // for each task, its node in the graph of its job; none before the task has ended
	ahead  *recomputer        // nil if no output is computed ahead of need
}

func newGuard(s *sim) (*guard, error) {
	if s.c.Replicate == nil {
		return nil, nil
	}
	g := &guard{config: s.c.Replicate, graphs: make([]*replicate.Graph, len(s.jobs)), node: make([]int32, len(s.tasks))}
	for i := range g.node {
		g.node[i] = none
	}
	var err error
	if g.budget, err = replicate.NewByteBudget(copiedShare); err != nil {
		return nil, err
	}
	if g.losses, err = replicate.NewLosses(len(s.machines), g.config.Losses); err != nil {
		return nil, err
	}
	for m, r := range g.config.History {
		g.losses.Produced(epoch, m, r.Outputs)
		g.losses.Lost(epoch, m, r.Lost)
	}
	g.ahead, err = newRecomputer(s, g.config.Ahead)
	return g, err
}

// produced is called for each task that has ended. It decides whether its output gets a replica.
func (s *sim) produced(id int32) {
	p := &s.phases[s.tasks[id].phase]
	bytes, processed := p.output, s.taskFacts(id).Bytes
	s.result.Processed += processed
	g := s.guard
	if g == nil || len(p.outputs) == 0 {
		return
	}
	now, machine := s.clock(), s.tasks[id].machine
	g.losses.Produced(now, int(machine), 1)
	g.budget.Grant(int64(processed))
	loss := g.losses.Probability(now, int(machine))
	node := g.add(s, id, loss)
	machines, targets := g.targets(s, machine, bytes)
	where, d := replicate.DecideTarget(replicate.Candidate{
		Cost: g.graphs[p.job].Cost(int(node)), Bytes: int64(bytes),
	}, targets, g.budget.Left())
	s.tell(p.job, "output of task %d on machine %d: %v", id-p.first, machine, d)
	if d.Action == replicate.Replicate && g.budget.Spend(int64(bytes)) {
		s.tasks[id].replica = machines[where]
		s.result.Replicas++
		s.result.Replicated += bytes
		g.graphs[p.job].SetLoss(int(node), replicate.AllLost(loss, g.losses.Probability(now, int(s.tasks[id].replica))))
	}
}

// add adds the output of a task to the graph of its job.
func (g *guard) add(s *sim, id int32, loss float64) int32 {
	p := &s.phases[s.tasks[id].phase]
	if g.graphs[p.job] == nil {
		g.graphs[p.job] = new(replicate.Graph)
	}
	if n := g.node[id]; n != none {
		g.graphs[p.job].SetLoss(int(n), loss)
		return n
	}
	out := replicate.Output{Run: time.Duration(s.taskFacts(id).Seconds * float64(time.Second)), Loss: loss}
	for _, in := range p.inputs {
		for t := s.phases[in].first; t < s.phases[in].end; t++ {
			if g.node[t] != none {
				out.Inputs = append(out.Inputs, int(g.node[t]))
			}
		}
	}
	n, err := g.graphs[p.job].Add(out)
	if err != nil {
		return 0
	}
	g.node[id] = int32(n)
	return int32(n)
}

func (g *guard) copyTime(bytes float64) time.Duration {
	if g.config.Bandwidth == 0 {
		return 0
	}
	return time.Duration(bytes / g.config.Bandwidth * float64(time.Second))
}

// targets returns the machines that may store a replica: the other machines of the rack.
func (g *guard) targets(s *sim, machine int32, bytes float64) (machines []int32, targets []replicate.Target) {
	for m := range s.machines {
		if int32(m) != machine && s.machines[m].rack == s.machines[machine].rack {
			machines = append(machines, int32(m))
			targets = append(targets, replicate.Target{CopyTime: g.copyTime(bytes), Loss: g.losses.Probability(s.clock(), m)})
		}
	}
	return machines, targets
}

// lose removes the outputs on a machine that are still to be read. Config.LateNotice decides when the loss is
// noticed.
func (s *sim) lose(machine int32) {
	for id := range s.tasks {
		t := &s.tasks[id]
		if t.replica == machine {
			t.replica, t.ahead = none, false
		}
		if !t.done || t.machine != machine || t.gone || !s.stillRead(t.phase) {
			continue
		}
		if t.gone = true; !s.c.LateNotice || s.isRead(t.phase) {
			s.miss(int32(id))
		}
	}
}

// discover notices the lost inputs of a phase that could begin. It reports whether no input is lost.
func (s *sim) discover(p *phase) bool {
	if !s.c.LateNotice {
		return true
	}
	before := p.missing
	for _, in := range p.inputs {
		for t := s.phases[in].first; t < s.phases[in].end; t++ {
			if s.tasks[t].gone {
				s.miss(t)
			}
		}
	}
	if p.missing > before {
		return false
	}
	for _, in := range p.inputs {
		for t := s.phases[in].first; t < s.phases[in].end; t++ {
			if s.tasks[t].done {
				s.ahead().found(s, t)
			}
		}
	}
	return true
}

// miss notices that an output is lost. A replica is read instead if there is one. Otherwise the output is computed
// again, and its readers wait.
func (s *sim) miss(id int32) {
	t := &s.tasks[id]
	p := &s.phases[t.phase]
	machine := t.machine
	t.gone = false
	if s.guard != nil {
		s.guard.losses.Lost(s.clock(), int(machine), 1)
		s.ahead().lost(s, machine)
	}
	if t.replica != none {
		s.result.Saved++
		if t.ahead {
			s.result.AheadSaved++
		}
		t.machine, t.replica = t.replica, none
		return
	}
	s.result.Recomputed++
	t.done, t.machine = false, none
	s.assigner.lost(s, id)
	p.unfinished++
	if p.over {
		p.over = false
		s.jobs[p.job].left++
	}
	if p.watch != nil {
		p.watch.tracker.LoseOutput(s.clock(), int(id-p.first))
	}
	s.tell(p.job, "the output of task %d was lost with machine %d", id-p.first, machine)
	for _, o := range p.outputs {
		s.inputLost(o, id)
	}
	if s.ahead().takeOver(s, id) {
		return
	}
	if t.missing == 0 { // otherwise it starts when its own inputs are there again
		s.owe(id)
		s.want(p.job)
	}
}

func (s *sim) stillRead(id int32) bool {
	for _, o := range s.phases[id].outputs {
		if s.phases[o].unfinished > 0 {
			return true
		}
	}
	return false
}

// isRead reports whether a phase that reads the outputs of a phase has begun and not ended.
func (s *sim) isRead(id int32) bool {
	for _, o := range s.phases[id].outputs {
		if s.phases[o].open && s.phases[o].unfinished > 0 {
			return true
		}
	}
	return false
}

// inputLost tells a phase that a task of one of its input phases runs again. Attempts that have not read all input
// wait in their slots, as Hadoop's reduces do. If the lost task needs such a slot itself, the attempts give up their
// slots.
func (s *sim) inputLost(id, input int32) {
	p := &s.phases[id]
	s.assigner.dissolve(s, p)
	p.missing++
	switch {
	case !p.open:
	case p.perTask:
		s.eachReader(id, input, func(t int32) {
			s.tasks[t].missing++ // also for a task that has ended, because its own output may be lost, too
			if !s.tasks[t].done {
				s.sendBack(t)
			}
		})
	case s.kindOf(id) == s.kindOf(s.tasks[input].phase):
		for t := p.first; t < p.end; t++ {
			if s.sendBack(t) {
				s.owe(t)
			}
		}
	}
}

// sendBack removes a task that has not read all input from its slots and from the queue. It reports whether it did.
func (s *sim) sendBack(id int32) bool {
	t := &s.tasks[id]
	if s.hasReadAll(id) {
		return false
	}
	sent := t.first != none || t.owed > 0
	for t.first != none {
		s.tellKill(t.first)
		s.result.SentBack++
		s.waste(t.first)
	}
	s.disown(id)
	return sent
}

// hasReadAll reports whether an attempt of a task has read all input.
func (s *sim) hasReadAll(id int32) bool {
	for at := s.tasks[id].first; at != none; at = s.copies[at].sibling {
		if s.copies[at].stage >= queues {
			return true
		}
	}
	return false
}

// outputOf returns the size of the output of each task of a phase: the bytes that later phases read, in equal parts.
func (s *sim) outputOf(p *phase) float64 {
	bytes := 0.0
	for _, o := range p.outputs {
		read := 0.0
		for _, t := range s.factsOf(o).Tasks {
			read += t.Bytes
		}
		bytes += read / float64(s.inputTasks(&s.phases[o]))
	}
	return bytes
}
