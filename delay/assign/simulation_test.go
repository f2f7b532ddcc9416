package assign

import (
	"flag"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time. Benchmarks are measured as a host would run the code.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(800)
	}
	m.Run()
}

// twoPhases is a job of two phases with all-to-all reads between them, in virtual time. Every task has three clones. One
// clone in ten takes eight times as long as the others.
type twoPhases struct {
	tasks      int
	alone      float64 // seconds to read one output
	contention float64
	upstream   [][]float64 // by task and clone: when the clone ends
	compute    [][]float64 // by task and clone: seconds of computation
}

const simClones, simStep = 3, .1

func newTwoPhases(rng *rand.Rand, tasks int, alone, contention float64) twoPhases {
	j := twoPhases{tasks: tasks, alone: alone, contention: contention}
	took := func(usual float64) []float64 {
		durations := make([]float64, simClones)
		for i := range durations {
			durations[i] = usual * (1 + .3*rng.Float64())
			if rng.Float64() < .1 {
				durations[i] *= 8
			}
		}
		return durations
	}
	for range tasks {
		j.upstream = append(j.upstream, took(10))
		j.compute = append(j.compute, took(8))
	}
	return j
}

// run returns the end of the job: every downstream task has a clone that has read all inputs and has computed.
func (j *twoPhases) run(t *testing.T, window time.Duration) (end float64) {
	for task := range j.tasks {
		end = max(end, j.runTask(t, task, window))
	}
	return end
}

// reading is the state of a downstream task's clone.
type reading struct {
	read        []bool
	done        int
	input, from int     // the current read, if left is above 0
	left        float64 // seconds at full bandwidth
	ended       bool
}

func (j *twoPhases) runTask(t *testing.T, task int, window time.Duration) float64 {
	clones := make([]reading, simClones)
	readers := make([][]int, j.tasks) // by input and upstream clone: number of clones told to read the output
	for i := range readers {
		readers[i] = make([]int, simClones)
	}
	for i := range clones {
		clones[i] = reading{read: make([]bool, j.tasks)}
	}
	first := math.Inf(1)
	for now := 0.0; now < first; now += simStep {
		if now >= 1000 { // an assertion takes longer than a step
			require.FailNow(t, "the task does not end")
		}
		j.progress(clones)
		for i := range clones {
			c := &clones[i]
			if c.left <= 0 && c.done < j.tasks {
				j.ask(clones, i, readers, now, window)
			}
			if c.left <= 0 && c.done == j.tasks && !c.ended {
				c.ended = true
				first = min(first, now+j.compute[task][i])
			}
		}
	}
	return first
}

// progress continues all reads by a step: a single reader of an output has the full bandwidth, and several readers have a
// share each.
func (j *twoPhases) progress(clones []reading) {
	for i := range clones {
		c := &clones[i]
		if c.left <= 0 {
			continue
		}
		rate := 1.0
		for k := range clones {
			if o := &clones[k]; k != i && o.left > 0 && o.input == c.input && o.from == c.from {
				rate = j.contention
			}
		}
		c.left -= rate * simStep
	}
}

// ask asks Decide what a clone should read now, and starts the read.
func (j *twoPhases) ask(clones []reading, clone int, readers [][]int, now float64, window time.Duration) {
	inputs, which := make([]Input, 0, j.tasks), make([]int, 0, j.tasks)
	states := make([]Clone, simClones*j.tasks)
	c := &clones[clone]
	for u := range j.tasks {
		if c.read[u] {
			continue
		}
		in := Input{Clones: states[simClones*u : simClones*u+simClones]}
		for i, end := range j.upstream[u] {
			if end <= now {
				in.Clones[i] = Clone{State: Finished, Readers: readers[u][i]}
			}
		}
		in.Waited = time.Duration(max(0, now-slices.Min(j.upstream[u])) * 1e9)
		for ahead := range clone {
			if !clones[ahead].read[u] {
				in.Ahead++
			}
		}
		inputs, which = append(inputs, in), append(which, u)
	}
	if d := Decide(inputs, window); d.Action != Wait {
		u := which[d.Input]
		c.read[u], c.input, c.from, c.left = true, u, d.Clone, j.alone
		c.done++
		readers[u][d.Clone]++
	}
}

// model returns the model that a host would learn from similar jobs in which all clones ran to their end.
func (j *twoPhases) model(rng *rand.Rand) Model {
	m := Model{
		Size: j.alone, Bandwidth: 1, Contention: j.contention, Clones: simClones, Inputs: j.tasks, Pairing: Coordinated,
	}
	for range 100 {
		like := newTwoPhases(rng, j.tasks, j.alone, j.contention)
		for task := range like.tasks {
			ends := slices.Sorted(slices.Values(like.upstream[task]))
			for _, end := range ends[1:] {
				m.Lags = append(m.Lags, time.Duration((end-ends[0])*1e9))
			}
			for _, took := range like.compute[task] {
				m.Compute = append(m.Compute, time.Duration(took*1e9))
			}
		}
	}
	return m
}

// "Delay assignment outperforms CAC and CC" (§5.3). With the window of ChooseWindow and the answers of Decide, jobs end
// earlier than with a window of 0 (CC) and with an endless window (CAC), in virtual time. No other window is better by more
// than 1 %. If sharing costs little, as with α = 0.9, or for a single task, CC or CAC are about as good.
func TestDelayAssignmentBeatsBoth_Dolly53(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tasks, jobs       int
		alone, contention float64
		better            bool // delay assignment must be better than both by more than chance
	}{{1, 60, 3, .75, false}, {2, 60, 1, .5, true}, {2, 60, 3, .9, false}, {10, 15, 1, .5, true}} {
		rng := rand.New(rand.NewPCG(5, 3))
		sample := newTwoPhases(rng, c.tasks, c.alone, c.contention)
		choice, err := ChooseWindow(sample.model(rng))
		require.NoError(t, err)
		windows := []time.Duration{choice.Window, 0, Forever, time.Second / 2, 2 * time.Second, 4 * time.Second}
		ends := make([]float64, len(windows))
		for range c.jobs {
			job := newTwoPhases(rng, c.tasks, c.alone, c.contention)
			for i, window := range windows {
				ends[i] += job.run(t, window) / float64(c.jobs)
			}
		}
		t.Logf("%+v: ω=%v ends %.2f s, CC %.2f s, CAC %.2f s", c, choice.Window, ends[0], ends[1], ends[2])
		assert.LessOrEqual(t, ends[0], slices.Min(ends)*1.01, "%+v", c)
		if c.better {
			assert.Less(t, ends[0], min(ends[1], ends[2])*.985, "%+v", c)
		}
	}
}
