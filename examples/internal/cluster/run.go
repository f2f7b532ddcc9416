package cluster

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// epoch is the instant 0 of the simulation as a time.Time, for the calls of the library.
var epoch = time.Unix(0, 0)

func (s *sim) clock() time.Time { return s.today }

// Run simulates until the last job has ended, or until Config.Until. It returns an error if a package of the library refuses
// its configuration or a call, or if nothing happens any more. The caller answers for the rest of the configuration.
func Run(c Config) (Result, error) {
	s, err := newSim(&c)
	if err != nil {
		return Result{}, err
	}
	for s.left > 0 {
		if at, ok := s.queue.Next(); ok && c.Until > 0 && at > c.Until {
			break
		}
		if !s.step() {
			return s.result, fmt.Errorf("cluster: at %v nothing happens any more, and %d jobs have not ended", s.now, s.left)
		}
		if s.err != nil {
			return s.result, fmt.Errorf("cluster: at %v: %w", s.now, s.err)
		}
	}
	s.finish()
	return s.result, nil
}

// step handles all events of the next instant. It returns false if there are none.
func (s *sim) step() bool {
	at, ok := s.queue.Next()
	if !ok {
		return false
	}
	s.now, s.today = at, epoch.Add(at)
	for ok && at == s.now {
		e, _ := s.queue.Pop()
		s.handle(e)
		at, ok = s.queue.Next()
	}
	s.settle()
	s.ahead().turn(s)
	s.offer()
	s.settle()
	return true
}

func newSim(c *Config) (*sim, error) {
	s := &sim{c: c, today: epoch, draws: des.NewDraws(c.Seed), net: newNetwork(c), left: len(c.Jobs)}
	s.setMachines()
	s.setJobs()
	if err := s.setAdapters(); err != nil {
		return nil, err
	}
	s.result.Jobs = make([]JobResult, len(c.Jobs))
	for i, j := range c.Jobs {
		if j.Follows == 0 {
			s.queue.Push(j.At, jobComes, int32(i), 0)
		}
	}
	return s, nil
}

func (s *sim) setMachines() {
	s.machines = make([]machine, len(s.c.Machines))
	for i, m := range s.c.Machines {
		speed := m.Speed
		if speed == 0 {
			speed = 1
		}
		s.machines[i] = machine{rack: int32(m.Rack), first: none, rate: speed, spell: 1}
		for k, n := range m.Slots {
			s.machines[i].free[k] = int32(n)
			s.machines[i].place[k] = none
			s.free[k] += n
			s.total[k] += n
			if n > 0 {
				s.rest(int32(i), Kind(k))
			}
		}
		for n, spell := range m.Slow {
			s.queue.Push(spell.At, speedTurns, int32(i), uint32(2*n))
			s.queue.Push(spell.At+spell.For, speedTurns, int32(i), uint32(2*n+1))
		}
		for _, at := range m.Loses {
			s.queue.Push(at, outputLost, int32(i), 0)
		}
		s.spread(int32(i))
		s.load(int32(i))
	}
}

func (s *sim) setJobs() {
	s.jobs = make([]job, len(s.c.Jobs))
	for i, j := range s.c.Jobs {
		first := int32(len(s.phases))
		for k := range j.Phases {
			p := &j.Phases[k]
			begin := int32(len(s.tasks))
			for range p.Tasks {
				s.tasks = append(s.tasks, task{phase: int32(len(s.phases)), first: none, machine: none, replica: none})
			}
			state := phase{
				facts: ownFacts(p), job: int32(i), first: begin, end: int32(len(s.tasks)), unfinished: int32(len(p.Tasks)), clones: 1,
				perTask: len(p.After) > 0 && p.Pattern != 0,
			}
			for _, a := range p.After {
				input := first + int32(a)
				state.inputs = append(state.inputs, input)
				state.missing += int32(len(j.Phases[a].Tasks))
				s.phases[input].outputs = append(s.phases[input].outputs, int32(len(s.phases)))
			}
			share := p.Begin
			if share <= 0 || share > 1 {
				share = 1
			}
			state.threshold = int32(float64(float64(state.missing) * (1 - share)))
			if share < 1 && state.missing > 0 {
				state.threshold = min(state.threshold, state.missing-1)
			}
			s.phases = append(s.phases, state)
		}
		s.jobs[i].phases = [2]int32{first, int32(len(s.phases))}
		s.jobs[i].left = int32(len(j.Phases))
		if j.Follows > 0 {
			leader := &s.jobs[j.Follows-1]
			leader.followers = append(leader.followers, int32(i))
		}
	}
	for i := range s.phases {
		s.phases[i].output = s.outputOf(&s.phases[i])
	}
}

func (s *sim) handle(e des.Event) {
	switch e.Kind() {
	case copyMoves:
		if c := &s.copies[e.ID]; c.live && c.turn == e.Life {
			s.result.Events++
			s.moves(e.ID)
		}
		return
	case asksAgain:
		if c := &s.copies[e.ID]; c.live && c.life == e.Life && c.stage == awaits {
			s.result.Events++
			s.assigner.ask(s, e.ID)
		}
		return
	case reports:
		if c := &s.copies[e.ID]; c.live && c.life == e.Life && !c.kept {
			s.result.Events++
			s.report(e.ID)
		}
		return
	case flowEnds:
		if f := &s.net.flows[e.ID]; f.live && f.life == e.Life {
			s.result.Events++
			s.flowEnded(e.ID)
		}
		return
	}
	s.result.Events++
	switch e.Kind() {
	case speedTurns:
		s.turn(e.ID, e.Life)
	case outputLost:
		s.lose(e.ID)
	case jobComes:
		s.come(e.ID)
	case offerAgain:
		s.want(e.ID)
	case beats:
		s.beat(e.ID)
	case fairTurn:
		s.preempt()
	case overloads:
		s.overload.turn(s)
	}
}

// come handles the arrival of a job.
func (s *sim) come(id int32) {
	j := &s.jobs[id]
	j.come = true
	s.result.Jobs[id].At = s.now
	s.result.Jobs[id].Begin = -1
	s.tell(id, "submitted")
	for p := j.phases[0]; p < j.phases[1]; p++ {
		s.forecast.project(s, p)
	}
	for p := j.phases[0]; p < j.phases[1]; p++ {
		s.tryOpen(p)
	}
	if j.left == 0 {
		s.ended(id)
	}
}

// phaseEnded handles the end of the last task of a phase.
func (s *sim) phaseEnded(id int32) {
	p := &s.phases[id]
	j := &s.jobs[p.job]
	p.over = true
	j.left--
	s.result.Jobs[p.job].Phases = append(s.result.Jobs[p.job].Phases, PhaseResult{
		Phase: int(id - j.phases[0]), Opened: p.opened, End: s.now,
	})
	s.tell(p.job, "phase %d has ended", id-j.phases[0])
	s.ahead().sweep(s)
	if j.left == 0 {
		s.ended(p.job)
	}
}

func (s *sim) ended(id int32) {
	s.left--
	s.result.Jobs[id].End = s.now
	s.order.leave(id)
	s.tell(id, "ended")
	for p := s.jobs[id].phases[0]; p < s.jobs[id].phases[1]; p++ {
		s.close(p)
	}
	for _, f := range s.jobs[id].followers {
		s.queue.Push(s.now+s.c.Jobs[f].At, jobComes, f, 0)
	}
}
