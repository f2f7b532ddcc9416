package survival_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

var _ estimate.Distribution = (*survival.Outlook)(nil)

var model = estimate.Linear{Window: 100 * time.Second, Grace: 20 * time.Second}

// run lets an attempt report every 10 s, and finish. done returns the share of the work that is done after a share u
// of the time.
func run(s *survival.Shape, took time.Duration, done func(u float64) float64) {
	var t survival.Trail
	for age := 10 * time.Second; age < took; age += 10 * time.Second {
		t.Report(age, done(float64(age)/float64(took)))
	}
	s.Finish(&t, took, model)
}

func linear(u float64) float64 { return u }

// stalls passes the first third of the work in a twentieth of the time, and then nearly nothing until nine tenths of
// the time.
func stalls(u float64) float64 {
	switch {
	case u < 0.05:
		return u / 0.05 / 3
	case u < 0.9:
		return 1./3 + (u-0.05)/1000
	}
	return min(1, 0.334+(u-0.9)/0.1*0.666)
}

func TestLinearProgressIsLeftAsItIs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kind := new(survival.Shape)
	for range 50 {
		s := kind.Phase()
		for range 5 {
			run(s, time.Duration((50+100*r.Float64())*float64(time.Second)), linear)
		}
		for done := 0.; done <= 1; done += 0.001 {
			require.Equal(t, done, s.Time(done))
		}
		for stage := range survival.Parts {
			require.InDelta(t, 1, s.Bias(stage), 1e-3)
		}
	}
}

// If predictions have always been right, they become certain: the outlook narrows to the predicted time, whatever the
// curve says.
func TestARightPredictionBecomesCertain(t *testing.T) {
	kind := new(survival.Shape)
	var curve survival.Curve
	for range 20 {
		curve.Observe(100, true)
	}
	curve.Fit()
	before := 1.
	for range 6 {
		s := kind.Phase()
		for range 100 {
			run(s, 100*time.Second, linear)
		}
		var o survival.Outlook
		require.True(t, s.Outlook(&o, survival.Prediction{Age: 10, Total: 500, Stage: 1}, &curve))
		off := 1 - o.CDF(493) + o.CDF(487)
		assert.Less(t, off, before)
		before = off
	}
	assert.Less(t, before, 0.05)
}

func TestTheShapeCorrectsProgressThatStalls(t *testing.T) {
	s := new(survival.Shape)
	for range 50 {
		run(s, 100*time.Second, stalls)
	}
	assert.InDelta(t, 0.9, s.Time(0.42), 0.1)
	assert.Less(t, s.Time(0.1), 0.1)
	before := 0.
	for done := 0.; done <= 1; done += 0.001 {
		require.GreaterOrEqual(t, s.Time(done), before, "the share of the time falls at progress %v", done)
		before = s.Time(done)
	}
	assert.Equal(t, 1., s.Time(1))
}

// Reported speeds are inexact. If a task seems to take half as long again as the ended tasks, it probably takes no
// longer than they did. If it seems to take ten times as long, it probably does take longer.
func TestAPredictionDoesNotOutvoteTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := new(survival.Shape)
	var curve survival.Curve
	for range 60 {
		factor := math.Exp(0.4 * r.NormFloat64())
		run(s, 100*time.Second, func(u float64) float64 { return min(1, factor*u) })
		curve.Observe(90+20*r.Float64(), true)
	}
	curve.Fit()
	for total, want := range map[float64][2]float64{150: {80, 130}, 1000: {600, 1500}} {
		var o survival.Outlook
		require.True(t, s.Outlook(&o, survival.Prediction{Age: 10, Total: total, Stage: 1}, &curve))
		assert.Greater(t, 10+o.Mean(), want[0])
		assert.Less(t, 10+o.Mean(), want[1])
	}
}

// Before any error was seen, a prediction is replaced by a tenth of it until three tasks have ended.
func TestBeforeThreeEndsATenthOfThePredictionCounts(t *testing.T) {
	var s survival.Shape
	var o survival.Outlook
	var curve survival.Curve
	p := survival.Prediction{Age: 10, Total: 1000, Stage: 0}
	for range 3 {
		require.True(t, s.Outlook(&o, p, &curve))
		require.Equal(t, 90., o.Mean())
		require.True(t, o.Early())
		require.True(t, s.Outlook(&o, survival.Prediction{Age: 10, Total: 99}, &curve))
		require.Zero(t, o.Mean())
		curve.Observe(100+float64(curve.Len()), true)
		curve.Fit()
	}
	require.True(t, s.Outlook(&o, p, &curve))
	assert.Greater(t, o.Mean(), 200.)
	assert.False(t, o.Early())
	p.Expected = true
	require.True(t, s.Outlook(&o, p, new(survival.Curve)))
	assert.Greater(t, o.Mean(), 200.)
}

// Whatever is reported, the answers are sound: no NaN, no negative time, and probabilities that rise to 1.
func FuzzShape(f *testing.F) {
	f.Add([]byte{10, 30, 200, 255, 3, 90, 17, 0, 128, 250})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(survival.Shape).Phase()
		var curve survival.Curve
		var trail survival.Trail
		age := time.Duration(0)
		for i, b := range data {
			age += time.Duration(b) * time.Second
			trail.Report(age, []float64{float64(b) / 200, math.NaN(), -1, math.Inf(1), 1e-300}[max(0, int(b)%9-4)])
			var o survival.Outlook
			p := survival.Prediction{
				Age: age.Seconds(), Total: age.Seconds() * (1 + float64(b)/50), Stage: trail.Passed(), TotalAtStage: float64(i),
			}
			if s.Outlook(&o, p, &curve) {
				require.GreaterOrEqual(t, o.Mean(), 0.)
				require.GreaterOrEqual(t, o.Quantile(0.9), o.Quantile(0.1))
				require.InDelta(t, 1, o.CDF(math.Inf(1)), 1e-9)
				require.GreaterOrEqual(t, o.CDF(10), o.Below(10))
			}
			if b%16 == 0 {
				s.Finish(&trail, age, model)
				curve.Observe(age.Seconds(), true)
				curve.Fit()
				trail, age = survival.Trail{}, 0
			}
			before := 0.
			for done := 0.; done <= 1; done += 0.05 {
				require.GreaterOrEqual(t, s.Time(done), before)
				before = s.Time(done) - 1e-12
			}
			require.Greater(t, s.Bias(trail.Passed()), 0.)
		}
	})
}

