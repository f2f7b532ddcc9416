package survival

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// A snapshot holds numbers up to their limits. It is refused if a number is beyond its limit, and then changes nothing.
func TestASnapshotHoldsNumbersUpToTheirLimits(t *testing.T) {
	offset := func(x float64) (s Shape) { s.offsets[3] = x; return s }
	ratio := func(x float32) (s Shape) {
		*s.rings() = [Parts + 1]ring{3: {ratio: [ringSize]float32{x}, seen: 1}}
		return s
	}
	for _, c := range []struct{ kept, refused Shape }{
		{offset(1), offset(math.Nextafter(1, 2))},
		{offset(-1), offset(math.Nextafter(-1, -2))},
		{Shape{attempts: shapeMemory}, Shape{attempts: shapeMemory + 1}},
		{ratio(math.SmallestNonzeroFloat32), ratio(0)},
	} {
		var read Shape
		data, _ := c.kept.MarshalBinary()
		require.NoError(t, read.UnmarshalBinary(data))
		require.Equal(t, c.kept, read)
		data, _ = c.refused.MarshalBinary()
		require.Error(t, read.UnmarshalBinary(data))
		require.Equal(t, c.kept, read)
	}
	whole, more, read := Trail{n: Parts, done: 1}, Trail{n: Parts, done: math.Nextafter32(1, 2)}, Trail{}
	data, _ := whole.AppendBinary(nil)
	require.NoError(t, read.UnmarshalBinary(data))
	require.Equal(t, whole, read)
	data, _ = more.AppendBinary(nil)
	require.Error(t, read.UnmarshalBinary(data))
}

// An attempt that has passed no stage, or took no time, teaches neither its phase nor its kind.
func TestAnAttemptWithoutAStageOrATimeTeachesNothing(t *testing.T) {
	var whole Trail
	whole.Report(10*time.Second, 1)
	for _, c := range []struct {
		trail *Trail
		took  time.Duration
	}{{&Trail{}, 10 * time.Second}, {&whole, 0}, {&whole, -time.Second}} {
		s := new(Shape).Phase()
		s.Finish(c.trail, c.took, estimate.Linear{})
		require.Equal(t, new(Shape).Phase(), s, "took %v", c.took)
	}
}

// A kind learns from the attempts number 1, 2, 4, 8, and so on of a phase.
func TestAKindLearnsFromFewAttemptsOfAPhase(t *testing.T) {
	kind := new(Shape)
	s, rng := kind.Phase(), rand.New(rand.NewPCG(1, 2))
	for n := uint(1); n < shapeMemory; n++ {
		before := kind.attempts
		s.Finish(trailOf(rng, 100), 100*time.Second, estimate.Linear{})
		require.Equal(t, bits.OnesCount(n) == 1, kind.attempts > before, "attempt number %d", n)
	}
}

// A snapshot can claim that an attempt has done its whole work, and passed three stages only. Each later stage then
// takes the whole time.
func TestATrailThatEndsTooEarlyIsNoNaN(t *testing.T) {
	var s Shape
	s.Finish(&Trail{n: 3, age: 50, done: 1}, 100*time.Second, estimate.Linear{})
	assert.Equal(t, .875, s.Time(.75), "one attempt counts as half of the mean of its time and of even progress")
}

// A stored time is the nearest of its times: it is off by at most 1 in 4,000, from a millisecond to seven weeks.
func TestAStoredTimeIsNear(t *testing.T) {
	const week = 7 * 24 * 3600
	for x := .001; x < 6.9*week; x *= 1.00037 {
		require.InEpsilon(t, x, pack(x).seconds(), 1./4000)
	}
	assert.Equal(t, 0x1p-10, pack(0).seconds())
	assert.Equal(t, 0x1p-10, pack(1e-9).seconds())
	for _, long := range []float64{7 * week, 1e9} {
		assert.InEpsilon(t, 6.93*week, pack(long).seconds(), .002, "a longer time is the longest")
	}
}

// An error above 1 multiplies the total that was predicted at the stage. An error of exactly 1 does not.
func TestAnErrorOfOneLeavesTheTotal(t *testing.T) {
	var s Shape
	for range ringSize {
		s.rings()[3].put(1, 0)
	}
	p := Prediction{Age: 10, Total: 100, TotalAtStage: 150, Stage: 3, Expected: true, Even: true}
	var o Outlook
	require.True(t, s.Outlook(&o, p, nil))
	assert.Equal(t, 90., o.Quantile(.5))
}

// A total is possible up to 1.3 times its length, and that age itself is too old. If no total is possible, there is no
// outlook, and AtMost knows no bound. The longest total of these predictions is 1.25 times the predicted total.
func TestAnAttemptOlderThanAllTotalsHasNoOutlook(t *testing.T) {
	var s Shape
	s.rings()[3].put(1, 0)
	for _, c := range []struct {
		age, total float64
		known      bool
	}{
		{125 * Alike, 100, false}, {math.Nextafter(125*Alike, 0), 100, true}, {200, 100, false},
		{10, math.Inf(1), false},
	} {
		p, o := Prediction{Age: c.age, Total: c.total, Stage: 3, Expected: true}, Outlook{}
		require.Equal(t, c.known, s.Outlook(&o, p, nil), "%+v", p)
		_, known := s.AtMost(p, nil)
		require.Equal(t, c.known, known, "%+v", p)
	}
	var o Outlook
	require.True(t, s.Outlook(&o, Prediction{Age: 100 * Alike, Total: 100, Stage: 3, Expected: true}, nil))
	assert.Greater(t, o.Quantile(0), 0., "of the totals of 100 and of 125, only the second is possible")
}

// The bins of a curve make its searches short: if the times are spread evenly on a logarithmic scale, each bin has at
// most two of them. A shorter time is in the first bin. A curve of few times has no bins.
func TestEachBinHasFewTimes(t *testing.T) {
	const n, octaves = 1000, 1 << binOctaves
	var c Curve
	for i := range n {
		require.Equal(t, i >= manyTimes, c.bins != nil, "%d times", i)
		c.Observe(math.Exp2(octaves*(float64(i+1)/n-1)), true)
		if i < 2*manyTimes || i == n-1 {
			c.Fit()
		}
	}
	for bin, before := range c.bins.starts[:n] {
		require.LessOrEqual(t, c.bins.starts[bin+1]-before, int32(2), "bin %d", bin)
	}
	for _, short := range []float64{0, 5e-324, math.Exp2(-octaves)} {
		require.Zero(t, c.bins.index(short))
	}
}
