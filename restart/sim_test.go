package restart_test

import (
	"container/heap"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// sim is a host that runs a phase under a Tracker: machines with one slot each, copies that run for a given time and
// report every interval, and decisions carried out at once.
type sim struct {
	tracker  *restart.Tracker
	work     []float64
	interval time.Duration
	// duration of an attempt of a task on a machine.
	duration func(task, attempt, machine int) time.Duration
	// exact makes copies report the time that they really still need.
	exact bool
	// watch sees every decision that is carried out.
	watch func(now time.Duration, task int, d restart.Decision)

	events simEvents
	sent   int
	copies map[[2]int]simCopy // running, by task and attempt; never ranged over
	free   []bool             // by machine
	left   int                // tasks not finished
}

type simCopy struct {
	machine    int
	start, end time.Duration
}

type simEvent struct {
	at            time.Duration
	ends          bool
	sent          int
	task, attempt int
}

type simEvents []simEvent

func (e simEvents) Len() int      { return len(e) }
func (e simEvents) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *simEvents) Push(x any)   { *e = append(*e, x.(simEvent)) }
func (e simEvents) Less(i, j int) bool {
	a, b := e[i], e[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.ends != b.ends {
		return a.ends
	}
	return a.sent < b.sent
}

func (e *simEvents) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func newSim(t testing.TB, c restart.Config, duration func(task, attempt, machine int) time.Duration) *sim {
	t.Helper()
	c.Slots = c.Machines
	tracker, err := restart.NewTracker(c)
	require.NoError(t, err)
	s := &sim{
		tracker: tracker, work: c.Work, interval: c.Interval, duration: duration,
		copies: map[[2]int]simCopy{}, free: make([]bool, c.Machines), left: tracker.Phase().Tasks,
	}
	if s.work == nil {
		s.work = make([]float64, c.Tasks)
		for i := range s.work {
			s.work[i] = 1
		}
	}
	for i := range s.free {
		s.free[i] = true
	}
	return s
}

func (s *sim) push(e simEvent) {
	e.sent = s.sent
	s.sent++
	heap.Push(&s.events, e)
}

// run returns the time at which the last task ends.
func (s *sim) run(t testing.TB) time.Duration {
	t.Helper()
	s.fill(0)
	for steps := 0; s.left > 0; steps++ {
		require.Less(t, steps, 1_000_000, "the phase does not end")
		require.NotEmpty(t, s.events, "nothing runs, and tasks are left")
		now := s.events[0].at
		for len(s.events) > 0 && s.events[0].at == now {
			s.handle(heap.Pop(&s.events).(simEvent))
		}
		if s.left == 0 {
			return now
		}
		s.fill(now)
	}
	return 0
}

func (s *sim) handle(e simEvent) {
	key := [2]int{e.task, e.attempt}
	c, ok := s.copies[key]
	if !ok {
		return // it was killed
	}
	now := start.Add(e.at)
	if e.ends {
		s.left--
		for _, attempt := range s.tracker.Finish(now, e.task, e.attempt, nil) {
			s.drop(e.task, attempt)
		}
		s.drop(e.task, e.attempt)
		return
	}
	s.push(simEvent{at: e.at + s.interval, task: e.task, attempt: e.attempt})
	p := restart.Progress{Done: s.work[e.task] * float64(e.at-c.start) / float64(c.end-c.start)}
	if s.exact {
		p.Remaining = c.end - e.at
	}
	if d := s.tracker.Report(now, e.task, e.attempt, p); d.Action == restart.Restart || d.Action == restart.Kill {
		s.kill(e.at, e.task, d)
	}
}

func (s *sim) kill(at time.Duration, task int, d restart.Decision) {
	if s.watch != nil {
		s.watch(at, task, d)
	}
	if d.Action == restart.Restart {
		s.tracker.Restart(start.Add(at), task, d.Copy)
	} else {
		s.tracker.Kill(start.Add(at), task, d.Copy)
	}
	s.drop(task, d.Copy)
}

func (s *sim) drop(task, attempt int) {
	key := [2]int{task, attempt}
	s.free[s.copies[key].machine] = true
	delete(s.copies, key)
}

// fill asks for work for each idle machine, from the first.
func (s *sim) fill(at time.Duration) {
	for machine := range s.free {
		for s.free[machine] {
			task, d := s.tracker.Next(start.Add(at), machine)
			if d.Action == restart.Keep {
				break
			}
			if d.Action == restart.Restart || d.Action == restart.Kill {
				s.kill(at, task, d)
				continue
			}
			if s.watch != nil {
				s.watch(at, task, d)
			}
			attempt := s.tracker.Start(start.Add(at), task, machine)
			c := simCopy{machine: machine, start: at, end: at + s.duration(task, attempt, machine)}
			s.copies[[2]int{task, attempt}] = c
			s.free[machine] = false
			s.push(simEvent{at: c.end, ends: true, task: task, attempt: attempt})
			s.push(simEvent{at: at + s.interval, task: task, attempt: attempt})
		}
	}
}
