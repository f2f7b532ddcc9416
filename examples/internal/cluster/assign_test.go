package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay/assign"
)

// pair is a map and a reduce that reads it, both cloned once; the map's second copy takes two seconds longer. A read
// takes 10 s, and twice that where it is shared.
func pair(window time.Duration) Config {
	return Config{
		Machines: machines(4, 1, 1, 1), Explain: 1, Contention: 0.5,
		Clone: &clone.Config{BudgetShare: clone.Off, Ceiling: clone.Off}, Straggler: 0.1,
		Assign: &Assignment{Fixed: true, Window: window},
		Jobs: []Job{{Phases: []Phase{
			{Tasks: sleep(10), Luck: func(*rand.Rand, int, int, int) float64 { return 1 }},
			{Kind: Reduce, After: []int{0}, Fetch: 10, Tasks: []Task{{Seconds: 5, Bytes: 100}}},
		}}},
	}
}

func TestClonesReadOutputsOfTheirOwn(t *testing.T) {
	for _, pattern := range []assign.Pattern{assign.AllToAll, assign.ManyToOne, assign.OneToOne} {
		readOutputsOfTheirOwn(t, pattern)
	}
}

func readOutputsOfTheirOwn(t *testing.T, pattern assign.Pattern) {
	t.Helper()
	for window, want := range map[time.Duration]struct {
		end  float64
		says string
	}{
		0:              {35, "share window-over input=0 clone=0 kill-rest=true"},
		time.Second:    {34, "wait=1s"},
		assign.Forever: {25, "wait window-open"},
	} {
		c := pair(window)
		c.Jobs[0].Phases[1].Pattern = pattern
		first := true
		c.Jobs[0].Phases[0].Luck = func(*rand.Rand, int, int, int) float64 { // drawn as the copies are launched
			if first {
				first = false
				return 1
			}
			return 1.2
		}
		r := run(t, c)
		assert.Equal(t, seconds(want.end), r.End.Round(time.Millisecond), "window %v, %v", window, pattern)
		story := ""
		for _, l := range r.Story {
			story += l.At.String() + " " + l.Text + "\n"
		}
		assert.Contains(t, story, want.says)
	}
}

// The second copy of the map takes 20 s longer, and the first reduce computes for 50 s. The second reduce reads after the
// first, from 20 s on, or has an output of its own from 30 s on.
func TestExclusiveOutputsHaveOneReaderOfATask(t *testing.T) {
	slower := func(first, second float64) func(*rand.Rand, int, int, int) float64 {
		return func(*rand.Rand, int, int, int) float64 { // drawn as the copies are launched
			defer func() { first = second }()
			return first
		}
	}
	for exclusive, want := range map[bool]float64{false: 35, true: 45} {
		c := pair(assign.Forever)
		c.Assign.Exclusive = exclusive
		c.Jobs[0].Phases[0].Luck, c.Jobs[0].Phases[1].Luck = slower(1, 3), slower(10, 1)
		assert.Equal(t, seconds(want), run(t, c).End, "exclusive %v", exclusive)
	}
}

// small are jobs whose phases of four are cloned, and read all of each other; one copy in ten takes up to eight times
// as long.
func small(seed uint64) Config {
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.IntN(10) == 0 {
			return 2 + 6*r.Float64()
		}
		return 0.8 + 0.4*r.Float64()
	}
	c := Config{
		Machines: machines(40, 2, 2, 1), Seed: seed, Contention: 0.75, Straggler: 0.1,
		Clone: &clone.Config{BudgetShare: clone.Off, Ceiling: clone.Off},
	}
	for i := range 200 {
		job := Job{At: seconds(float64(i) * 20)}
		job.Phases = append(job.Phases, Phase{Tasks: sleep(10, 10, 10, 10), Luck: luck})
		reduce := Phase{Kind: Reduce, After: []int{0}, Fetch: 10, Luck: luck}
		for range 4 {
			reduce.Tasks = append(reduce.Tasks, Task{Seconds: 5, Bytes: 80})
		}
		job.Phases = append(job.Phases, reduce)
		c.Jobs = append(c.Jobs, job)
	}
	return c
}

// Windows that are learned come to within 2 % of the better of sharing at once and never sharing, which know nothing.
// They do not reach it here: every job is cloned, so nothing shows how long a task computes that runs alone, and the
// window is the one that is best for the mean clone and not for the first.
func TestLearnedWindowsComeNearTheBetterFixedOne(t *testing.T) {
	mean := func(c Config) float64 {
		sum := 0.0
		for _, j := range run(t, c).Jobs {
			sum += j.Took().Seconds()
		}
		return sum / float64(len(c.Jobs))
	}
	for seed := range uint64(3) {
		c := small(seed)
		alone := c
		alone.Contention = 0
		c.Assign = &Assignment{Every: time.Minute}
		learned := mean(c)
		c.Assign = &Assignment{Fixed: true, Window: assign.Forever}
		never := mean(c)
		c.Assign = nil
		atOnce := mean(c)
		assert.LessOrEqual(t, learned, 1.02*min(atOnce, never))
		assert.GreaterOrEqual(t, min(atOnce, never), mean(alone), "sharing costs time")
	}
}
