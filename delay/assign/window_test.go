package assign

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func randomModel(rng *rand.Rand) Model {
	m := Model{
		Size: 10 * rng.Float64(), Bandwidth: 1, Contention: .05 + .95*rng.Float64(), Clones: 2 + rng.IntN(4),
		Inputs: 1 + rng.IntN(7), Pairing: Pairing(rng.IntN(2)), Lags: make([]time.Duration, 1+rng.IntN(30)),
	}
	for i := range m.Lags {
		m.Lags[i] = time.Duration(rng.ExpFloat64() * float64(rng.IntN(4)) * float64(time.Second))
		if rng.IntN(10) == 0 {
			m.Lags[i] = Forever
		}
	}
	for range rng.IntN(2) * rng.IntN(20) {
		m.Cut = append(m.Cut, time.Duration(rng.IntN(8))*time.Second/2)
	}
	for range rng.IntN(3) * rng.IntN(6) {
		m.Compute = append(m.Compute, time.Duration(rng.IntN(30))*time.Second)
	}
	return m
}

// slowTask returns the expected duration of a task by its definition: the mean over all combinations of computation times of
// the shortest clone's duration.
func slowTask(m Model, o Outcome) float64 {
	c, k := m.Clones, m.Inputs
	expected := func(r ReadTimes) float64 {
		return o.Sharing*r.Shared.Seconds() + (1-o.Sharing)*r.Own.Seconds()
	}
	reads := make([]float64, c)
	for i := range reads {
		reads[i] = float64(k) * expected(o.Other)
	}
	for input := range k {
		first := 0
		if m.Pairing == Spread {
			first = input % c
		}
		reads[first] += expected(o.First) - expected(o.Other)
	}
	if len(m.Compute) == 0 {
		mean := 0.0
		for _, r := range reads {
			mean += r / float64(c)
		}
		return mean
	}
	var mean func(clone int, least float64) float64
	mean = func(clone int, least float64) float64 {
		if clone == c {
			return least
		}
		total := 0.0
		for _, took := range m.Compute {
			total += mean(clone+1, min(least, reads[clone]+took.Seconds()))
		}
		return total / float64(len(m.Compute))
	}
	return mean(0, math.Inf(1))
}

// For all kinds of models, the exact window is at least as good as every window of a fine grid, and its numbers are right.
func TestWindowAgainstAGrid_Dolly44Step3(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for trial := range 300 {
		m := randomModel(rng)
		if trial%4 == 0 {
			m.InverseLag = 1 + time.Duration(rng.ExpFloat64()*2e9)
		}
		before := slices.Clone(m.Lags)
		best, err := ChooseWindow(m)
		require.NoError(t, err)
		require.Equal(t, before, m.Lags, "ChooseWindow changed its argument")
		at := func(window time.Duration) Outcome {
			o, err := m.At(window)
			if err != nil {
				require.NoError(t, err)
			}
			return o
		}
		require.Equal(t, at(best.Window), best.Outcome)
		require.Equal(t, at(0), best.AtOnce)
		require.Equal(t, at(best.InTurn.Window), best.InTurn)
		require.LessOrEqual(t, best.TaskTime, min(best.AtOnce.TaskTime, best.InTurn.TaskTime))
		require.LessOrEqual(t, best.Window.Seconds(), m.Size+1e-9)
		slack := 2e-9
		if m.InverseLag > 0 {
			slack = .02 * best.TaskTime.Seconds() // the error of a grid of 512 windows
		}
		for i := range 300 {
			window := time.Duration(float64(i) / 300 * m.Size * 1e9)
			if at(window).TaskTime.Seconds() < best.TaskTime.Seconds()-slack {
				require.Fail(t, "a window is better than the best", "%+v: the window %v is better than %v", m, window, best)
			}
		}
		if m.Clones <= 3 {
			require.InDelta(t, slowTask(m, best.Outcome), best.TaskTime.Seconds(), 1e-6, "%+v", m)
		}
	}
}

// The order of the samples does not change the window. A change of the unit scales the window.
func TestOrderAndUnitsOfTheSamplesDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		m := Model{Size: 8, Bandwidth: 2, Contention: .2 + .8*rng.Float64(), Inputs: 1 + rng.IntN(3)}
		for range 20 {
			m.Lags = append(m.Lags, time.Duration(rng.IntN(50))*100*time.Millisecond)
			m.Compute = append(m.Compute, time.Duration(rng.IntN(50))*time.Second)
		}
		best, err := ChooseWindow(m)
		require.NoError(t, err)
		rng.Shuffle(20, func(i, j int) { m.Lags[i], m.Lags[j] = m.Lags[j], m.Lags[i] })
		rng.Shuffle(20, func(i, j int) { m.Compute[i], m.Compute[j] = m.Compute[j], m.Compute[i] })
		again, err := ChooseWindow(m)
		require.NoError(t, err)
		require.Equal(t, best, again)
		for i := range m.Lags {
			m.Lags[i] *= 4
			m.Compute[i] *= 4
		}
		m.Size *= 4
		scaled, err := ChooseWindow(m)
		require.NoError(t, err)
		require.Equal(t, 4*best.Window, scaled.Window)
		require.InEpsilon(t, 4*best.TaskTime.Seconds(), scaled.TaskTime.Seconds(), 1e-9)
	}
}

