package estimate

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// After a phase has had the same number of tasks for a while, a progress report causes no allocation.
func TestReportsDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	held := make([]int, 2000)
	for i := range held {
		held[i] = rates.Running(NoSample, ran(r.Float64(), 1+r.Float64()))
	}
	change := func() {
		i := r.IntN(len(held))
		held[i] = rates.Running(held[i], ran(r.Float64(), 1+r.Float64()))
	}
	for range 20 * len(held) {
		change()
	}
	model := Linear{Window: time.Minute, Grace: time.Second}
	var p Progress
	var wrapUp WrapUp
	learned := Fresh{UnitTime: rates, Work: 3, Lag: time.Second}
	foreign := Fresh{UnitTime: distuv.LogNormal{Mu: 1, Sigma: 1}, Work: 3}
	parts := []Subphase{{Weight: .5, Score: .5, Age: 1e9}, {Weight: .5, PeerRate: .1}}
	age := time.Duration(0)
	for name, f := range map[string]func(){
		"Running": change,
		"Linear": func() {
			age += time.Second
			model.Report(&p, age, age.Seconds())
			sink = float64(model.Remaining(&p, age+2*time.Second, 1e9))
		},
		"TimeLeft":  func() { sink = float64(TimeLeft(.5, time.Second) + TimeLeftBySubphase(parts)) },
		"WrapUp":    func() { wrapUp.Observe(1, 3); sink = float64(wrapUp.Mean()) },
		"Fresh":     func() { sink = learned.Mean() + learned.Below(2) + learned.CDF(2) + learned.Quantile(.3) },
		"a distuv":  func() { sink = foreign.Mean() + foreign.Below(2) + foreign.CDF(2) + foreign.Quantile(.3) },
		"UnitTimes": func() { sink = rates.Mean() + rates.Below(2) + rates.CDF(2) + rates.Quantile(.3) + rates.all.At(1) },
		"Empirical": func() { x := rates.all.At(7); rates.all.Delete(x); rates.all.Insert(x) },
	} {
		assert.Zero(t, testing.AllocsPerRun(2000, f), name)
	}
}

// The memory of 100,000 samples, or of a million with STRAGGLER_LIVES, includes the unused capacity of the slices and
// the lists of free nodes.
func TestEmpiricalMemoryPerSample(t *testing.T) {
	if testing.Short() {
		t.Skip("many samples a workload")
	}
	n := 100_000
	if os.Getenv("STRAGGLER_LIVES") != "" {
		n = 1_000_000
	}
	for _, w := range []struct {
		name string
		next func(i int, r *rand.Rand) float64
	}{{"random", workloads[0].next}, {"ascending", workloads[3].next}, {"descending", workloads[5].next}, {"equal", workloads[2].next}} {
		r := rand.New(rand.NewPCG(1, 2))
		e := new(Empirical)
		for i := range n {
			e.Insert(w.next(i, r))
		}
		assert.Less(t, bytesPerValue(e), 24.0, w.name)
	}
	e, values := filled(n)
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 2 * n { // running tasks with changing rates
		old := &values[i%n]
		if !e.Delete(*old) {
			t.Fatalf("the value %v is not found", *old)
		}
		*old = r.Float64()
		e.Insert(*old)
	}
	assert.Less(t, bytesPerValue(e), 24.0, "bytes a value after all values changed twice")
	require.NoError(t, e.values.check())
}
