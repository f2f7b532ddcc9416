package cluster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// anyPhysical makes a random cluster of physical machines with one task for each slot. A task may have its block on
// any machine.
func anyPhysical(seed uint64) Config {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := Config{Seed: seed, Record: true, Physical: make([]Physical, 1+rng.IntN(3))}
	for i := range c.Physical {
		c.Physical[i] = Physical{Disk: float64(5 + rng.IntN(20)), Card: float64(2 + rng.IntN(20))}
	}
	var tasks []Task
	for range 1 + rng.IntN(5) {
		m := Machine{Physical: rng.IntN(len(c.Physical)), Slots: [kinds]int{1 + rng.IntN(3)}, DiskRate: float64(3 + rng.IntN(10))}
		m.Background = rng.IntN(2) * rng.IntN(3)
		c.Machines = append(c.Machines, m)
		for range m.Slots[Map] {
			tasks = append(tasks, Task{Bytes: float64(rng.IntN(100)), Seconds: float64(rng.IntN(5)), Writes: float64(rng.IntN(100))})
		}
	}
	for i := range tasks {
		if rng.IntN(2) == 0 {
			tasks[i].Replicas = []int32{int32(rng.IntN(len(c.Machines)))}
		}
	}
	c.Jobs = []Job{{Phases: []Phase{{Tasks: tasks}}}}
	return c
}

// slowEnds plays tasks that all start at 0 on given machines, and returns their ends. At every step it computes all
// rates again, in rationals, and goes on to the first end of a stage.
func slowEnds(c Config, at []int) []float64 {
	tasks := c.Jobs[0].Phases[0].Tasks
	var capacities []float64
	for _, h := range c.Physical {
		capacities = append(capacities, h.Disk, h.Card, h.Card)
	}
	first := int32(len(capacities))
	for _, m := range c.Machines {
		capacities = append(capacities, m.DiskRate)
	}
	disk := func(m int) []int32 { return []int32{3 * int32(c.Machines[m].Physical), first + int32(m)} }
	way := func(task, stage int) []int32 { // the links of a stage: 0 reads, 2 writes
		links := disk(at[task])
		if r := tasks[task].Replicas; stage == 0 && r != nil {
			links = disk(int(r[0]))
			if from, to := c.Machines[r[0]].Physical, c.Machines[at[task]].Physical; from != to {
				links = []int32{links[0], int32(3*from + 1), int32(3*to + 2), links[1]}
			}
		}
		return links
	}
	left, stage, ends := make([]float64, len(tasks)), make([]int, len(tasks)), make([]float64, len(tasks))
	for i := range tasks {
		left[i] = tasks[i].Bytes
	}
	for now := 0.0; ; {
		rates, open := make([]float64, len(tasks)), []int(nil)
		var limits []float64
		var uses [][]int32
		for i := range tasks {
			for stage[i] < 3 && left[i] <= 1e-7 {
				stage[i]++
				left[i], ends[i] = []float64{0, tasks[i].Seconds, tasks[i].Writes, 0}[stage[i]], now
			}
			if stage[i] == 1 {
				rates[i] = 1
			} else if stage[i] < 3 {
				open, limits, uses = append(open, i), append(limits, 1e9), append(uses, way(i, stage[i]))
			}
		}
		for m := range c.Machines {
			for range c.Machines[m].Background {
				limits, uses = append(limits, 1e9), append(uses, disk(m))
			}
		}
		shares := exactShares(capacities, limits, uses, first)
		for k, i := range open {
			rates[i], _ = shares[k].Float64()
		}
		step := math.Inf(1)
		for i := range tasks {
			if stage[i] < 3 {
				step = min(step, left[i]/rates[i])
			}
		}
		if math.IsInf(step, 1) {
			return ends
		}
		now += step
		for i := range tasks {
			left[i] -= rates[i] * step
		}
	}
}