// fill gives a bin random samples of all types.
func fill(w *WindowTable, rng *rand.Rand, tasks, n int) {
	for range n {
		w.ObserveLag(tasks, time.Duration(rng.ExpFloat64()*2e9))
		w.ObserveCut(tasks, time.Duration(rng.ExpFloat64()*2e9))
		w.ObserveCompute(tasks, time.Duration((8+rng.ExpFloat64())*1e9))
		w.ObserveRead(tasks, 100e6*rng.Float64(), time.Duration((5+5*rng.Float64())*1e9), false)
		w.ObserveRead(tasks, 100e6*rng.Float64(), time.Duration((9+5*rng.Float64())*1e9), true)
	}
}

// Each bin uses only its own latest samples, and only if it has enough samples.
func TestTableByBin_Dolly52(t *testing.T) {
	w, err := NewWindowTable(WindowTableConfig{Bins: []int{10}, MinSamples: 2, Keep: 4})
	require.NoError(t, err)
	assert.False(t, w.ObserveLag(1, -1))
	assert.False(t, w.ObserveCompute(1, -1))
	assert.False(t, w.ObserveCut(1, -1))
	assert.False(t, w.ObserveRead(1, math.NaN(), 1, true))
	assert.False(t, w.ObserveRead(1, 1, 0, false))
	assert.True(t, w.ObserveLag(5000, 0) && w.ObserveCompute(5000, 0) && w.ObserveCut(5000, 0), "no time is a sample, too")
	for i := range 4 {
		w.ObserveLag(10, time.Duration(1+i%2)*time.Second)
		w.ObserveLag(11, 5*time.Second)
		w.ObserveRead(10, 8e6, 8*time.Second, false)
		w.ObserveRead(10, 1e6, 4*time.Second, true)
		w.ObserveRead(11, 0, time.Second, false)
	}
	_, known := w.For(Job{Tasks: 10})
	assert.False(t, known, "a window must not be known before a refresh")
	w.ObserveCompute(10, 7*time.Second)
	w.Refresh()
	best, known := w.For(Job{Tasks: 1})
	require.True(t, known)
	m := Model{Lags: []time.Duration{1e9, 2e9, 1e9, 2e9}, Size: 8e6, Bandwidth: 1e6, Contention: .25}
	want, err := ChooseWindow(m)
	require.NoError(t, err)
	assert.Equal(t, want, best, "one computation time is too few to be used")
	_, known = w.For(Job{Tasks: 1000})
	assert.False(t, known, "a window must not be known without reads")
	_, known = w.For(Job{Tasks: 1, Clones: 1})
	assert.False(t, known, "a single clone has no other clone to share with")

	w.ObserveCompute(3, 9*time.Second)
	m.Compute = []time.Duration{9e9, 7e9}
	again, _ := w.For(Job{Tasks: 1})
	assert.Equal(t, best, again, "the answer must not change until the next refresh")
	w.Refresh()
	for range 2 {
		for clones := 2; clones < 8; clones++ {
			for inputs := 1; inputs < 5; inputs++ { // more different jobs than a bin remembers
				m.Clones, m.Inputs = clones, inputs
				want, err = ChooseWindow(m)
				require.NoError(t, err)
				best, known = w.For(Job{Tasks: 1, Clones: clones, Inputs: inputs})
				require.True(t, known)
				require.Equal(t, want, best)
			}
		}
	}
	for range 4 {
		w.ObserveLag(10, 3*time.Second) // replaces the older lags
	}
	w.Refresh()
	best, _ = w.For(Job{Tasks: 10})
	assert.Equal(t, 3*time.Second, best.Window)
}

func TestRingKeepsTheLatest(t *testing.T) {
	r := ring[int]{limit: 4}
	for i := range 11 {
		r.add(i)
	}
	assert.ElementsMatch(t, []int{7, 8, 9, 10}, r.items)
}

// A table is saved and restored at any point. The restored table answers as a table that never stopped.
func TestARestoredTableAnswersAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	var w WindowTable
	restored := snapshottest.Through(t, &w)
	steps := 20 // or 60 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		steps = 60
	}
	for range steps {
		seed, tasks, n := rng.Uint64(), 1+rng.IntN(600), 1+rng.IntN(60)
		fill(&w, rand.New(rand.NewPCG(seed, 0)), tasks, n)
		fill(restored, rand.New(rand.NewPCG(seed, 0)), tasks, n)
		if rng.IntN(3) == 0 {
			w.Refresh()
			restored.Refresh()
		}
		for _, tasks := range []int{1, 20, 100, 400, 1000} {
			job := Job{Tasks: tasks, Clones: 2 + rng.IntN(3), Inputs: 1 + rng.IntN(10)}
			want, known := w.For(job)
			got, also := restored.For(job)
			require.Equal(t, known, also)
			require.Equal(t, want, got)
		}
		if rng.IntN(3) == 0 {
			restored = snapshottest.Through(t, restored)
		}
	}
	var one WindowTable
	fill(&one, rand.New(rand.NewPCG(1, 0)), 100, 3)
	one.Refresh()
	snapshottest.Kept(t, "windows", &one)
	assert.EqualError(t, w.UnmarshalBinary([]byte("x")), "delay/assign: WindowTable: snapshot: version is 120, want 129; another version of the library wrote it: begin without it")
}
