package shadow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// outcome is the outcome of a simulation.
type outcome struct {
	time, slots      time.Duration
	copies, restarts int
}

// run is a simulated attempt.
type run struct {
	id      string
	task    int
	machine string
	due     time.Duration // when it may begin
	begun   time.Duration // notYet: it waits
	ends    time.Duration // by itself
	state   engine.State  // in which it ends
	hangs   bool
	ended   bool
}

const notYet time.Duration = -1

// simulation runs a batch in virtual time. It is a host of an engine.Phase: it has machines with slots, and each
// attempt takes the time that the model says.
type simulation struct {
	*model
	phase *engine.Phase
	now   time.Duration
	runs  []*run // that have not ended
	begun []int  // by task: attempts that have begun
	free  map[string]int
	out   outcome
}

// simulate runs the batch under a policy.
func (m *model) simulate(policy restart.Policy, limits restart.Limits) (outcome, error) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: m.Machines, Prefetch: m.Prefetch})
	if err != nil {
		return outcome{}, err
	}
	config := engine.Config{
		Tasks: len(m.tasks), Work: m.works, Interval: m.Interval, Lag: m.Lag, Machines: machines, Policy: policy,
		Limits: limits, Timeout: m.Timeout, MaxFailures: maxTries, MaxLost: maxTries,
	}
	if m.BackOff != nil {
		config.BackOff = func(task, failures int) time.Duration { return m.BackOff(m.tasks[task].index, failures) }
	}
	s := &simulation{model: m, begun: make([]int, len(m.tasks)), free: map[string]int{}}
	if s.phase, err = engine.New(config); err != nil {
		return outcome{}, err
	}
	for i, t := range m.tasks {
		s.phase.SetEligible(i, !isSet(m.NoCopy, t.index), !isSet(m.NoRestart, t.index))
	}
	for _, machine := range m.Machines {
		s.free[machine.Name] = machine.Slots
	}
	steps, limit := 0, longest*(m.took+float64(float64(len(m.tasks))*(m.Lag+m.Interval).Seconds()))
	for next := m.Interval; !s.phase.Done(); {
		if steps += 1 + len(s.runs); steps > mostSteps || s.now.Seconds() > limit {
			return outcome{}, fmt.Errorf("restart/engine/shadow: the simulation of %d tasks did not end in %v, with %v",
				len(m.tasks), s.now, policy)
		}
		s.poll()
		if s.now = min(s.next(), next); s.now >= next {
			next += m.Interval
		}
	}
	for _, r := range s.runs {
		if r.begun != notYet {
			s.out.slots += s.now - r.begun
		}
	}
	l := s.phase.Ledger()
	s.out.copies, s.out.restarts = l.Copies, l.Restarts
	return s.out, nil
}

// maxTries lets no simulated task be given up, since the record has an attempt that succeeded.
const maxTries = 1 << 20

// isSet reports whether a task is set in a list that may be shorter than the tasks.
func isSet(list []bool, task int) bool { return task < len(list) && list[task] }

func of(seconds float64) time.Duration { return num.Times(time.Second, seconds) }

// at converts a time of the simulation.
func at(d time.Duration) time.Time { return time.Unix(1, 0).Add(d) }

// next returns the time of the next begin or end.
func (s *simulation) next() time.Duration {
	first := num.MaxDuration
	for _, r := range s.runs {
		switch {
		case r.begun != notYet:
			first = min(first, max(num.Add(r.ends, s.Lag), s.now+1))
		case s.free[r.machine] > 0:
			first = min(first, max(r.due, s.now+1))
		}
	}
	return first
}

// poll shows the attempts to the phase, and carries out its actions.
func (s *simulation) poll() {
	slices.SortStableFunc(s.runs, func(a, b *run) int { return cmp.Compare(a.due, b.due) })
	for again := true; again; {
		again = false
		for _, r := range s.runs {
			if r.begun != notYet && !r.ended && r.ends <= s.now {
				s.end(r, r.ends, r.state)
				again = true
			}
		}
		for _, r := range s.runs {
			if r.begun == notYet && !r.ended && r.due <= s.now && s.free[r.machine] > 0 {
				s.begin(r)
				again = again || r.ends <= s.now
			}
		}
	}
	list := make([]engine.Attempt, 0, len(s.runs))
	for _, r := range s.runs {
		a := engine.Attempt{ID: r.id, Task: r.task, Machine: r.machine}
		switch {
		case r.ended:
			a.State, a.Ended = r.state, at(r.ends)
		case r.begun != notYet:
			if a.State = engine.Running; s.Reports && !r.hangs {
				a.Progress = tracker.Report{Score: float64(s.now-r.begun) / float64(r.ends-r.begun)}
				a.AsOf = at(s.now)
			}
		}
		if r.begun != notYet {
			a.Begun = at(r.begun)
		}
		list = append(list, a)
	}
	s.runs = slices.DeleteFunc(s.runs, func(r *run) bool { return r.ended })
	for _, a := range s.phase.Poll(at(s.now), list).Actions {
		switch a.Op {
		case engine.Submit:
			if !slices.ContainsFunc(s.runs, func(r *run) bool { return r.id == a.ID }) {
				s.runs = append(s.runs, &run{id: a.ID, task: a.Task, machine: a.Machine, due: s.now + s.Lag, begun: notYet})
			}
		case engine.Cancel:
			for _, r := range s.runs {
				if r.id == a.ID && !r.ended {
					s.end(r, s.now, engine.Cancelled)
				}
			}
		case engine.Publish:
			s.phase.Published(a.ID)
			s.out.time = s.now
		}
	}
}

// begin lets an attempt begin, and says how it will end.
func (s *simulation) begin(r *run) {
	t := &s.tasks[r.task]
	a := attempt{seconds: t.seconds, state: engine.Succeeded}
	if n := s.begun[r.task]; n < len(t.attempts) {
		a = t.attempts[n]
	}
	s.begun[r.task]++
	s.free[r.machine]--
	r.begun = max(r.due, s.now)
	r.state, r.hangs = a.state, a.hangs
	if !a.fixed {
		a.seconds *= s.of(r.machine)
	}
	r.ends = num.Add(r.begun, max(of(a.seconds), time.Microsecond))
}

// end ends an attempt.
func (s *simulation) end(r *run, when time.Duration, state engine.State) {
	if r.begun != notYet {
		s.out.slots += when - r.begun
		s.free[r.machine]++
	}
	r.ended, r.ends, r.state = true, when, state
}
