package machines

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowMedian returns the product-limit median by its definition. The survivors are the share of the weight above a
// ratio. At each known ratio, the survivors fall by the weight of this ratio divided by the weight at or above it.
// The median is open if the survivors never fall to a half. The median is also open if it is more than a quarter of
// an octave above the median of all values, bounds included.
func slowMedian(values []weightedRatio) (float64, bool) {
	weight := func(keep func(weightedRatio) bool) (sum float64) {
		for _, v := range values {
			if keep(v) {
				sum += v.weight
			}
		}
		return sum
	}
	sorted := slices.SortedFunc(slices.Values(values), func(a, b weightedRatio) int { return cmp.Compare(a.ratio, b.ratio) })
	survive := 1.
	for i, v := range sorted {
		if i > 0 && v.ratio == sorted[i-1].ratio {
			continue
		}
		ends := weight(func(w weightedRatio) bool { return w.ratio == v.ratio && !w.bound })
		survive *= 1 - ends/weight(func(w weightedRatio) bool { return w.ratio >= v.ratio })
		if survive <= .5+1e-9 {
			for _, w := range sorted {
				upTo := weight(func(v weightedRatio) bool { return v.ratio <= w.ratio })
				if upTo >= weight(func(weightedRatio) bool { return true })*(.5-1e-9) {
					return v.ratio, v.ratio < w.ratio*math.Sqrt2/math.Sqrt(math.Sqrt2)
				}
			}
		}
	}
	return 0, false
}

func TestMedianAgreesWithItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bounded, open := 0, 0
	for range 20000 {
		var s sample
		var values []weightedRatio
		for range r.IntN(len(s.values) + 1) {
			v := weightedRatio{float64(1 + r.IntN(6)), float64(1+r.IntN(4)) / 2, r.IntN(3) == 0}
			values = append(values, v)
			s.add(v)
		}
		want, known := slowMedian(values)
		got, ok := s.median()
		require.Equal(t, known, ok, "%v", values)
		require.Equal(t, want, got, "%v", values)
		if s.n > 0 && s.values[0].bound {
			bounded++
		}
		if got > 0 && !ok {
			open++
		}
	}
	require.Greater(t, bounded, 100)
	require.Greater(t, open, 100)
}

func TestEvidenceOfEachKindOfAttempt(t *testing.T) {
	for _, c := range []struct {
		ran, usual time.Duration
		done       float64
		finished   bool
		kind       kind
		ratio      float64
		seen       float64
	}{
		{ran: 40, usual: 20, finished: true, kind: point, ratio: 2, seen: 1},
		{ran: 1, usual: 20, finished: true, kind: point, ratio: .05, seen: 1},
		{ran: 10, usual: 20, done: .25, kind: point, ratio: 2, seen: 1},
		{ran: 1, usual: 20, done: .0125, kind: point, ratio: 4, seen: .2},
		{ran: 60, usual: 20, kind: bound, ratio: 3, seen: 1},
		{ran: 60, usual: 20, done: math.NaN(), kind: bound, ratio: 3, seen: 1},
		{ran: 60, usual: 20, done: 7, kind: point, ratio: 3, seen: 1},
		{ran: 60, usual: 20, done: 1e-300, kind: point, ratio: 100, seen: 1},
		{ran: 60, usual: 0, done: 1, finished: true, kind: silent},
		{ran: -1, usual: 20, kind: silent},
		{ran: 0, usual: 20, kind: bound, ratio: .01},
	} {
		e := Attempt{c.ran, c.usual, c.done}.evidence(7, c.finished, 100)
		assert.Equal(t, c.kind, e.kind, "%+v", c)
		assert.InDelta(t, c.ratio, e.ratio, 1e-6, "%+v", c)
		assert.InDelta(t, c.seen, float64(e.seen)/full, 1e-4, "%+v", c)
		assert.Equal(t, time.Duration(7), e.at)
	}
}

func TestEvidenceFadesWithItsAge(t *testing.T) {
	assert.Equal(t, 1., fade(0, time.Hour))
	assert.Equal(t, .5, fade(time.Hour, time.Hour))
	assert.Equal(t, .1, fade(3*time.Hour, time.Hour))
}
