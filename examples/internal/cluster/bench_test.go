package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/restart"
)

// crowd is a workload that keeps n machines of four slots busy for about three waves of tasks of a minute: jobs of
// many sizes in ten pools, with blocks, stragglers, reports ten times in their lives, and Mantri, delay scheduling
// and fair shares deciding.
func crowd(tb testing.TB, n int) Config {
	wait, err := delay.New(delay.Config{})
	require.NoError(tb, err)
	rng := rand.New(rand.NewPCG(1, 1))
	c := Config{
		Machines: machines(n, 4, 0, max(1, n/40)), Racks: make([]Rack, max(1, n/40)), Interval: 6 * time.Second,
		Disk: 50e6, Remote: 25e6, Restart: restart.Mantri{}, Delay: wait,
		Order: Order{Pools: make([]fairshare.Pool, 10)},
	}
	for i := range c.Racks {
		c.Racks[i] = Rack{Up: 1e9, Down: 1e9}
	}
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.IntN(20) == 0 {
			return 2 + 8*r.Float64()
		}
		return 0.8 + 0.4*r.Float64()
	}
	for left := 12 * n; left > 0; {
		size := min(left, int(math.Ceil(4*math.Pow(rng.Float64(), -0.8))), 2*n)
		left -= size
		p := Phase{Luck: luck, Tasks: make([]Task, size)}
		for k := range p.Tasks {
			p.Tasks[k] = Task{Seconds: 55, Bytes: 128e6, Work: 1}
			for range 3 {
				p.Tasks[k].Replicas = append(p.Tasks[k].Replicas, int32(rng.IntN(n)))
			}
		}
		c.Jobs = append(c.Jobs, Job{
			At: time.Duration(rng.Float64() * 120 * float64(time.Second)), Pool: rng.IntN(10), Phases: []Phase{p},
		})
	}
	return c
}

// BenchmarkCluster runs a crowd to its end. An event is what the simulation handles: a report that is judged (five in
// six are that), a stage of a copy that ends, a flow that does, an arrival, a job that is asked again because it no
// longer waits. Events of copies that are gone by then are dropped and not counted, nor is an offer of a slot, which
// is made as part of the event that frees it. events/cpu-s is by the time of the processor, which a busy machine does
// not take away; bytes/machine is what the simulation holds when half of the events have been, besides its
// configuration.
func BenchmarkCluster(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) { benchmark(b, crowd(b, n)) })
	}
}

// BenchmarkClusterNever is the same with a rule against stragglers that is asked as often, and never does anything:
// what is left is what the simulation and the books of the phases take.
func BenchmarkClusterNever(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			c := crowd(b, n)
			c.Restart = restart.Never{}
			benchmark(b, c)
		})
	}
}

func benchmark(b *testing.B, c Config) {
	events, cpu := 0, time.Duration(0)
	for b.Loop() {
		began := processorTime()
		s, err := newSim(&c)
		require.NoError(b, err)
		events += finishRun(b, s).Events
		cpu += processorTime() - began
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	if cpu > 0 {
		b.ReportMetric(float64(events)/cpu.Seconds(), "events/cpu-s")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(heldHalfWay(b, &c, events/b.N))/float64(len(c.Machines)), "bytes/machine")
}

// heldHalfWay is the memory that a simulation of so many events holds when half of them have been.
func heldHalfWay(tb testing.TB, c *Config, events int) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := newSim(c)
	require.NoError(tb, err)
	for s.result.Events < events/2 && s.step() {
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(s)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func finishRun(tb testing.TB, s *sim) Result {
	for s.left > 0 {
		if !s.step() {
			tb.Fatal("nothing happens any more")
		}
	}
	s.finish()
	return s.result
}
