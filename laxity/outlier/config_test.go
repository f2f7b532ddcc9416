package outlier

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
)

func TestErrorsNameTheField(t *testing.T) {
	lof := func(values []float64, l int, floor float64) error {
		_, err := new(Scorer).Score(nil, values, l, floor)
		return err
	}
	detector := func(c Config) error { _, err := NewDetector(c); return err }
	nan, inf := math.NaN(), math.Inf(1)
	for want, err := range map[string]error{
		"l is 0, want 1 to 2, less than the number of values": lof([]float64{1, 2, 3}, 0, 0),
		"l is 3, want 1 to 2, less than the number of values": lof([]float64{1, 2, 3}, 3, 0),
		"values[1] is NaN":    lof([]float64{1, nan, 3}, 1, 0),
		"values[2] is +Inf":   lof([]float64{1, 2, inf}, 1, 0),
		"values[0] is 1e+300": lof([]float64{1e300, 2}, 1, 0),
		"floor is NaN":        lof([]float64{1, 2}, 1, nan),
		"floor is -1":         lof([]float64{1, 2}, 1, -1),
		"Neighbours is -1":    detector(Config{Neighbours: -1}),
		"Threshold is 0.5":    detector(Config{Threshold: .5}),
		"Threshold is NaN":    detector(Config{Threshold: nan}),
		"Spread is -2":        detector(Config{Spread: -2}),
		"Spread is +Inf":      detector(Config{Spread: inf}),
		"Resolution is -2ns":  detector(Config{Resolution: -2}),
		"values[0] is -1e+300, want -1e+290 to 1e+290":                               lof([]float64{-1e300, 2}, 1, 0),
		"the number of values is 1, want 2 or more":                                  lof([]float64{1}, 1, 0),
		"the number of values is 0, want 2 or more":                                  lof(nil, 1, 0),
		"Resolution is -1h0m0s, want a positive duration, 0 for the default, or Off": detector(Config{Resolution: -time.Hour}),
		"Threshold is +Inf, want 1 to 1.79":                                          detector(Config{Threshold: inf}),
		"Spread is NaN, want a positive finite number, or 0 for the default":         detector(Config{Spread: nan}),
	} {
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "outlier: ")
	}
}

func TestDetectorDefaults(t *testing.T) {
	d, err := NewDetector(Config{})
	require.NoError(t, err)
	assert.Equal(t, Config{Threshold: 2, Spread: 7.5, Resolution: time.Millisecond}, d.Config())
	// With three workers, each has one neighbour.
	assert.True(t, d.Detect(nil, []time.Duration{time.Second, 900 * time.Millisecond, time.Second})[1].Overloaded)
	for _, v := range d.Detect(nil, []time.Duration{time.Second, 1, estimate.Unknown}) {
		assert.False(t, v.Overloaded)
		assert.Contains(t, []Reason{TooFewWorkers, NoLaxity}, v.Reason)
	}
	assert.Empty(t, d.Detect(nil, nil))
}

// A laxity one millisecond below several equal laxities is not an outlier with the default resolution. Without a resolution
// the laxity is an outlier.
func TestResolutionHidesSmallDistances(t *testing.T) {
	laxities := []time.Duration{5e6, 5e6, 5e6, 5e6, 4e6, 5e6, 5e6}
	fine, _ := NewDetector(Config{Spread: Off})
	assert.False(t, fine.Detect(nil, laxities)[4].Overloaded)
	paper, _ := NewDetector(Config{Spread: Off, Resolution: Off})
	v := paper.Detect(nil, laxities)[4]
	assert.True(t, v.Overloaded)
	assert.True(t, math.IsInf(v.LOF, 1))
	assert.Equal(t, time.Duration(5e6), v.Bar)
}

// The comparisons are strict: a laxity equal to the bar is not low, and a factor equal to the threshold is not an outlier.
func TestValuesEqualToTheLimitsAreNotOverloaded(t *testing.T) {
	var v Verdict
	v.judge(3, 2, 10, 10)
	assert.Equal(t, NotLow, v.Reason)
	v.judge(2, 2, 9, 10)
	assert.Equal(t, AmongPeers, v.Reason)
	v.judge(2.1, 2, 9, 10)
	assert.Equal(t, StandsApart, v.Reason)
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "fine no-laxity laxity=inf", Verdict{Reason: NoLaxity, Laxity: laxity.NoDeadline}.String())
	assert.Equal(t, "[overloaded=true reason=stands-apart laxity=0.001 bar=0.002 lof=5 threshold=2]",
		Verdict{true, StandsApart, 1e6, 2e6, 5, 2}.LogValue().String())
	text, err := StandsApart.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "stands-apart", string(text))
	var r Reason
	require.NoError(t, r.UnmarshalText([]byte("not-low")))
	assert.Equal(t, NotLow, r)
	assert.ErrorContains(t, r.UnmarshalText([]byte("no")), "laxity/outlier: Reason is")
	assert.Equal(t, "Reason(99)", Reason(99).String())
}
