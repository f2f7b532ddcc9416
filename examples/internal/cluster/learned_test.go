package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/placement"
)

// How fast links are is learned from the reads over them: once it is, tasks are placed as if it had been known.
func TestLinksAreLearnedFromReads(t *testing.T) {
	c := Config{
		Machines: machines(12, 4, 4, 3), Remote: 1000,
		Racks: []Rack{{Up: 100, Down: 100}, {Up: 100, Down: 10}, {Up: 100, Down: 100}},
	}
	for i := range 8 {
		reduces := Phase{Kind: Reduce, After: []int{0}}
		for range 12 {
			reduces.Tasks = append(reduces.Tasks, Task{Bytes: 150})
		}
		job := Job{Phases: []Phase{{Tasks: sleep(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)}, reduces}}
		if i > 0 {
			job.Follows = i
		}
		c.Jobs = append(c.Jobs, job)
	}
	last := func(c Config) time.Duration { return run(t, c).Jobs[7].Took() }
	anywhere := last(c)
	c.Place = true
	known := last(c)
	c.Links = &placement.BandwidthConfig{Rule: placement.Start}
	learned := run(t, c)
	assert.Less(t, 2*known, anywhere, "the slow rack holds up whoever is there")
	assert.Greater(t, learned.Jobs[0].Took(), 2*known, "nothing is known at first")
	assert.Less(t, learned.Jobs[7].Took(), known+known/4)
}

// A machine that makes stragglers gets no task as long as the blacklist bans it.
func TestMachinesThatMakeStragglersAreBanned(t *testing.T) {
	c := Config{Machines: machines(20, 1, 0, 1), Record: true}
	for range 40 {
		job := Job{Phases: []Phase{{
			Luck: func(_ *rand.Rand, _, machine, _ int) float64 {
				if machine == 3 {
					return 4
				}
				return 1
			},
		}}}
		for range 40 {
			job.Phases[0].Tasks = append(job.Phases[0].Tasks, Task{Seconds: 10})
		}
		c.Jobs = append(c.Jobs, job)
	}
	for i := 1; i < len(c.Jobs); i++ {
		c.Jobs[i].Follows = i
	}
	there := func(r Result) (n int) {
		for _, r := range r.Runs {
			if r.Machine == 3 {
				n++
			}
		}
		return n
	}
	free := run(t, c)
	c.Blacklist = &clone.BlacklistConfig{Window: time.Minute, MinTasks: 1}
	banned := run(t, c)
	assert.Equal(t, 40, there(free), "one in each job")
	assert.Less(t, there(banned), 30)
	assert.Less(t, banned.End, free.End)
}
