package requests

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// whole is true with STRAGGLER_LIVES. Some tests then play more requests.
var whole = os.Getenv("STRAGGLER_LIVES") != ""

// part returns how many of n requests, queries or seeds a test plays: all with STRAGGLER_LIVES, or else one of so many.
func part(n, of int) int {
	if whole {
		return n
	}
	return n / of
}

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// seed is the first seed of the tests. The constants of the library were chosen with the seeds 0 to 9.
const seed = 2000

func never(t *testing.T) hedge.Rule {
	t.Helper()
	h, err := hedge.New(hedge.Config{Budget: hedge.Off})
	require.NoError(t, err)
	return h
}

// exponentialWorld is a world of 50 servers whose times are exponential with a mean of a second.
func exponentialWorld(load float64) World {
	return World{
		Requests: part(200_000, 2), Rate: 50 * load, Servers: 50, Deaf: true, Seed: seed,
		Seconds: func(r *rand.Rand, _ float64, _ time.Duration) float64 { return r.ExpFloat64() },
	}
}

func meanOf(calls []Call) (mean float64) {
	for _, c := range calls {
		mean += c.Took.Seconds() / float64(len(calls))
	}
	return mean
}

// Servers that are asked at random at a load of x answer in 1/(1-x) [M/M/1]. With two requests for each at once, and
// none cancelled, the first answer comes in 1/(2(1-2x)): sooner below a load of 1/3, and later above.
func TestQueuesFollowTheory(t *testing.T) {
	t.Parallel()
	loads := []float64{0.2, 0.4}
	if whole {
		loads = append(loads, 0.3)
	}
	for _, load := range loads {
		one := meanOf(Hedge(exponentialWorld(load), never(t))[10_000:])
		assert.InEpsilon(t, 1/(1-load), one, 0.03, "load %v", load)
		rule, err := hedgerules.New(hedgerules.Fixed(0))
		require.NoError(t, err)
		calls := Hedge(exponentialWorld(load), rule)[10_000:]
		assert.InEpsilon(t, 1/(2*(1-2*load)), meanOf(calls), 0.08, "load %v", load)
		assert.Equal(t, load < 1./3, meanOf(calls) < one)
		assert.Equal(t, 1.0, Share(calls, sent))
	}
}

// A cancelled request frees its server, unless the server is deaf.
func TestCancelledRequestsFreeTheirServers(t *testing.T) {
	w := exponentialWorld(0.4)
	rule := func() hedge.Rule { return must(hedgerules.New(hedgerules.Fixed(0))) }
	deaf := meanOf(Hedge(w, rule()))
	w.Deaf = false
	assert.Less(t, meanOf(Hedge(w, rule())), 0.7*deaf)
}

// Where the loser is cancelled, and times are exponential, two requests on n servers take the sum over i from 2 to n of
// 1/(n ((n-1)/(i-1) - x)), which is never more than one request takes.
func TestCancelledRequestsTakeAsLongAsTheoryHasIt(t *testing.T) {
	const servers, load = 10, 0.7
	w := exponentialWorld(load)
	w.Servers, w.Rate, w.Deaf = servers, servers*load, false
	want := 0.0
	for i := 2; i <= servers; i++ {
		want += 1 / (servers * ((servers-1)/float64(i-1) - load))
	}
	assert.InEpsilon(t, want, meanOf(Hedge(w, must(hedgerules.New(hedgerules.Fixed(0))))[10_000:]), 0.03)
}

func TestOneSeedOneResult(t *testing.T) {
	run := func(seed uint64) []Call {
		h, err := hedge.New(hedge.Config{})
		require.NoError(t, err)
		return Hedge(Alone(20_000, seed), h)
	}
	assert.Equal(t, run(seed), run(seed))
	assert.NotEqual(t, run(seed), run(seed+1))
}

// Within a budget of 7.1 %, a p99 of at most 17.2 ms is learned. The best plan for known times needs 7.0 % for 17.0 ms.
func TestLearnsThePercentile(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ k, budget, ms, copies float64 }{{0.99, 0.071, 17.2, 7.2}, {0.999, 0.0235, 61, 2.5}} {
		var list spread
		for s := range uint64(part(3, 3)) {
			ms, copies := Budgeted(of.k, of.budget, seed+s)
			assert.LessOrEqual(t, copies, of.copies)
			list = append(list, ms)
		}
		assert.LessOrEqual(t, stat.Mean(list, nil), of.ms, "%v", list)
	}
}

// A learned quantile stays within 5 % of the true one, although the slowest requests are cancelled. The window has
// 10,000 of 60,000 requests; with STRAGGLER_LIVES 300,000 requests are played, with a window of 50,000 as well.
func TestLearnsQuantilesWhileHedging(t *testing.T) {
	t.Parallel()
	windows := []int{10_000}
	if whole {
		windows = append(windows, 50_000)
	}
	for _, window := range windows {
		for _, l := range Laws() {
			e, copies := Learn(l, 0.9, window, part(300_000, 5), seed)
			assert.Less(t, e.Worst, 5.0, "%s, window %d", l.Name, window)
			assert.Less(t, math.Abs(e.Mean), 3.0, "%s, window %d", l.Name, window)
			assert.Greater(t, copies, 3.0)
		}
	}
}

