package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/num"
)

var models = []Linear{
	{},
	{Grace: 10 * time.Second},
	{Window: 30 * time.Second},
	{Window: 30 * time.Second, Grace: 10 * time.Second, WrapUp: 2 * time.Second},
	{Window: 1, Grace: 1},
	{Window: math.MaxInt64, WrapUp: -5},
}

// randomAttempt returns the progress of an attempt that has reported a few times at uneven intervals.
func randomAttempt(m Linear, r *rand.Rand) (p Progress) {
	age, done := time.Duration(0), 0.0
	for range 1 + r.IntN(8) {
		age += time.Duration(1 + r.ExpFloat64()*1e10)
		done += r.Float64()
		m.Report(&p, age, done)
	}
	return p
}

// Without a Window, Linear equals equation 2 in the paper's own terms.
func TestLinearIsEquation2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 2000 {
		p := randomAttempt(Linear{}, r)
		age, work := p.At()+time.Duration(r.ExpFloat64()*1e10), p.Done()*(1+r.Float64())
		want, _ := num.Duration(age.Seconds() * (work - p.Done()) / p.Done())
		assert.InDelta(t, want, Linear{}.Remaining(&p, age, work), 2+float64(want)*1e-12)
	}
}

func TestLinearIsMonotoneInProgress(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for _, m := range models {
		for range 2000 {
			less := randomAttempt(m, r)
			more := less
			at, a := less.At()+time.Duration(r.ExpFloat64()*1e9), r.Float64()
			m.Report(&less, at, less.Done()+a)
			m.Report(&more, at, more.Done()+a+r.Float64())
			now, work := at+time.Duration(r.ExpFloat64()*1e10), 10*r.Float64()
			if work <= 0 {
				continue
			}
			l, h := m.Remaining(&less, now, work), m.Remaining(&more, now, work)
			require.LessOrEqual(t, h, l, "%+v: done %v against %v of %v", m, more.Done(), less.Done(), work)
		}
	}
}

// Beyond Grace the answer never falls with age. Within Grace the answer falls by one second each second.
func TestLinearIsMonotoneInAge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, m := range models {
		for range 500 {
			p := randomAttempt(m, r)
			work := p.Done() + r.Float64()
			last := m.Remaining(&p, p.At(), work)
			for age := p.At(); age < p.At()+time.Minute; age += time.Duration(r.ExpFloat64() * 2e9) {
				got := m.Remaining(&p, age, work)
				if silence := age - p.At(); silence <= m.Grace {
					rest := m.Remaining(&p, p.At(), work) - max(m.WrapUp, 0)
					require.Equal(t, max(0, rest-silence)+max(m.WrapUp, 0), got)
					last = 0
				}
				if got < last {
					require.GreaterOrEqual(t, got, last, "%+v at %v", m, age)
				}
				last = got
			}
		}
	}
}

// If an attempt keeps its speed, Rate gives this speed and Remaining the matching time, whatever the intervals
// between its reports.
func TestLinearUnevenGapsGiveTheSameRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, window := range []time.Duration{0, time.Millisecond, 10 * time.Second, time.Hour} {
		for range 200 {
			m := Linear{Window: window}
			var p Progress
			speed, age := math.Exp(5*r.NormFloat64()), time.Duration(0)
			for range 50 {
				age += time.Duration(math.Exp(15 + 4*r.NormFloat64()))
				require.True(t, m.Report(&p, age, speed*age.Seconds()))
				if r.IntN(10) == 0 {
					require.True(t, m.Report(&p, age, speed*age.Seconds()), "a repeated report is used")
				}
			}
			require.InEpsilon(t, speed, p.Rate(), 1e-9, "window %v", window)
			left := m.Remaining(&p, age, speed*age.Seconds()+speed*100)
			require.InDelta(t, 100, left.Seconds(), 1e-4, "window %v", window)
		}
	}
}

// With a Window the rate approaches a new speed. After w windows at most 2.5^-w of the difference to the old speed
// remains. This holds for any reports that are at most one window apart.
func TestLinearRecoversFromAChangeOfSpeed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	const before, after = 10.0, 1.0
	for _, gap := range []time.Duration{time.Second / 10, time.Second, 5 * time.Second, 10 * time.Second} {
		t.Run(fmt.Sprintf("gap=%v", gap), func(t *testing.T) {
			m := Linear{Window: 10 * time.Second}
			var p, life Progress
			age, done := time.Duration(0), 0.0
			run := func(speed float64, until time.Duration) {
				for age < until {
					step := min(until-age, time.Duration(float64(gap)*(.5+.5*r.Float64())))
					age, done = age+step, done+speed*step.Seconds()
					m.Report(&p, age, done)
					Linear{}.Report(&life, age, done)
				}
			}
			run(before, 1000*time.Second)
			for w := 1; w <= 5; w++ {
				run(after, 1000*time.Second+time.Duration(w)*m.Window)
				left := (p.Rate() - after) / (before - after)
				assert.InDelta(t, math.Exp(-float64(w)), left, .05, "after %d windows", w)
			}
			assert.Greater(t, life.Rate(), 9.0, "the mean over the whole time hardly changes")
		})
	}
}

