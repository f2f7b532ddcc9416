package tracker_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

var sink tracker.Answer

// steady is a phase in which all tasks run and report for ever. Each report replaces the task's sample in the
// distribution of unit times.
type steady struct {
	tracker *tracker.Tracker
	tasks   int
	now     time.Time
	step    time.Duration
	rng     *rand.Rand
	next    int
	odd     bool // every second task has ended
}

func newSteady(tb testing.TB, tasks int, policy restart.Policy) *steady {
	tb.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	work := make([]float64, tasks)
	for i := range work {
		work[i] = 1 + rng.Float64()
	}
	s := &steady{tasks: tasks, now: start, step: 10 * time.Second / time.Duration(tasks), rng: rng}
	tr, err := tracker.New(tracker.Config{
		Work: work, Slots: tasks, Machines: 100, Interval: 10 * time.Second, Policy: policy, Limits: asPublished(policy),
	})
	require.NoError(tb, err)
	s.tracker = tr
	for i := range work {
		tr.Start(s.now, i, i%100)
	}
	for range 2 * tasks {
		s.report()
	}
	return s
}

// report makes the next task report. Each report adds about a thousandth of the work, so that no task ends.
func (s *steady) report() tracker.Answer {
	s.now = s.now.Add(s.step)
	task := s.next
	if s.odd {
		task |= 1
		s.next++
	}
	if s.next++; s.next >= s.tasks {
		s.next = 0
	}
	progress := s.now.Sub(start).Seconds() / 1e4 * (0.5 + s.rng.Float64())
	return s.tracker.Report(s.now, task, 0, tracker.Report{Done: 0.2 + min(progress, 0.7)})
}

// finishHalf ends every second task. The other tasks go on and report.
func (s *steady) finishHalf() {
	n := s.tracker.Phase().Tasks
	for i := 0; i < n; i += 2 {
		s.now = s.now.Add(10 * time.Second / time.Duration(n))
		s.tracker.Finish(s.now, i, 0)
	}
	s.odd = true
	for range n {
		s.report()
	}
}

// healthy is a phase in which every second task has ended, after some 10,000 s. The other tasks take as long, and
// each has run for a different part of this time. A task that ends begins anew, so that the phase stays the same.
type healthy struct {
	tracker *tracker.Tracker
	now     time.Time
	step    time.Duration
	rng     *rand.Rand
	work    []float64
	takes   []time.Duration
	began   []time.Time
	attempt []int
	next    int
}

func newHealthy(tb testing.TB, tasks int) *healthy {
	tb.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	h := &healthy{
		step: 20 * time.Second / time.Duration(tasks), rng: rng, work: make([]float64, tasks), next: 1,
		takes: make([]time.Duration, tasks), began: make([]time.Time, tasks), attempt: make([]int, tasks),
	}
	for i := range h.work {
		h.work[i] = 1 + rng.Float64()
		h.takes[i] = time.Duration(h.work[i] / 1.5 * (0.85 + 0.3*rng.Float64()) * 1e4 * float64(time.Second))
	}
	tr, err := tracker.New(tracker.Config{Work: h.work, Slots: tasks, Machines: 100, Interval: 10 * time.Second})
	require.NoError(tb, err)
	h.tracker = tr
	ends := make([]int, 0, tasks/2)
	for i := 0; i < tasks; i += 2 {
		h.began[i] = start
		tr.Start(start, i, i%100)
		ends = append(ends, i)
	}
	slices.SortFunc(ends, func(a, b int) int { return cmp.Compare(h.takes[a], h.takes[b]) })
	for k := 1; k <= 5; k++ { // before the first task ends
		h.now = start.Add(time.Duration(k) * 1000 * time.Second)
		for i := 0; i < tasks; i += 2 {
			tr.Record(h.now, i, 0, h.shows(i))
		}
	}
	for at, i := range ends { // while these tasks end, the others begin
		h.now = start.Add(h.takes[i])
		tr.Finish(h.now, i, 0)
		other := 2*at + 1
		h.began[other] = h.now
		tr.Start(h.now, other, other%100)
	}
	for range 2 * tasks {
		h.report()
	}
	return h
}

