package survival

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// If AtMost knows a bound, there is an outlook, and its quantile 31/32 does not exceed the bound.
func TestAtMostBoundsTheOutlook(t *testing.T) {
	rng, known, asked, near := rand.New(rand.NewPCG(3, 9)), 0, 0, 0
	for range 300 {
		kind := new(Shape)
		shape := new(Shape)
		if rng.IntN(2) == 0 {
			for range rng.IntN(12) {
				kind.learn(trailOf(rng, 100), 100*time.Second, estimate.Linear{}, nil)
			}
			shape = kind.Phase()
		}
		var curve Curve
		for range rng.IntN(1 + []int{1, 8, 100, 1000}[rng.IntN(4)]) {
			took := 60 + 80*rng.Float64()
			if curve.Observe(took, rng.IntN(10) > 0); rng.IntN(3) > 0 {
				shape.Finish(trailOf(rng, took), time.Duration(took*1e9), estimate.Linear{})
			}
		}
		curve.Fit()
		for range 100 {
			p := Prediction{
				Age: 150 * rng.Float64(), Stage: rng.IntN(Parts + 1), Scale: []float64{0, 1, 1.7}[rng.IntN(3)],
				Expected: rng.IntN(2) == 0, StallWeight: 2 * rng.Float64(), Even: rng.IntN(3) == 0,
			}
			if p.Total = p.Age + 150*rng.Float64(); rng.IntN(2) == 0 {
				p.TotalAtStage = p.Total * (0.5 + rng.Float64())
			}
			asked++
			most, ok := shape.AtMost(p, &curve)
			if !ok {
				continue
			}
			known++
			var o Outlook
			require.True(t, shape.Outlook(&o, p, &curve), "AtMost knows a bound, so there is an outlook")
			require.LessOrEqual(t, o.Quantile(31./32), most, "the bound of %+v is too small", p)
			if most <= o.Quantile(31./32)*1.3 {
				near++
			}
		}
	}
	t.Logf("AtMost knew %d of %d bounds; %d of them are within a factor of 1.3", known, asked, near)
	assert.Greater(t, known, asked/10, "AtMost knows a bound often")
	assert.Greater(t, near, known/2, "most bounds are close")
}

// An attempt may be exactly as old as an error predicts. Then the time of that error stands for less than its whole
// weight, because only the near times beyond the age are left, and an assumed error of the same weight can exceed it.
func TestAtMostBoundsTheOutlookOfAnAttemptThatIsDue(t *testing.T) {
	var curve Curve
	for range 3 {
		curve.Observe(150, true) // within a factor of 1.3 of the assumed total of 125 s, and not of 100 s
	}
	curve.Fit()
	p := Prediction{Age: 100, Total: 100, Stage: 3, Even: true}
	for n := 1; n <= 200; n++ {
		var s Shape
		for range n {
			s.rings()[p.Stage].put(1, 0)
		}
		if most, known := s.AtMost(p, &curve); known {
			var o Outlook
			require.True(t, s.Outlook(&o, p, &curve))
			require.LessOrEqual(t, o.Quantile(31./32), most, "after %d errors", n)
		}
	}
	var s Shape
	s.rings()[p.Stage].put(1, 0)
	curve.Reset()
	for range 3 {
		curve.Observe(100, true)
	}
	curve.Fit()
	var o Outlook
	require.True(t, s.Outlook(&o, p, &curve))
	assert.InDelta(t, 15, o.Quantile(.5), 1e-9, "it is due, and not done: it ends between 100 and 130 s")
}

// Ended tasks took as long as the errors predict, so the assumed errors weigh next to nothing: AtMost knows the bound,
// and the bound is the predicted total less the age. The same is true in other units.
func TestAtMostKnowsTheBoundOfARightPrediction(t *testing.T) {
	var s Shape
	var curve Curve
	for range 100 {
		s.rings()[3].put(1, 0)
		curve.Observe(100, true)
	}
	curve.Fit()
	for _, scale := range []float64{0, 1, 5, 0.2} {
		p := Prediction{Scale: scale, Stage: 3}
		p.Age, p.Total = 30*p.scale(), 100*p.scale()
		most, known := s.AtMost(p, &curve)
		require.True(t, known, "one unit is %v s", scale)
		assert.InEpsilon(t, 70*p.scale(), most, 1e-12)
	}
}

// trailOf returns the trail of an attempt that took the given seconds. Its progress is off by up to a tenth.
func trailOf(rng *rand.Rand, took float64) *Trail {
	t := new(Trail)
	for part := 0.1; part < 1; part += 0.1 {
		t.Report(time.Duration(took*part*1e9), part*(0.9+0.2*rng.Float64()))
	}
	return t
}