func TestLinearDropsBadReports(t *testing.T) {
	for _, m := range models {
		var p Progress
		require.True(t, m.Report(&p, 10*time.Second, 5))
		want := p
		for _, c := range []struct {
			age  time.Duration
			done float64
		}{
			{10*time.Second - 1, 6}, {-1, 6}, {math.MinInt64, 6}, // the clock steps back
			{11 * time.Second, math.NaN()}, {11 * time.Second, math.Inf(1)}, {11 * time.Second, math.Inf(-1)}, {11 * time.Second, -1},
		} {
			assert.False(t, m.Report(&p, c.age, c.done), "%v %v", c.age, c.done)
			assert.Equal(t, want, p)
		}
		require.True(t, m.Report(&p, 20*time.Second, 3), "a report of less work is used and counts as no progress")
		assert.Equal(t, 5.0, p.Done())
		assert.Equal(t, 20*time.Second, p.At())
		assert.Less(t, p.Rate(), .5)
		for _, work := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			assert.Equal(t, Unknown, m.Remaining(&p, time.Minute, work))
		}
	}
	var p Progress
	assert.False(t, Linear{}.Report(&p, -1, 0))
	assert.Zero(t, p.Rate())
}

// Progress reported at the age of 0 gives no rate: the answer is unknown and not zero.
func TestProgressAtAgeZeroGivesNoRate(t *testing.T) {
	m := Linear{Grace: time.Second}
	var p Progress
	require.True(t, m.Report(&p, 0, 1))
	assert.Zero(t, p.Rate())
	assert.Equal(t, Unknown, m.Remaining(&p, 0, 2))
	assert.Equal(t, Unknown, m.Remaining(&p, time.Second, 2))
	assert.Equal(t, 2*time.Second, m.Remaining(&p, 2*time.Second, 2))
	assert.Zero(t, m.Remaining(&p, 0, 1))
}

// Extreme inputs give the longest time and never overflow to a short or a negative time.
func TestLinearNeverOverflows(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	for _, m := range append(models, Linear{WrapUp: longest}, Linear{Grace: longest, WrapUp: longest}, Linear{Window: 1, Grace: longest}) {
		for _, done := range []float64{0, 5e-324, 1, 1e300} {
			for _, at := range []time.Duration{0, 1, longest - 1, longest} {
				for _, work := range []float64{5e-324, 1, math.MaxFloat64} {
					var p Progress
					m.Report(&p, at, done)
					for range 3 {
						m.Report(&p, p.At()+(longest-p.At())/2, done) // no progress for a very long time
					}
					got := m.Remaining(&p, longest, work)
					assert.True(t, got >= 0 || got == Unknown, "%+v: %v of %v at %v: %v", m, done, work, at, got)
				}
			}
		}
	}
	var p Progress
	Linear{}.Report(&p, 1e9*time.Second, 1e300)
	assert.Equal(t, 1e9*time.Second, Linear{}.Remaining(&p, 0, 2e300), "no intermediate result overflows")
	assert.Equal(t, longest, Linear{}.Remaining(&p, 0, 1e302))
}

func TestForgottenProgressGivesTheLongestTime(t *testing.T) {
	m := Linear{Window: 1}
	var p Progress
	m.Report(&p, 1, 1)
	for i := range 50 {
		m.Report(&p, time.Duration(i+1)*time.Hour, 1)
	}
	assert.Zero(t, p.Rate())
	assert.Equal(t, time.Duration(math.MaxInt64), m.Remaining(&p, 50*time.Hour, 2))
}

func TestValidateNamesTheFieldOfLinear(t *testing.T) {
	assert.NoError(t, Linear{}.Validate())
	assert.ErrorContains(t, Linear{Window: -1}.Validate(), "estimate: Linear.Window")
	assert.ErrorContains(t, Linear{Grace: -1}.Validate(), "estimate: Linear.Grace")
}

// After Reread, the units done have the new number, and the rate has changed by the same factor.
func TestReread(t *testing.T) {
	m := Linear{Window: 100 * time.Second}
	var p Progress
	p.Reread(5)
	assert.Zero(t, p, "nothing was reported")
	m.Report(&p, 100*time.Second, 10)
	m.Report(&p, 200*time.Second, 20)
	p.Reread(40)
	assert.Equal(t, 40., p.Done())
	assert.InDelta(t, 300, m.Remaining(&p, 200*time.Second, 100).Seconds(), 1e-6)
	before := p
	p.Reread(math.NaN())
	p.Reread(0)
	assert.Equal(t, before, p)
}
