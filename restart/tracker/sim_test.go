package tracker_test

import (
	"container/heap"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// sim is a host that runs a phase under a Tracker. Machines have some slots each; attempts run for a given time and
// report every interval; decisions are carried out at once.
type sim struct {
	t        testing.TB
	tracker  *tracker.Tracker
	work     []float64
	interval time.Duration
	began    time.Time // begin of the phase
	// duration of an attempt of a task on a machine.
	duration func(task, attempt, machine int) time.Duration
	// exact makes attempts report their true remaining time.
	exact bool
	// dispatch is the time from the submit of an attempt to its begin; if 0, the attempt is started.
	dispatch time.Duration
	// done returns the report of an attempt at a share of its work; nil: Done is that share of the work.
	done func(task int, share float64) tracker.Report
	// watch is called for each decision that is carried out.
	watch func(now time.Duration, a tracker.Answer)

	events  simEvents
	sent    int
	running map[[2]int]simAttempt // running, by task and attempt; never ranged over
	free    []int                 // free slots of each machine
	left    int                   // tasks not finished
}

type simAttempt struct {
	machine    int
	start, end time.Duration
}

type simKind uint8

const (
	simEnds simKind = iota
	simBegins
	simReports
)

type simEvent struct {
	at            time.Duration
	kind          simKind
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
	if (a.kind == simEnds) != (b.kind == simEnds) {
		return a.kind == simEnds
	}
	return a.sent < b.sent
}

func (e *simEvents) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func newSim(t testing.TB, c tracker.Config, duration func(task, attempt, machine int) time.Duration) *sim {
	t.Helper()
	if c.Slots == 0 {
		c.Slots = c.Machines
	}
	tr, err := tracker.New(c)
	require.NoError(t, err)
	s := &sim{
		t: t, tracker: tr, work: c.Work, interval: c.Interval, began: start, duration: duration,
		running: map[[2]int]simAttempt{}, free: make([]int, c.Machines), left: tr.Phase().Tasks,
	}
	if s.work == nil {
		s.work = make([]float64, c.Tasks)
		for i := range s.work {
			s.work[i] = 1
		}
	}
	for i := range s.free {
		s.free[i] = c.Slots / c.Machines
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
		if steps == 1_000_000 {
			require.Fail(t, "the phase does not end")
		} else if len(s.events) == 0 {
			require.Fail(t, "tasks are left, but no attempt runs")
		}
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
	c, ok := s.running[key]
	if !ok {
		return // it was killed
	}
	now := s.began.Add(e.at)
	switch e.kind {
	case simBegins:
		s.tracker.Begin(now, e.task, e.attempt, c.machine)
		return
	case simEnds:
		s.left--
		for _, attempt := range s.tracker.Finish(now, e.task, e.attempt) {
			s.drop(e.task, attempt)
		}
		s.drop(e.task, e.attempt)
		return
	}
	s.push(simEvent{at: e.at + s.interval, kind: simReports, task: e.task, attempt: e.attempt})
	share := float64(e.at-c.start) / float64(c.end-c.start)
	p := tracker.Report{Done: s.work[e.task] * share}
	if s.done != nil {
		p = s.done(e.task, share)
	}
	if s.exact {
		p.Remaining = c.end - e.at
	}
	if a := s.tracker.Report(now, e.task, e.attempt, p); a.Action == restart.Restart || a.Action == restart.Kill {
		s.kill(e.at, a)
	}
}

func (s *sim) kill(at time.Duration, a tracker.Answer) {
	if s.watch != nil {
		s.watch(at, a)
	}
	if a.Action == restart.Restart {
		s.tracker.Restart(s.began.Add(at), a.Task, a.Attempt)
	} else {
		s.tracker.Kill(s.began.Add(at), a.Task, a.Attempt)
	}
	s.drop(a.Task, a.Attempt)
}

func (s *sim) drop(task, attempt int) {
	key := [2]int{task, attempt}
	s.free[s.running[key].machine]++
	delete(s.running, key)
}

func (s *sim) launch(at time.Duration, task, machine int) {
	begins, attempt := at+s.dispatch, 0
	if s.dispatch == 0 {
		attempt = s.tracker.Start(s.began.Add(at), task, machine)
	} else {
		attempt = s.tracker.Submit(s.began.Add(at), task, machine)
		s.push(simEvent{at: begins, kind: simBegins, task: task, attempt: attempt})
	}
	if attempt < 0 {
		require.GreaterOrEqual(s.t, attempt, 0)
	}
	c := simAttempt{machine: machine, start: begins, end: begins + s.duration(task, attempt, machine)}
	s.running[[2]int{task, attempt}] = c
	s.free[machine]--
	s.push(simEvent{at: c.end, task: task, attempt: attempt})
	s.push(simEvent{at: begins + s.interval, kind: simReports, task: task, attempt: attempt})
}

// fill asks for work for each idle machine, from the first on.
func (s *sim) fill(at time.Duration) {
	for machine := range s.free {
		for s.free[machine] > 0 {
			a := s.tracker.Next(s.began.Add(at), machine)
			if a.Action == restart.Keep {
				break
			}
			if a.Action == restart.Restart || a.Action == restart.Kill {
				s.kill(at, a)
				continue
			}
			if s.watch != nil {
				s.watch(at, a)
			}
			task := a.Task
			s.launch(at, task, machine)
		}
	}
}
