package causes_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

// small is a world in which every task takes part in every fit.
func small() world {
	w := plainWorld
	w.tasks, w.machines = 200, 15
	return w
}

// consistent checks properties of every report, whatever the tasks.
func consistent(t *testing.T, p causes.Phase, r causes.Report) {
	t.Helper()
	require.Equal(t, len(p.Tasks), r.Tasks)
	require.LessOrEqual(t, r.Finished+r.Skipped, r.Tasks)
	last := -1
	for _, o := range r.Outliers {
		require.Greater(t, o.Task, last)
		last = o.Task
		require.Greater(t, o.Times, 1.)
		require.GreaterOrEqual(t, o.MachineRatio, 1.)
		require.GreaterOrEqual(t, o.MomentRatio, 1.)
		require.GreaterOrEqual(t, o.Expected, time.Duration(0))
		shared(t, o.Parts)
		if o.Explained {
			require.Zero(t, o.Parts.Machine)
			require.Zero(t, o.Parts.Contention)
		}
	}
	if len(r.Outliers) > 0 {
		shared(t, r.Parts)
	}
	require.GreaterOrEqual(t, r.Excess, time.Duration(0))
	_, err := json.Marshal(r) // marshalling fails on NaN
	require.NoError(t, err)
	require.NotContains(t, r.String(), "NaN")
}

// shared checks that the parts add up to 1.
func shared(t *testing.T, p causes.Parts) {
	t.Helper()
	sum := 0.0
	for c := causes.Unknown; c <= causes.Contention; c++ {
		share := p.Of(c)
		if !(share >= 0) {
			t.Fatalf("the share of %v is %v", c, share)
		}
		sum += share
	}
	require.InDelta(t, 1, sum, 1e-9)
}

func TestOrderOfTasksDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for number := range uint64(50) {
		p, _ := small().phase(number, number)
		want := causes.Explain(p)
		consistent(t, p, want)
		order := r.Perm(len(p.Tasks))
		q := causes.Phase{Tasks: make([]causes.Task, len(p.Tasks))}
		for to, from := range order {
			q.Tasks[to] = p.Tasks[from]
		}
		got := causes.Explain(q)
		consistent(t, q, got)
		require.Len(t, got.Outliers, len(want.Outliers))
		for _, o := range got.Outliers {
			k := slices.IndexFunc(want.Outliers, func(w causes.Outlier) bool { return w.Task == order[o.Task] })
			require.GreaterOrEqual(t, k, 0)
			require.Equal(t, want.Outliers[k].Cause, o.Cause)
			require.InDelta(t, want.Outliers[k].Parts.Of(o.Cause), o.Parts.Of(o.Cause), 1e-6)
		}
	}
}

// The host may choose any unit for bytes and any numbers for machines: the results are the same.
func TestUnitsAndNumbersDoNotMatter(t *testing.T) {
	for number := range uint64(50) {
		p, _ := small().phase(number, number)
		want := causes.Explain(p)
		q := causes.Phase{Tasks: slices.Clone(p.Tasks)}
		for i := range q.Tasks {
			q.Tasks[i].Bytes /= 1 << 20
			q.Tasks[i].Remote /= 1 << 20
			q.Tasks[i].Machine = math.MaxInt - 7*q.Tasks[i].Machine
			q.Tasks[i].Start += 1000 * time.Hour
		}
		got := causes.Explain(q)
		require.Equal(t, want.Outliers, got.Outliers)
		require.Equal(t, want.Parts, got.Parts)
		require.Equal(t, want.Moments == nil, got.Moments == nil)
	}
}

// A task that still runs and is below its expected time changes nothing. Above its expected time it is evidence
// against its machine.
func TestACensoredTaskCountsAboveItsExpectedTime(t *testing.T) {
	for number := range uint64(20) {
		p, _ := small().phase(number, number)
		want := causes.Explain(p)
		q := causes.Phase{Tasks: slices.Clone(p.Tasks)}
		for m := range 15 {
			q.Tasks = append(q.Tasks, causes.Task{Took: time.Second, Censored: true, Machine: m, Bytes: 1e8})
		}
		got := causes.Explain(q)
		want.Tasks += 15
		require.Equal(t, want, got)
	}
	tasks := even(40)
	for i := range tasks { // every task on machine 6 was killed
		if tasks[i].Machine == 6 {
			tasks[i].Took, tasks[i].Censored = 30*time.Second, true
		}
	}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 4, count(r, causes.Machine))
	assert.Equal(t, 36, r.Finished)
	assert.Equal(t, 10*time.Second, r.Slowest)
}

