package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// weighted is a time with the weight that a slow, obvious past gives it.
type weighted struct {
	entry
	weight float64
}

// productLimit returns P(T > t) after each distinct time of answered first requests.
func productLimit(list []weighted) (above []float64) {
	list = slices.DeleteFunc(slices.Clone(list), func(w weighted) bool { return w.attempt != First })
	slices.SortFunc(list, func(a, b weighted) int { return int(a.bucket) - int(b.bucket) })
	still := 1.0
	for i := 0; i < len(list); {
		risk, ends, j := 0.0, 0.0, i
		for _, w := range list[i:] {
			risk += w.weight
		}
		for ; j < len(list) && list[j].bucket == list[i].bucket; j++ {
			if list[j].answered {
				ends += list[j].weight
			}
		}
		if i = j; ends > 0 {
			still *= 1 - ends/risk
			above = append(above, still)
		}
	}
	return above
}

// The times that have left the window count on, and older times count less.
func TestPastAgainstTheProductLimit(t *testing.T) {
	const window = 100
	w, err := newTimes(window)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	var list []weighted
	weight := 0.0
	for i := range 20 * window {
		e := entry{
			at: time.Duration(i) * time.Second, seconds: 1 + float64(r.IntN(50))/10, size: 1,
			attempt: Attempt(r.IntN(2)), answered: r.IntN(4) > 0,
		}
		e.bucket = uint16(bucketOf(e.seconds))
		w.add(e, time.Hour)
		list = append(list, weighted{e, 1})
		if i >= window {
			if weight++; weight >= pastWindows*window {
				for j := range list[:i-window+1] {
					list[j].weight /= 2
				}
				weight /= 2
			}
		}
		if i > window && i%97 == 0 {
			w.fit()
			require.InDelta(t, weight, w.past.of[First].n+w.past.of[Second].n, 1e-6, "not forgotten")
			require.InDeltaSlice(t, productLimit(list), w.first.above, 1e-6)
		}
	}
	w.add(entry{at: 2 * time.Hour, seconds: 1, size: 1}, time.Hour)
	assert.Zero(t, w.past.of, "too old")
}

// A change of the service is learned as soon as without a past: when the window is full of its times.
func TestChangesForgetThePast(t *testing.T) {
	for name, change := range map[string]func(r *rand.Rand) float64{
		"a tenth slower":     func(r *rand.Rand) float64 { return 1.1 * math.Exp(0.4*r.NormFloat64()) },
		"a tenth faster":     func(r *rand.Rand) float64 { return 0.9 * math.Exp(0.4*r.NormFloat64()) },
		"3 % more are stuck": func(r *rand.Rand) float64 { return math.Exp(0.4*r.NormFloat64()) + 9*float64(r.IntN(33)/32) },
	} {
		w, err := newTimes(10_000)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		play := func(n int, draw func(r *rand.Rand) float64) {
			for i := range n {
				w.add(entry{seconds: draw(r), size: 1, answered: true}, time.Hour)
				if i%(10_000/replanPart) == 0 {
					w.fit()
				}
			}
		}
		play(100_000, func(r *rand.Rand) float64 { return math.Exp(0.4 * r.NormFloat64()) })
		require.Greater(t, w.past.of[First].n, 30_000.0, name)
		play(11_000, change)
		assert.Less(t, w.past.of[First].n, 11_000.0, name)
	}
}
