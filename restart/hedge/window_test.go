package hedge

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// The window gives the product limit of its latest times, as package survival computes it from the same times rounded
// up to their buckets. Old times leave by number and by age.
func TestWindowAgainstTheProductLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const window, keep = 300, 2000 * time.Second
	w, err := newTimes(window)
	require.NoError(t, err)
	var all []entry
	at := time.Duration(0)
	for i := range 3000 {
		at += time.Duration(r.ExpFloat64() * float64(8*time.Second))
		e := entry{
			at: at, seconds: math.Exp(2 * r.NormFloat64()), attempt: Attempt(r.IntN(attempts)), answered: r.IntN(4) > 0,
		}
		w.add(e, keep)
		all = append(all, e)
		if i%97 > 0 {
			continue
		}
		w.fit()
		latest := all[max(0, len(all)-window):]
		latest = latest[slices.IndexFunc(latest, func(e entry) bool { return at-e.at <= keep }):]
		require.Equal(t, len(latest), w.n)
		var first survival.Curve
		for _, e := range latest {
			if e.attempt == First {
				first.Observe(edge(bucketOf(e.seconds)), e.answered)
			}
		}
		first.Fit()
		wantAt, wantAbove := first.Steps()
		require.Equal(t, wantAt, w.first.at)
		require.InDeltaSlice(t, wantAbove, w.first.above, 1e-12)
		// With at most 64 first requests, both kinds have the same weight in the times of second requests.
		if w.of[First].n <= pooled {
			var pool survival.Curve
			for _, e := range latest {
				pool.Observe(edge(bucketOf(e.seconds)), e.answered)
			}
			pool.Fit()
			wantAt, wantAbove = pool.Steps()
			require.Equal(t, wantAt, w.second.at)
			require.InDeltaSlice(t, wantAbove, w.second.above, 1e-12)
		}
	}
}

// A bucket's upper edge is at most 1/128 above each of its times. Absurd times are in the first or the last bucket.
func TestBuckets(t *testing.T) {
	for x := 1e-7; x < 1e7; x *= 1.0013 {
		up := edge(bucketOf(x))
		assert.Greater(t, up, x)
		assert.LessOrEqual(t, up, x*(1+1./128))
	}
	const last = buckets - 1
	for x, want := range map[float64]int{
		0: 0, -1: 0, 1e-300: 0, math.Inf(1): last, math.MaxFloat64: last, math.NaN(): last,
	} {
		assert.Equal(t, want, bucketOf(x), "%v", x)
	}
}

// The probability that a second request wins agrees with a sum over all pairs of times, and allow agrees within 1/32.
func TestWinsAgainstAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var x, y survival.Curve
		xs, ys := []float64{}, []float64{}
		for range 1 + r.IntN(60) {
			xs, ys = append(xs, 1+math.Floor(10*r.ExpFloat64())), append(ys, math.Floor(5*r.ExpFloat64()))
			x.Observe(xs[len(xs)-1], true)
			y.Observe(ys[len(ys)-1], true)
		}
		x.Fit()
		y.Fit()
		s := sweep{}
		s.first.at, s.first.above = x.Steps()
		s.second.at, s.second.above = y.Steps()
		s.allow(0.1)
		for i := range s.wins {
			delay := 0.0
			if i > 0 {
				delay = s.first.at[i-1]
			}
			late, won := 0, 0
			for _, x := range xs {
				if x <= delay {
					continue
				}
				late += len(ys)
				for _, y := range ys {
					if delay+y < x {
						won++
					}
				}
			}
			if wins := s.overtaken(delay); late > 0 {
				assert.InDelta(t, float64(won)/float64(late), wins, 1e-9)
				assert.InDelta(t, wins, s.wins[i], 1./32+1e-9)
			}
		}
	}
}

// The n-th root is the smallest number whose power is at least k.
func TestRoot(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 50, 1000, math.MaxInt32} {
		for _, k := range []float64{1e-300, 0.1, 0.5, 0.99, 0.999999} {
			x := root(k, n)
			assert.InDelta(t, math.Pow(k, 1/float64(n)), x, 1e-12, "%v, %d", k, n)
			assert.GreaterOrEqual(t, num.Power(x, n), k, "%v, %d", k, n)
			assert.Less(t, num.Power(math.Nextafter(x, 0), n), k, "%v, %d", k, n)
		}
	}
}