// shows returns the report of a task. The reported progress is wrong by 2 %.
func (h *healthy) shows(task int) tracker.Report {
	share := h.now.Sub(h.began[task]).Seconds() / h.takes[task].Seconds()
	return tracker.Report{Done: h.work[task] * min(share*(0.98+0.04*h.rng.Float64()), 1)}
}

func (h *healthy) report() tracker.Answer {
	h.now = h.now.Add(h.step)
	task := h.next
	if h.next += 2; h.next >= len(h.work) {
		h.next = 1
	}
	if h.now.Sub(h.began[task]) >= h.takes[task] {
		h.tracker.Finish(h.now, task, h.attempt[task])
		h.tracker.LoseOutput(h.now, task)
		h.attempt[task], h.began[task] = h.tracker.Start(h.now, task, task%100), h.now
	}
	return h.tracker.Report(h.now, task, h.attempt[task], h.shows(task))
}

// BenchmarkTrackerReport measures one report of a phase. In "none" no task has ended. In "half" every second task has
// ended, and the other tasks are ten times slower, so that they are worth a copy. In "healthy" the other tasks are as
// fast as the tasks that have ended.
func BenchmarkTrackerReport(b *testing.B) {
	for _, tasks := range []int{1000, 100000, 1000000} {
		b.Run(fmt.Sprintf("ended=healthy/tasks=%d", tasks), func(b *testing.B) {
			h := newHealthy(b, tasks)
			b.ReportAllocs()
			for b.Loop() {
				sink = h.report()
			}
		})
	}
	for _, ended := range []string{"none", "half"} {
		for _, tasks := range []int{1000, 100000, 1000000} {
			b.Run(fmt.Sprintf("ended=%s/tasks=%d", ended, tasks), func(b *testing.B) {
				s := newSteady(b, tasks, nil)
				if ended == "half" {
					s.finishHalf()
				}
				b.ReportAllocs()
				for b.Loop() {
					sink = s.report()
				}
			})
		}
	}
}

// BenchmarkSweep decides about each running task, when half of the tasks have ended. One running task in a thousand
// needs an action.
func BenchmarkSweep(b *testing.B) {
	for _, tasks := range []int{1000, 1000000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := newSteady(b, tasks, nil)
			s.finishHalf()
			n := 0
			for b.Loop() {
				s.now = s.now.Add(10 * time.Second)
				s.tracker.Sweep(s.now, func(tracker.Answer) { n++ })
			}
			b.ReportMetric(float64(n)/float64(b.N), "acts/op")
		})
	}
}

// BenchmarkSweepOf decides about tasks with and without reports, and with one attempt or two, when half of the tasks
// have ended.
func BenchmarkSweepOf(b *testing.B) {
	for _, silent := range []bool{false, true} {
		for _, copies := range []int{1, 2} {
			b.Run(fmt.Sprintf("silent=%v/copies=%d", silent, copies), func(b *testing.B) {
				const tasks = 1000
				tr, err := tracker.New(tracker.Config{Tasks: tasks, Slots: 3 * tasks, Machines: 100, Interval: 10 * time.Second})
				require.NoError(b, err)
				rng := rand.New(rand.NewPCG(9, 10))
				for i := range copies * tasks {
					tr.Start(start, i%tasks, i%97)
				}
				for i := range tasks {
					now := start.Add(time.Duration(100+rng.IntN(50)) * time.Second)
					for k := 0; k < copies && !silent; k++ {
						tr.Report(start.Add(100*time.Second), i, k, tracker.Report{Done: 0.5 + 0.3*rng.Float64()})
					}
					if i%2 == 0 {
						tr.Finish(now, i, 0)
					}
				}
				now, n := start.Add(150*time.Second), 0
				b.ReportAllocs()
				for b.Loop() {
					now = now.Add(time.Millisecond)
					tr.Sweep(now, func(tracker.Answer) { n++ })
				}
				b.ReportMetric(float64(n)/float64(b.N), "acts/op")
			})
		}
	}
}

