package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
)

// BenchmarkPoll polls a phase in which half of the tasks run, each with a new report, and the others wait. One
// attempt fails at each poll, so another task starts.
func BenchmarkPoll(b *testing.B) {
	for _, order := range []func(time.Time, []int){nil, func(_ time.Time, w []int) { slices.Reverse(w) }} {
		for _, tasks := range []int{1_000, 100_000} {
			b.Run(fmt.Sprintf("tasks=%d,order=%t", tasks, order != nil), func(b *testing.B) {
				poll(b, engine.Config{Tasks: tasks, Slots: tasks / 2, Order: order})
			})
		}
	}
}

// BenchmarkPollMachines polls the same number of attempts on each machine. One slot of each machine stays idle,
// so each machine is asked for a copy.
func BenchmarkPollMachines(b *testing.B) {
	for _, size := range []struct{ machines, attempts int }{{10, 16}, {1_000, 16}, {10_000, 100}} {
		b.Run(fmt.Sprintf("machines=%d,attempts=%d", size.machines, size.machines*size.attempts), func(b *testing.B) {
			poll(b, engine.Config{
				Tasks: size.attempts * size.machines, Machines: manyMachines(b, size.machines, size.attempts+1),
			})
		})
	}
}

// BenchmarkFirstPoll makes a phase and submits its tasks: on each machine one attempt for each slot.
func BenchmarkFirstPoll(b *testing.B) {
	for _, size := range []struct{ machines, slots int }{{10, 16}, {1_000, 16}, {10_000, 100}} {
		b.Run(fmt.Sprintf("tasks=%d,machines=%d", size.slots*size.machines, size.machines), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				p, err := engine.New(engine.Config{
					Tasks: size.slots * size.machines, Interval: time.Second,
					Machines: manyMachines(b, size.machines, size.slots),
				})
				require.NoError(b, err)
				require.Len(b, p.Poll(epoch, nil).Actions, size.slots*size.machines)
			}
		})
	}
}

func manyMachines(b *testing.B, n, slots int) *engine.Machines {
	b.Helper()
	list := make([]engine.Machine, n)
	for i := range list {
		list[i] = engine.Machine{Name: fmt.Sprint("h", i), Slots: slots}
	}
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: list})
	require.NoError(b, err)
	return machines
}

// poll measures a Poll of all running attempts, one interval after another. The reports are not in the order of
// their times.
func poll(b *testing.B, c engine.Config) {
	b.Helper()
	c.Interval, c.MaxFailures = time.Second, 1<<30
	p, err := engine.New(c)
	require.NoError(b, err)
	var attempts []engine.Attempt
	now := epoch
	observe := func() {
		for _, a := range p.Poll(now, attempts).Actions {
			require.Equal(b, engine.Submit, a.Op, "%v", a)
			attempts = append(attempts, engine.Attempt{ID: a.ID, Task: a.Task, Machine: a.Machine, State: engine.Running, Begun: now})
		}
	}
	observe()
	observe()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		now = now.Add(time.Second)
		attempts = slices.DeleteFunc(attempts, func(a engine.Attempt) bool { return a.State == engine.Failed })
		for i := range attempts {
			a := &attempts[i]
			a.AsOf = now.Add(-time.Duration(i%1000) * time.Millisecond)
			a.Progress.Done = max(0, float64(a.AsOf.Sub(a.Begun))/(1<<60))
		}
		if c.Machines == nil {
			attempts[i%len(attempts)].State = engine.Failed
		}
		observe()
	}
}

// BenchmarkPush runs a phase on 40 slots. Each end and each begin is an event of its own. The time of an event does not
// grow with the number of tasks.
func BenchmarkPush(b *testing.B) {
	for _, tasks := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			b.ReportAllocs()
			events := 0
			for range b.N {
				events += push(b, tasks)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

func push(b *testing.B, tasks int) (events int) {
	b.Helper()
	p, err := engine.New(engine.Config{
		Tasks: tasks, Interval: 250 * time.Millisecond, Timeout: time.Hour, Machines: manyMachines(b, 10, 4),
	})
	require.NoError(b, err)
	now := epoch
	var running []engine.Attempt
	begin := func(actions []engine.Action) {
		first := len(running)
		for _, a := range actions {
			if a.Op == engine.Publish {
				p.Published(a.ID)
				continue
			}
			running = append(running, engine.Attempt{
				ID: a.ID, Task: a.Task, Machine: a.Machine, State: engine.Running, Begun: now,
			})
		}
		p.Push(now, running[first:])
		events += 1 + len(running) - first
	}
	for begin(p.Push(now, nil).Actions); !p.Done(); {
		now = now.Add(time.Millisecond)
		ended := running[0]
		running = running[1:]
		ended.State, ended.Ended = engine.Succeeded, now
		begin(p.Push(now, []engine.Attempt{ended}).Actions)
	}
	return events
}