func TestPhasesOfAFewTasksAreConsistent(t *testing.T) {
	r := causes.Explain(causes.Phase{})
	assert.Equal(t, causes.Report{}, r)
	r = causes.Explain(causes.Phase{Tasks: []causes.Task{{Took: time.Second}, {}, {Took: -1}}})
	assert.Equal(t, 2, r.Skipped)
	assert.Equal(t, 1, r.Finished)
	assert.Empty(t, r.Outliers)
	r = causes.Explain(causes.Phase{Tasks: []causes.Task{
		{Took: time.Second, Waited: time.Hour}, {Took: 5 * time.Second}, {Took: 1},
	}})
	assert.Len(t, r.Outliers, 1)
	bill := causes.Charge([]causes.Phase{{}, {Tasks: []causes.Task{{}}}})
	assert.Equal(t, causes.Bill{Phases: 2}, bill)
	assert.Equal(t, causes.Unknown, bill.Fault())
}

// The parts of a bill add up.
func TestBillAddsUp(t *testing.T) {
	for number := range uint64(30) {
		var phases []causes.Phase
		for k := range uint64(5) {
			p, _ := small().phase(number, 100*number+k)
			for i := range p.Tasks {
				p.Tasks[i].Cohort = i % 3
			}
			phases = append(phases, p)
		}
		b := causes.Charge(phases)
		require.Equal(t, b.Wait, b.Machine+b.Split+b.Data+b.LostInput+b.Unexplained)
		shared(t, b.Parts())
		for i := range phases {
			slices.Reverse(phases[i].Tasks)
		}
		slices.Reverse(phases)
		again := causes.Charge(phases)
		require.Len(t, again.Machines, len(b.Machines))
		for k, m := range b.Machines {
			require.InDelta(t, m.Ratio, again.Machines[k].Ratio, 1e-9)
			m.Ratio = again.Machines[k].Ratio
			require.Equal(t, m, again.Machines[k])
		}
		require.InDelta(t, float64(b.Machine), float64(again.Machine), 1e3)
	}
}

func TestConfigNamesTheField(t *testing.T) {
	assert.NoError(t, causes.Config{}.Validate())
	assert.NoError(t, causes.Config{Outlier: 1.1, Residual: .99}.Validate())
	for _, c := range []causes.Config{{Outlier: 1}, {Outlier: -1}, {Outlier: math.NaN()}, {Outlier: math.Inf(1)}} {
		assert.ErrorContains(t, c.Validate(), "estimate/causes: Config.Outlier is")
		assert.Equal(t, 1.5, c.Effective().Outlier)
	}
	for _, c := range []causes.Config{{Residual: 1}, {Residual: -1}, {Residual: math.NaN()}} {
		assert.ErrorContains(t, c.Validate(), "estimate/causes: Config.Residual is")
		assert.Equal(t, .2, c.Effective().Residual)
	}
}

func TestNamesOfCausesReadBack(t *testing.T) {
	for c := causes.Unknown; c <= causes.Contention; c++ {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back causes.Cause
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c, back)
		assert.NotContains(t, string(text), " ")
	}
	_, err := causes.Cause(99).MarshalText()
	assert.ErrorContains(t, err, "estimate/causes: Cause is 99")
	var c causes.Cause
	assert.ErrorContains(t, c.UnmarshalText([]byte("moon")), "moon")
	assert.Equal(t, "Cause(99)", causes.Cause(99).String())
	assert.Zero(t, causes.Parts{}.Of(99))
	text, err := json.Marshal(causes.Outlier{Cause: causes.LostInput})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"cause":"lost-input"`)
}
