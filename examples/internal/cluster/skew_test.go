package cluster

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/laxity/outlier"
	"github.com/straggler-go/straggler/restart"
)

// keysOf makes keys of very different numbers of values, as many as n maps find.
func keysOf(rng *rand.Rand, maps, keys, partitions int) *Keys {
	k := &Keys{Partitions: partitions, Seconds: 0.01, Bytes: 1}
	for range maps {
		row := make([]int64, keys)
		for i := range row {
			row[i] = int64(100 * math.Pow(rng.Float64(), -0.7) / float64(maps))
		}
		k.Values = append(k.Values, row)
	}
	return k
}

// skewed is a job whose maps have shown how fast each worker is when its reduces begin.
func skewed(seed uint64, workers int) Config {
	rng := rand.New(rand.NewPCG(seed, 8))
	c := Config{
		Machines: machines(workers, 1, 1, 1), Seed: seed, Interval: time.Second, Restart: restart.Never{}, LearnMachines: true,
	}
	for i := range c.Machines {
		c.Machines[i].Speed = []float64{1, 0.5, 2}[i%3]
	}
	maps := sleep()
	for range 16 * workers {
		maps = append(maps, Task{Seconds: 10})
	}
	c.Jobs = []Job{{Phases: []Phase{
		{Tasks: maps}, {Kind: Reduce, After: []int{0}, Tasks: make([]Task, workers), Keys: keysOf(rng, len(maps), 60, 4*workers)},
	}}}
	return c
}

func reduceTime(r Result) float64 {
	p := r.Jobs[0].Phases
	return (p[1].End - p[1].Opened).Seconds()
}

// No way to share the values out ends sooner than all of them over the sum of the speeds. By size and speed it is a
// tenth more at most, with four partitions for a reduce; by plain hashing, twice as much.
func TestReducesAreSharedOutBySizeAndSpeed(t *testing.T) {
	for seed := range uint64(5) {
		c := skewed(seed, 6)
		hashed := run(t, c)
		c.Skew = &Skew{}
		shared := run(t, c)
		require.Equal(t, hashed.Jobs[0].Phases[0].End, shared.Jobs[0].Phases[0].End)

		keys := c.Jobs[0].Phases[1].Keys
		total := 0.0
		for _, row := range keys.Values {
			for _, n := range row {
				total += float64(n)
			}
		}
		least := total * keys.Seconds / (2 * 3.5) // six workers of 1, 0.5 and 2
		assert.GreaterOrEqual(t, reduceTime(shared), least)
		assert.Greater(t, reduceTime(hashed), 1.8*least)
		assert.Less(t, reduceTime(shared), 1.1*least, "hashed: %v", reduceTime(hashed))
	}
}

// A task's time is predicted from runs of other jobs that had as much to do.
func TestLaxityGoesByWhatTasksTookBefore(t *testing.T) {
	c := Config{
		Machines: machines(1, 1, 0, 1), Forecast: &knn.Config{}, Explain: 2,
		Order: Order{Laxity: &laxity.Policy{Rule: laxity.LeastFirst}},
	}
	for i := range 4 {
		c.Jobs = append(c.Jobs, Job{At: seconds(float64(i)), Phases: []Phase{{Tasks: []Task{{Seconds: 30, Work: 3}}}}})
	}
	c.Jobs[1] = Job{At: seconds(200), Phases: []Phase{{Tasks: []Task{{Seconds: 1, Work: 3}}}}}
	r := run(t, c)
	require.NotEmpty(t, r.Story)
	assert.Contains(t, r.Story[1].Text, "its longest task takes 30s by the 3 runs most like it")
}

// A worker on which a job is far slower than on others is found. The tasks that wait for this
// worker go elsewhere. So the job meets its deadline, which it would miss otherwise.
func TestOverloadedWorkerIsNamedAndUnloaded(t *testing.T) {
	c := Config{Machines: machines(12, 1, 0, 1), Interval: time.Second, Restart: restart.Never{}, Explain: 1}
	c.Machines[5].Slow = []Spell{{At: seconds(1), For: seconds(1000), Factor: 0.3}}
	tasks := make([]Task, 24)
	for i := range tasks {
		tasks[i] = Task{Seconds: 20, Work: 1}
	}
	c.Jobs = []Job{{Deadline: seconds(80), Phases: []Phase{{Tasks: tasks}}}}
	plain := run(t, c)
	c.Overload = &outlier.Config{}
	r := run(t, c)
	assert.Positive(t, r.Overloaded)
	assert.Zero(t, plain.Overloaded)
	story := ""
	for _, l := range r.Story {
		story += l.Text + "\n"
	}
	assert.Contains(t, story, "machine 5: overloaded")
	assert.LessOrEqual(t, r.End, plain.End)
}

// A task with a size for a worker that becomes slow, and that waits for this worker, goes elsewhere.
func TestTasksThatWaitForAnOverloadedWorkerGoElsewhere(t *testing.T) {
	c := skewed(1, 12)
	for i := range c.Machines {
		c.Machines[i].Speed = 1
	}
	reduces := &c.Jobs[0].Phases[1]
	reduces.Tasks, reduces.Keys = make([]Task, 24), keysOf(rand.New(rand.NewPCG(1, 1)), 192, 600, 96)
	forever, err := delay.New(delay.Config{Waits: []time.Duration{delay.Forever}})
	require.NoError(t, err)
	c.Skew = &Skew{Wait: forever}
	begun := run(t, c).Jobs[0].Phases[0].End
	c.Machines[5].Slow = []Spell{{At: begun + seconds(2), For: time.Hour, Factor: 0.2}}
	c.Jobs[0].Deadline = begun + seconds(120)
	waits := run(t, c)
	c.Overload = &outlier.Config{}
	r := run(t, c)
	assert.Positive(t, r.Offloaded)
	assert.Less(t, r.End, waits.End)
}