func TestPhysicalMachinesShareAsASlowModelSays(t *testing.T) {
	remote := 0
	for seed := range uint64(200) {
		c := anyPhysical(seed)
		r := run(t, c)
		tasks := c.Jobs[0].Phases[0].Tasks
		require.Len(t, r.Runs, len(tasks))
		at, used := make([]int, len(tasks)), make([]float64, len(c.Physical))
		for _, a := range r.Runs {
			at[a.Task] = a.Machine
			used[c.Machines[a.Machine].Physical] += tasks[a.Task].Writes
			if replicas := tasks[a.Task].Replicas; replicas != nil && int(replicas[0]) != a.Machine {
				remote++
			}
		}
		want := slowEnds(c, at)
		for _, a := range r.Runs {
			assert.InDelta(t, want[a.Task], a.End.Seconds(), 1e-4, "seed %d task %d", seed, a.Task)
		}
		for i, h := range c.Physical {
			assert.LessOrEqual(t, used[i], h.Disk*r.End.Seconds()+1e-4, "seed %d: physical machine %d writes no more than it can", seed, i)
		}
	}
	assert.Greater(t, remote, 100)
}

// Two machines write on a physical machine of 10 bytes a second. One has three writes, and still gets half.
func TestMachinesOnAPhysicalMachineShareItEqually(t *testing.T) {
	r := run(t, Config{
		Physical: []Physical{{Disk: 10}}, Machines: []Machine{{Slots: [kinds]int{1}}, {Slots: [kinds]int{1}, Background: 2}}, Record: true,
		Jobs: []Job{{Phases: []Phase{{Tasks: []Task{{Writes: 50, Replicas: []int32{0}}, {Writes: 50, Replicas: []int32{1}}}}}}},
	})
	assert.Equal(t, seconds(10), r.Runs[0].End, "50 bytes at 5 a second")
	assert.Equal(t, seconds(20), r.Runs[1].End, "16.7 bytes at 1.67 a second, then 33.3 at 3.33, as the other has ended")
}

// Reduces copy through the card of their physical machine while maps run. The last part is there only when the last
// map has ended.
func TestReducesCopyThroughTheCardOfTheirPhysicalMachine(t *testing.T) {
	c := Config{
		Physical: []Physical{{}, {Card: 10, Disk: 100}},
		Machines: []Machine{{Slots: [kinds]int{1}}, {Physical: 1, Slots: [kinds]int{0, 2}}},
		Jobs: []Job{{Phases: []Phase{
			{Tasks: sleep(4, 4, 4, 4)},
			{Kind: Reduce, After: []int{0}, Begin: 0.25, Tasks: []Task{{Bytes: 40, Writes: 100}, {Bytes: 40}}, ReadScore: 1.0 / 3},
		}}},
	}
	s, err := newSim(&c)
	require.NoError(t, err)
	for s.step() && s.now < seconds(4) {
	}
	s.now = seconds(7)
	assert.InDelta(t, 1.0/4, s.shareRead(1), 1e-9, "15 of 40 bytes could be through, but one of four maps has ended")
	r := run(t, c)
	assert.Equal(t, seconds(16+2+1), r.End, "both have 30 of 40 bytes when the last map ends, 10 more at 5 a second, then 1 s of writing")
	c.Jobs[0].Phases[1].Begin = 0
	assert.Equal(t, seconds(16+8+1), run(t, c).End, "nothing is copied before the last map ends")
	c.Racks, c.Machines[1].Rack = []Rack{{Up: 5, Down: 5}, {Up: 5, Down: 5}}, 1
	assert.Equal(t, seconds(16+16+1), run(t, c).End, "80 bytes at 5 a second")
}

// An attempt reads for 2 s, computes for 2 s and writes for 4 s. With the luck 2 it computes and writes for twice as long.
func TestProgressOfAnAttemptThatWrites(t *testing.T) {
	c := Config{
		Physical: []Physical{{Disk: 10}}, Machines: machines(1, 1, 0, 1),
		Jobs: []Job{{Phases: []Phase{{Tasks: []Task{{Bytes: 20, Seconds: 2, Writes: 40}}}}}},
	}
	s, err := newSim(&c)
	require.NoError(t, err)
	for _, at := range []struct{ event, look, want float64 }{{0, 1, 0.125}, {2, 3, 0.375}, {4, 6, 0.75}} {
		require.True(t, s.step())
		assert.Equal(t, seconds(at.event), s.now)
		s.now = seconds(at.look)
		assert.InDelta(t, at.want, s.score(0), 1e-9)
	}
	c.Jobs[0].Phases[0].Luck = func(*rand.Rand, int, int, int) float64 { return 2 }
	assert.Equal(t, seconds(2+4+8), run(t, c).End)
}