// A request that is slower than all others is overtaken by every second request that answers at all.
func TestWinsOverRequestsThatNeverEnd(t *testing.T) {
	var x, y survival.Curve
	x.Observe(10, true)
	x.Observe(20, false)
	y.Observe(1, true)
	y.Observe(30, false)
	x.Fit()
	y.Fit()
	s := sweep{}
	s.first.at, s.first.above = x.Steps()
	s.second.at, s.second.above = y.Steps()
	assert.Equal(t, 0.5, s.overtaken(0), "Y = 1 in half of the cases")
	assert.Equal(t, 0.5, s.overtaken(10))
}

// A forgotten request counts as censored at its age.
func TestForgottenRequestsAreCensored(t *testing.T) {
	h, err := New(Config{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for range mostOpen + 10 {
		now = now.Add(time.Microsecond)
		h.Start(now, Request{})
	}
	w := h.classes[0].times
	require.Equal(t, 10, w.n)
	for range w.n {
		e := w.oldest()
		assert.Equal(t, (mostOpen * time.Microsecond).Seconds(), e.seconds)
		assert.False(t, e.answered)
		w.n--
	}
}

// A client that has few open requests needs little room.
func TestRoomFollowsTheOpenRequests(t *testing.T) {
	h, err := New(Config{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for range 10_000 {
		id, _ := h.Start(now, Request{})
		h.Done(now, id, First, Answered)
	}
	assert.Len(t, h.open, leastOpen)
}

// When the overhead changes, the buckets of all times in the window follow.
func TestBucketsFollowTheOverhead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w, err := newTimes(1000)
	require.NoError(t, err)
	changes, last := 0, 0.0
	for i := range 40_000 {
		size, base := 1+99*r.Float64(), 0.01*float64(1+i/10_000)
		w.add(entry{seconds: base + 0.001*size, size: size, answered: true}, time.Hour)
		if w.overhead != last {
			changes, last = changes+1, w.overhead
			for n := range w.n {
				e := w.ring[(w.next-1-n+len(w.ring))%len(w.ring)]
				require.Equal(t, bucketOf(e.seconds/w.scale(e.size)), int(e.bucket))
			}
		}
	}
	assert.Greater(t, changes, 2)
	assert.Equal(t, 1.0, w.scale(w.unit))
	assert.InDelta(t, 1, w.scale(w.unit*1.000001), 1e-5)
	assert.InDelta(t, (2*w.unit+40)/(w.unit+40), w.scale(2*w.unit), 0.2)
	assert.InDelta(t, 40, w.overhead, 5)
}

// If second requests would win too seldom, the printed probability is the one that was compared: less than Config.Wins.
// The test has 100 seeds, or 200 with STRAGGLER_LIVES.
func TestWinsSeldomPrintsWhatRefused(t *testing.T) {
	t.Parallel()
	seldom, seeds := 0, uint64(100)
	if os.Getenv("STRAGGLER_LIVES") != "" {
		seeds = 200
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		h, err := New(Config{
			Percentile: 0.9 + 0.099*r.Float64(), Budget: 0.02 + 0.3*r.Float64(), Wins: 0.1 + 0.8*r.Float64(),
		})
		require.NoError(t, err)
		now, spread, slow := time.Unix(0, 0), 0.2+r.Float64(), 0.2*r.Float64()
		for range 1000 {
			id, _ := h.Start(now, Request{})
			took := math.Exp(spread * r.NormFloat64())
			if r.Float64() < slow {
				took *= 5
			}
			now = now.Add(time.Duration(took * float64(time.Millisecond)))
			h.Done(now, id, First, Answered)
			if c := &h.classes[0]; c.seldom {
				seldom++
				if !(c.most < h.config.Wins) {
					require.Less(t, c.most, h.config.Wins)
				}
			}
		}
	}
	assert.Greater(t, seldom, 10_000)
}

// While most requests have no answer, the usual median is unknown. Then no request is slow, and the window learns.
func TestUnknownMedianIsNoStorm(t *testing.T) {
	h, err := New(Config{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	play := func(n int, outcome func(i int) (time.Duration, Outcome)) {
		for i := range n {
			id, _ := h.Start(now, Request{Safe: true})
			took, end := outcome(i)
			now = now.Add(took)
			h.Done(now, id, First, end)
		}
	}
	play(1000, func(i int) (time.Duration, Outcome) {
		if i%5 < 2 {
			return 5 * time.Millisecond, Answered
		}
		return 10 * time.Millisecond, Cancelled
	})
	require.Equal(t, math.Inf(1), h.Quantile(0, 0, 0.5))
	assert.Zero(t, h.slow)
	assert.Equal(t, 1000, h.classes[0].times.n)
	play(1000, func(int) (time.Duration, Outcome) { return 5 * time.Millisecond, Answered })
	assert.InEpsilon(t, 0.005, h.Quantile(0, 0, 0.5), 0.01)
}
