package delay

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks a statement of Zaharia et al., EECS-2009-55 (FAIR). Its name ends with the section.

var start = time.Unix(0, 0)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

func started(t *testing.T, c Config) *Locality {
	t.Helper()
	p, err := New(c)
	require.NoError(t, err)
	j := p.Start(start)
	return &j
}

// A job starts at level 0. After a wait of at least T_1 it is at level 1, and after a further wait of T_2 at level 2.
// A more local launch makes the level more local again.
func TestLevels_FAIR42(t *testing.T) {
	j := started(t, Config{})
	d := j.Offer(at(100), 1)
	assert.Equal(t, Decision{Reason: Delayed, Level: 1, NextLevelIn: 15 * time.Second}, d, "the wait must begin with the first rejection")
	assert.Equal(t, Delayed, d.Reason)
	d = j.Offer(at(114.999), 1)
	assert.Equal(t, time.Millisecond, d.NextLevelIn)
	d = j.Offer(at(115), 2)
	assert.Equal(t, Decision{Reason: Delayed, Level: 2, Allowed: 1, NextLevelIn: 15 * time.Second}, d, "a wait of exactly T_1 is long enough")
	assert.Equal(t, Launch, j.Offer(at(120), 1).Action)
	assert.Equal(t, Delayed, j.Offer(at(200), 2).Reason, "the launch must set the wait to 0")
	d = j.Offer(at(215), 2)
	assert.Equal(t, "launch local-enough level=2 allowed=2", d.String())
	d = j.Offer(at(216), 0)
	assert.Equal(t, Launch, d.Action)
	level, _ := j.Allowed(at(216))
	assert.Equal(t, 0, level, "a more local launch must make the level more local")
	j.Offer(at(300), 1)
	level, rise := j.Allowed(at(316))
	assert.Equal(t, 1, level, "T_1 is over")
	assert.Equal(t, 14*time.Second, rise, "T_2 ends after 30 s")
	level, rise = new(Locality).Allowed(at(316))
	assert.Zero(t, level)
	assert.Zero(t, rise)
}

// With 5 slots on each machine and 3 replicas, 15 slots are local. Tasks take 60 s. At least one task on a local slot
// ends within 15 s with probability 1-(3/4)^15 = 98.66 %.
func TestLocalWithin_FAIR42(t *testing.T) {
	p, err := LocalWithin(15*time.Second, time.Minute, 15)
	require.NoError(t, err)
	assert.InDelta(t, .986636539, p, 1e-9)
	const trials = 100000
	source := rand.New(rand.NewPCG(4, 2))
	local := 0
	for range trials {
		for range 15 {
			if source.Float64()*60 < 15 {
				local++
				break
			}
		}
	}
	assert.InDelta(t, p, float64(local)/trials, 4*math.Sqrt(p*(1-p)/trials))
}

// Waiting pays exactly if D > t. With w = 2t the gain is 86 % of the largest possible gain. The formula is missing
// from the text; the formula of Gain agrees with a simulation of the model.
func TestGain_FAIR431(t *testing.T) {
	gain := func(w, s, d float64) float64 {
		g, err := Gain(at(w).Sub(start), at(s).Sub(start), at(d).Sub(start))
		require.NoError(t, err)
		return g.Seconds()
	}
	assert.Positive(t, gain(1, 3, 3.001))
	assert.Zero(t, gain(1, 3, 3))
	assert.Negative(t, gain(1, 3, 2.999))
	assert.InDelta(t, .8647, gain(6, 3, 4), .00005)
	assert.InDelta(t, 6.0527, gain(6, 3, 10), .00005)

	const trials = 200000
	source := rand.New(rand.NewPCG(4, 3))
	sum, squares := 0.0, 0.0
	for range trials {
		g := -6.0 // the job waited without success
		if s := 3 * source.ExpFloat64(); s < 6 {
			g = 10 - s
		}
		sum += g
		squares += g * g
	}
	mean := sum / trials
	deviation := math.Sqrt((squares/trials - mean*mean) / trials)
	assert.InDelta(t, mean, gain(6, 3, 10), 4*deviation)
}

// If D > t, a longer wait gains more, so the best wait is infinite, and the longest acceptable wait limits it.
// Otherwise a longer wait gains less, so the best wait is 0. Jobs that mostly compute have D = 0 and should launch
// immediately.
func TestBestWait_FAIR431(t *testing.T) {
	for _, b := range []struct {
		spacing, cost time.Duration
		pays          bool
	}{{3, 4, true}, {3, 3, false}, {3, 2, false}, {3, 0, false}, {0, 1, true}, {Forever, 5, false}} {
		last := time.Duration(0)
		for _, wait := range []time.Duration{1, 2, 4, 8, 15, Forever} {
			g, err := Gain(wait*time.Second, b.spacing*time.Second, b.cost*time.Second)
			if wait == Forever {
				g, err = Gain(wait, b.spacing*time.Second, b.cost*time.Second)
			}
			if b.spacing == Forever {
				g, err = Gain(wait, b.spacing, b.cost*time.Second)
			}
			require.NoError(t, err)
			if b.pays {
				assert.GreaterOrEqual(t, g, last, "%+v", b)
				assert.Positive(t, g)
			} else {
				assert.LessOrEqual(t, g, last, "%+v", b)
			}
			last = g
		}
	}
}

// 64 MB in 5 s are 12.8 MB/s, and in 25 s 2.56 MB/s. IO-rate biasing gives the slower reader shorter waits.
func TestIORateBiasing_FAIR432(t *testing.T) {
	scan, compute := 64e6/5, 64e6/25

	b, err := NewByReadRate(
		Class{MinRate: 10e6, Config: Config{Waits: []time.Duration{10 * time.Second}}},
		Class{Config: Config{Waits: []time.Duration{0}}},
	)
	require.NoError(t, err)
	j := b.For(scan).Start(start)
	assert.Equal(t, Wait, j.Offer(start, 1).Action)
	j = b.For(compute).Start(start)
	assert.Equal(t, Launch, j.Offer(start, 1).Action)
	assert.Same(t, b.For(scan), b.For(10e6))
	assert.Same(t, b.For(scan), b.For(math.NaN()), "an unknown rate must get the policy of the fastest readers")
}