func TestShapeDoesNotAllocate(t *testing.T) {
	s := new(survival.Shape).Phase()
	var curve survival.Curve
	curve.Observe(1, true)
	curve.Fit()
	var o survival.Outlook
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		run(s, 100*time.Second, linear)
		s.Outlook(&o, survival.Prediction{Age: 10, Total: 20, Stage: 1}, &curve)
	}))
}

// Attempts of a phase have similar errors, so together they are treated as a single attempt for the kind. Three large
// phases in a row with good predictions do not hide that other phases had bad predictions.
func TestAPhaseTeachesItsKindAsASingleAttempt(t *testing.T) {
	kind, off := new(survival.Shape), func(u float64) float64 { return 0.5 * u }
	for i := range 12 {
		s, done := kind.Phase(), linear
		if i < 9 && i%2 == 0 {
			done = off
		}
		for range 64 {
			run(s, 100*time.Second, done)
		}
	}
	var o survival.Outlook
	p := survival.Prediction{Age: 10, Total: 1000, Stage: 1, Expected: true}
	require.True(t, kind.Phase().Outlook(&o, p, new(survival.Curve)))
	assert.Greater(t, 10+o.Quantile(0.9), 1.5*(10+o.Quantile(0.2)))
	p.Expected = false
	assert.False(t, kind.Phase().Outlook(&o, p, new(survival.Curve)), "predictions are known to be wrong, and no task has ended")
	var curve survival.Curve
	for range 3 {
		curve.Observe(100, true)
	}
	curve.Fit()
	assert.True(t, kind.Phase().Outlook(&o, p, &curve))
}

// An attempt may be a little older than its predicted total. An attempt that was due at 100 s is nearly done at 105
// s; at 130 s its prediction was wrong.
func TestATotalBelowTheAgeLeavesALittleTime(t *testing.T) {
	s := new(survival.Shape)
	var curve survival.Curve
	for range 60 {
		run(s, 100*time.Second, linear)
		curve.Observe(100, true)
	}
	curve.Fit()
	var o survival.Outlook
	require.True(t, s.Outlook(&o, survival.Prediction{Age: 105, Total: 100, Stage: 9}, &curve))
	assert.InDelta(t, 12.5, o.Mean(), .1) // between 105 and 130 s
	require.True(t, s.Outlook(&o, survival.Prediction{Age: 90, Total: 100, Stage: 9}, &curve))
	assert.InDelta(t, 10, o.Mean(), 2)
	if s.Outlook(&o, survival.Prediction{Age: 130, Total: 100, Stage: 9}, &curve) {
		assert.LessOrEqual(t, o.Mean(), 0.25*130) // by the assumed errors
	}
}

// A restored phase goes on replacing its own errors in the rings of its kind.
func TestARestoredPhaseReplacesItsOwnErrors(t *testing.T) {
	one, other := new(survival.Shape), new(survival.Shape)
	a, b := one.Phase(), other.Phase()
	for range 5 {
		run(a, 100*time.Second, linear)
		run(b, 100*time.Second, linear)
	}
	data, err := b.MarshalBinary()
	require.NoError(t, err)
	b = other.Phase()
	require.NoError(t, b.UnmarshalBinary(data))
	for range 5 {
		run(a, 100*time.Second, stalls)
		run(b, 100*time.Second, stalls)
	}
	want, _ := one.MarshalBinary()
	got, _ := other.MarshalBinary()
	assert.Equal(t, want, got)
}

// A nil curve is treated as a curve without ends, in Outlook as in AtMost.
func TestANilCurveCountsAsAnEmptyCurve(t *testing.T) {
	s := new(survival.Shape)
	p := survival.Prediction{Age: 10, Total: 1000, Stage: 1}
	var o survival.Outlook
	require.True(t, s.Outlook(&o, p, nil))
	assert.Equal(t, 90., o.Mean(), "a tenth of the predicted total, less the age")
	most, known := s.AtMost(p, nil)
	assert.True(t, known)
	assert.Equal(t, 90., most)
}

// A StallWeight of 0 means no weight: the time that the age alone predicts is no possible time of the outlook, however
// short it is.
func TestWithoutAStallWeightTheAgePredictsNothing(t *testing.T) {
	var curve survival.Curve
	for range 20 {
		curve.Observe(100, true)
	}
	curve.Fit()
	p := survival.Prediction{Age: 95, Total: 500, Stage: 2}
	require.InDelta(t, 5, survival.Residual{Curve: &curve, Age: p.Age}.Mean(), 1e-9)
	var o survival.Outlook
	require.True(t, new(survival.Shape).Outlook(&o, p, &curve))
	assert.Equal(t, .25*500-95, o.Quantile(0), "the smallest assumed error gives the shortest time")
	p.StallWeight = 1
	require.True(t, new(survival.Shape).Outlook(&o, p, &curve))
	assert.InDelta(t, 5, o.Quantile(0), 1e-9)
}