// BenchmarkFill gives n idle slots to n stragglers.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{250, 500, 1000, 2000} {
		b.Run(fmt.Sprintf("slots=%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				tr, now := stragglers(b, n)
				b.StartTimer()
				for i := range n {
					a := tr.Next(now, 10*n+i)
					if a.Action != restart.Copy {
						b.Fatal(i, a)
					}
					tr.Start(now, a.Task, 10*n+i)
				}
			}
		})
	}
}

// stragglers returns a phase of 10n tasks with n idle slots. Of the tasks, 9n have ended, and n are worth a copy.
func stragglers(tb testing.TB, n int) (*tracker.Tracker, time.Time) {
	tb.Helper()
	tr, err := tracker.New(tracker.Config{Tasks: 10 * n, Slots: 10 * n, Interval: time.Second})
	require.NoError(tb, err)
	for i := range 10 * n {
		tr.Start(start, i, i)
	}
	for i := range 9 * n {
		tr.Finish(start.Add(10*time.Second+time.Duration(i)*time.Microsecond), i, 0)
	}
	for i := range n {
		tr.Report(start.Add(20*time.Second), 9*n+i, 0, tracker.Report{Done: 0.02 + float64(i)/float64(100*n)})
	}
	now := start.Add(21 * time.Second)
	tr.Sweep(now, func(tracker.Answer) {})
	return tr, now
}

// BenchmarkOpenPhase creates the tracker of a phase of ten tasks, and starts five of them.
func BenchmarkOpenPhase(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tr, err := tracker.New(tracker.Config{Tasks: 10, Slots: 10, Interval: time.Second})
		require.NoError(b, err)
		for i := range 5 {
			tr.Start(start, i, i)
		}
		open = tr
	}
}

var open *tracker.Tracker

// BenchmarkNextRefused offers slots while LATE's cap is reached. A quarter of the tasks would be worth a copy.
func BenchmarkNextRefused(b *testing.B) {
	for _, tasks := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := newSteady(b, tasks, rules.LATE{MinAge: restart.Off, SpeculativeCap: 1e-9})
			s.tracker.SetSlots(2 * tasks)
			s.tracker.Start(s.now, 0, 0)
			s.tracker.Sweep(s.now, func(tracker.Answer) {})
			if a := s.tracker.Next(s.now, 1); a.Reason != restart.CapReached {
				b.Fatal(a)
			}
			b.ReportAllocs()
			for b.Loop() {
				sink = s.tracker.Next(s.now, 1)
			}
		})
	}
}

// BenchmarkSnapshot saves and restores phases in which half the tasks have finished, or all tasks run. It reports the
// bytes of a snapshot for each task.
func BenchmarkSnapshot(b *testing.B) {
	for _, c := range []struct {
		name    string
		tasks   int
		running int
	}{{"half", 10_000, 1000}, {"half", 1_000_000, 1000}, {"all", 1_000_000, 1_000_000}} {
		tr, err := tracker.New(tracker.Config{Tasks: c.tasks, Slots: c.running, Interval: 10 * time.Second})
		require.NoError(b, err)
		for i := range max(c.tasks/2, c.running) {
			now := start.Add(time.Duration(i) * 10 * time.Millisecond)
			tr.Start(now, i, i%1000)
			tr.Report(now.Add(5*time.Millisecond), i, 0, tracker.Report{Done: 0.125})
			if i >= c.running {
				tr.Finish(now, i-c.running, 0)
			}
		}
		text, err := tr.MarshalBinary()
		require.NoError(b, err)
		name := fmt.Sprintf("%s/tasks=%d", c.name, c.tasks)
		b.Run("save/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				text, _ = tr.AppendBinary(text[:0])
			}
			b.ReportMetric(float64(len(text))/float64(c.tasks), "bytes/task")
		})
		b.Run("restore/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tracker.Restore(tracker.Config{}, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