// A rule that forgets the losers sends more second requests than it means to.
func TestWinnersAloneMislead(t *testing.T) {
	t.Parallel()
	for i, least := range []float64{10.5, 13, 20, 13, 10.5} {
		l := Laws()[i]
		assert.Greater(t, Winners(l, 0.9, part(100_000, 3), seed), least, l.Name)
	}
}

// The quantiles of the laws agree with 250,000 draws, or a million with STRAGGLER_LIVES.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, l := range Laws() {
		below, quantile := 0, l.Quantile(0.9, time.Minute)
		draws := part(1_000_000, 4)
		for range draws {
			if l.Draw(r, time.Minute) <= quantile {
				below++
			}
		}
		assert.InDelta(t, 0.9, float64(below)/float64(draws), 0.002, l.Name)
	}
}

// Where sizes are told, heavy reads are left alone and slow attempts are cured. Where they are not told, the Hedger
// stops after a few needless second requests. A fixed delay of 3 s sends one for every heavy read.
func TestMimirsCase(t *testing.T) {
	for _, tell := range []bool{true, false} {
		h, err := hedge.New(Careful)
		require.NoError(t, err)
		c := Cured(Hedge(Mimir(part(100_000, 2), tell, seed), h)[200:])
		assert.LessOrEqual(t, c.Needless, 0.2, "told %v", tell)
		if tell {
			assert.GreaterOrEqual(t, c.Cured, 90.0)
		}
	}
	fixed, err := hedgerules.New(hedgerules.Fixed(3 * time.Second))
	require.NoError(t, err)
	assert.Greater(t, Cured(Hedge(Mimir(part(100_000, 2), false, seed), fixed)[200:]).Needless, 4.0)
}

// A learned grace leaves out few answers of healthy servers, and costs little time. The test has 5,000 queries, or
// 10,000 with STRAGGLER_LIVES.
func TestGrace(t *testing.T) {
	t.Parallel()
	for name, f := range Fans(part(10_000, 2), seed) {
		c := f.Run()
		most := 0.001
		if name == "all healthy" {
			most = 1e-4
		}
		assert.LessOrEqual(t, c.LeftOut, most, name)
		assert.LessOrEqual(t, c.Took, 1.3, name)
		if name == "one is always 20 times slower" {
			assert.Greater(t, c.LeftOutSick, 0.99)
			assert.Greater(t, c.All, 5.0)
		}
	}
}

// The budget bounds the second requests at every load. Without one, servers that ignore cancelled requests are overloaded
// where they are busy, and none is needed where cancelled requests end.
func TestBudgetsBoundTheLoad(t *testing.T) {
	p99 := func(load float64, deaf bool, rule hedge.Rule) (ms, share float64) {
		w := Busy(load, 10, seed)
		w.Deaf = deaf
		calls := Hedge(w, rule)
		return 1000 * Took(calls, 0.99), Share(calls, sent)
	}
	for _, load := range []float64{0.1, 0.5, 0.9} {
		none, _ := p99(load, true, never(t))
		learned, share := p99(load, true, must(hedge.New(hedge.Config{})))
		atOnce, _ := p99(load, true, must(hedgerules.New(hedgerules.Fixed(0))))
		cancelled, _ := p99(load, false, must(hedgerules.New(hedgerules.Fixed(0))))
		assert.LessOrEqual(t, share, 0.055, "load %v", load)
		assert.Less(t, learned, map[float64]float64{0.1: 0.7, 0.5: 0.9, 0.9: 1.3}[load]*none, "load %v", load)
		assert.Equal(t, load < 0.5, atOnce < none, "load %v", load)
		assert.Less(t, cancelled, none/4, "load %v", load)
	}
}

// In a storm the Hedger stays within its budget, and the p99 is back as soon as without second requests.
func TestStorm(t *testing.T) {
	t.Parallel()
	none := Weathered(Hedge(Storm(seed), never(t)), 0)
	h, err := hedge.New(hedge.Config{})
	require.NoError(t, err)
	w := Weathered(Hedge(Storm(seed), h), none.Before)
	assert.LessOrEqual(t, w.Most, 5.5)
	assert.Less(t, w.Before, 0.85*none.Before)
	assert.LessOrEqual(t, w.Alone, none.Alone+1)
	assert.LessOrEqual(t, w.Back, none.Back+1, "its own p99")
	fixed, err := hedgerules.New(hedgerules.Fixed(60 * time.Millisecond))
	require.NoError(t, err)
	late := Weathered(Hedge(Storm(seed), fixed), none.Before)
	assert.Equal(t, math.Inf(1), late.Alone, "the second requests keep the storm alive")
}
