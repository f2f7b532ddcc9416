package tracker_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// reporting runs 100 tasks of 100 to 150 s on ten machines. If slow is set, one task in a few takes six times as
// long. The argument report gives the report of an attempt that has done a given share of its work.
func reporting(
	t *testing.T, policy restart.Policy, slow bool, report func(rng *rand.Rand, share float64) float64,
) (took time.Duration, all tracker.Ledger) {
	t.Helper()
	for seed := range cases(5, 20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		work := make([]float64, 100)
		for i := range work {
			work[i] = 100 + 50*rng.Float64()
		}
		s := newSim(t, tracker.Config{
			Work: work, Machines: 10, Interval: 10 * time.Second, Policy: policy, Limits: published,
		}, func(task, _, _ int) time.Duration {
			d := seconds(work[task] * (0.9 + 0.2*rng.Float64()))
			if slow && rng.IntN(20) == 0 {
				d *= 6
			}
			return d
		})
		noise := rand.New(rand.NewPCG(seed, 6))
		s.done = func(task int, share float64) tracker.Report {
			return tracker.Report{Done: work[task] * report(noise, share)}
		}
		took += s.run(t)
		all.Add(s.tracker.Ledger())
	}
	return took, all
}

// Progress in too small a unit does not harm a healthy phase: no task is restarted or copied, as with the right unit.
// Before the tracker detected such units, a unit of 1/100 caused 407 restarts and 561 copies of 500 tasks, and the
// phase took 1.5 times as long.
func TestTooSmallAUnitCostsAHealthyPhaseNothing(t *testing.T) {
	never, _ := reporting(t, restart.Never{}, false, func(_ *rand.Rand, share float64) float64 { return share })
	for _, unit := range []float64{1, 0.1, 0.05, 0.01, 1e-3, 1e-6} {
		report := func(_ *rand.Rand, share float64) float64 { return share * unit }
		took, l := reporting(t, restart.Mantri{}, false, report)
		assert.Zero(t, l.Copies+l.Restarts, "unit %v: %v", unit, l)
		assert.LessOrEqual(t, took, never, "unit %v", unit)
		took, l = reporting(t, nil, false, report) // with learned factors of machines, one in five hundred
		assert.LessOrEqual(t, l.Copies+l.Restarts, l.Finished/500, "unit %v: %v", unit, l)
		assert.LessOrEqual(t, float64(took), 1.0001*float64(never), "unit %v", unit)
		assert.Equal(t, unit < 1./12, l.SmallUnits > 0, "unit %v: %v", unit, l)
	}
}

// If some tasks are slow, progress in too small a unit costs at most 2 % more than no reports at all.
func TestTooSmallAUnitCostsWhatSilenceCosts(t *testing.T) {
	silent, _ := reporting(t, nil, true, func(*rand.Rand, float64) float64 { return 0 })
	never, _ := reporting(t, restart.Never{}, true, func(*rand.Rand, float64) float64 { return 0 })
	for _, unit := range []float64{0.05, 0.01, 1e-6} {
		took, l := reporting(t, nil, true, func(_ *rand.Rand, share float64) float64 { return share * unit })
		t.Logf("unit %v: %v, silent %v, never %v; %v", unit, took, silent, never, l)
		assert.Less(t, float64(took), 1.02*float64(silent), "unit %v: %v", unit, l)
		assert.Less(t, took, never)
	}
}

// Progress of any shape is not mistaken for progress in too small a unit, if it shows anything.
func TestShapesOfProgressAreNoSmallUnits(t *testing.T) {
	for name, report := range map[string]func(*rand.Rand, float64) float64{
		"even":          func(_ *rand.Rand, share float64) float64 { return share },
		"early":         func(_ *rand.Rand, share float64) float64 { return math.Sqrt(share) },
		"late":          func(_ *rand.Rand, share float64) float64 { return share * share * share * share },
		"later":         func(_ *rand.Rand, share float64) float64 { return math.Pow(share, 7) },
		"stalls early":  func(_ *rand.Rand, share float64) float64 { return max(0.1, 2*share-1) },
		"steps":         func(_ *rand.Rand, share float64) float64 { return math.Floor(share*4) / 4 },
		"at random":     func(rng *rand.Rand, share float64) float64 { return share * rng.Float64() },
		"only at a end": func(_ *rand.Rand, share float64) float64 { return math.Floor(share + 0.1) },
		"nothing":       func(*rand.Rand, float64) float64 { return 0 },
	} {
		_, l := reporting(t, nil, true, report)
		assert.LessOrEqual(t, l.SmallUnits, l.Finished/100, "%s: %v", name, l)
	}
}

// The attempts of a phase change to the right unit. Their progress is believed again when three quarters of the
// attempts have shown progress.
func TestACorrectedUnitIsBelieved(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 40, Slots: 1, Interval: time.Second})
	run := func(task int, unit float64) (last tracker.Answer) {
		began := float64(20 * task)
		tr.Start(at(began), task, 0)
		for s := 1.; s < 10; s++ {
			last = tr.Report(at(began+s), task, 0, tracker.Report{Done: s / 10 * unit})
		}
		tr.Finish(at(began+10), task, 0)
		return last
	}
	for task := range 4 {
		run(task, 0.001)
	}
	assert.Equal(t, 4, tr.Ledger().SmallUnits)
	assert.Equal(t, restart.ByAge, run(4, 0.001).Basis)
	for task := 5; task < 30; task++ {
		run(task, 1)
	}
	assert.Equal(t, 5, tr.Ledger().SmallUnits)
	assert.Equal(t, restart.ByProgress, run(30, 1).Basis)
}

// A single report in another unit is ignored, and the next report is used again.
func TestOneReportInAnotherUnitIsIgnored(t *testing.T) {
	policy := rules.LATE{MinAge: restart.Off, SlowTask: restart.Off, UseRemaining: true}
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 2, Interval: 10 * time.Second, Policy: policy, Limits: published})
	tr.Start(at(0), 0, 0)
	var a tracker.Answer
	for _, r := range [][2]float64{{20, 0.2}, {30, 30}, {40, 0.4}, {50, 0.5}} { // seconds, and work done
		a = tr.Report(at(r[0]), 0, 0, tracker.Report{Done: r[1]})
	}
	assert.Equal(t, 1, tr.Ledger().BadUnits)
	assert.InDelta(t, 50, a.Remaining.Seconds(), 5, "%v", a)
}
