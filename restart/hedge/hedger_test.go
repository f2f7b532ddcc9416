package hedge_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
)

var epoch = time.Unix(1_000_000, 0)

const ms = time.Millisecond

func newHedger(t testing.TB, c hedge.Config) *hedge.Hedger {
	t.Helper()
	h, err := hedge.New(c)
	require.NoError(t, err)
	return h
}

// taught returns a Hedger that has seen 1000 requests: 95 of 100 take 4 to 6 ms, and 5 of 100 take 60 ms. It returns
// the time after them.
func taught(t testing.TB, c hedge.Config) (*hedge.Hedger, time.Time) {
	t.Helper()
	h, now := newHedger(t, c), epoch
	for i := range 1000 {
		id, _ := h.Start(now, hedge.Request{Class: 0})
		took := 4*ms + time.Duration(i%20)*100*time.Microsecond
		if i%20 == 19 {
			took = 60 * ms
		}
		now = now.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
	}
	return h, now
}

// start starts a request and asks again when the decision says so, until it is another decision.
func start(h *hedge.Hedger, now *time.Time, r hedge.Request) (hedge.ID, hedge.Decision) {
	id, d := h.Start(*now, r)
	for d.Action == hedge.Wait {
		*now = now.Add(d.After)
		d = h.Late(*now, id)
	}
	return id, d
}

// A late request gets a second request on another machine, after a delay between the two kinds of times.
func TestSendsASecondRequest(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	began := now
	id, d := start(h, &now, hedge.Request{Safe: true, Machine: "a"})
	assert.Equal(t, hedge.Send, d.Action)
	assert.Equal(t, hedge.Late, d.Reason)
	assert.Equal(t, "a", d.Avoid)
	assert.InDelta(t, 0.0059, now.Sub(began).Seconds(), 0.0001)
	assert.Equal(t, d.Value, now.Sub(began).Seconds())
	assert.GreaterOrEqual(t, d.Value+1e-9, d.Threshold)
	assert.Equal(t, hedge.Decision{Reason: hedge.AlreadySent}, h.Late(now, id))
	now = now.Add(5 * ms)
	h.Done(now, id, hedge.Second, hedge.Answered)
	assert.Equal(t, hedge.NotOpen, h.Late(now, id).Reason)
	h.Done(now, id, hedge.First, hedge.Cancelled)
	l := h.Ledger()
	assert.Equal(t, []int64{1001, 1001, 1, 1, 0}, []int64{l.Started, l.Answered, l.Sent, l.Won, l.Lost})
	assert.Equal(t, 5*ms, l.Busy)
	trials := h.Trials()
	assert.Equal(t, 1.0, trials.Won)
	assert.Zero(t, trials.AtRisk)
	first := 1000*(h.Plan(0, 0).Alone-d.Value) - 5
	assert.InDelta(t, -first, float64(trials.Cost)/float64(ms), 0.1, "a win saves the time that the first request still needed")
	sent, d := start(h, &now, hedge.Request{Safe: true})
	require.Equal(t, hedge.Send, d.Action)
	h.Done(now.Add(40*ms), sent, hedge.Second, hedge.Answered)
	left := 1000*(h.Plan(0, 0).Alone-d.Value) - 40
	saved := float64(trials.Cost-h.Trials().Cost) / float64(ms)
	assert.InDelta(t, left, saved, 0.1)
}

// Every refusal has its reason and prints the comparison that refused.
func TestEachRefusalHasItsReason(t *testing.T) {
	safe := hedge.Request{Safe: true}
	for want, play := range map[string]func() hedge.Decision{
		"none not-safe": func() hedge.Decision {
			h, now := taught(t, hedge.Config{})
			_, d := start(h, &now, hedge.Request{})
			return d
		},
		"none not-safe ": func() hedge.Decision { // also if the host asks all the same
			h, now := taught(t, hedge.Config{})
			id, _ := h.Start(now, hedge.Request{})
			return h.Late(now.Add(time.Second), id)
		},
		"none learning threshold=100": func() hedge.Decision {
			h, now := newHedger(t, hedge.Config{}), epoch
			_, d := start(h, &now, safe)
			return d
		},
		"none disabled": func() hedge.Decision {
			h, now := taught(t, hedge.Config{Budget: hedge.Off})
			_, d := start(h, &now, safe)
			return d
		},
		"none nothing-helps value=0.00582886 threshold=0.00553741": func() hedge.Decision {
			h, now := taught(t, hedge.Config{Percentile: 0.95})
			_, d := start(h, &now, safe)
			return d
		},
		"none wins-seldom value=0.195602 threshold=0.333333": func() hedge.Decision {
			h, now := newHedger(t, hedge.Config{}), epoch
			r := rand.New(rand.NewPCG(1, 2))
			for range 1000 {
				id, _ := h.Start(now, safe)
				now = now.Add(time.Duration(float64(ms) * math.Exp(0.5*r.NormFloat64())))
				h.Done(now, id, hedge.First, hedge.Answered)
			}
			_, d := start(h, &now, safe)
			return d
		},
		"none nothing-helps value=0.0600586 threshold=0.07": func() hedge.Decision {
			h, now := taught(t, hedge.Config{Target: 70 * ms})
			_, d := start(h, &now, safe)
			return d
		},
		"none deadline-near value=0.004 threshold=0.00491333": func() hedge.Decision {
			h, now := taught(t, hedge.Config{})
			id, d := h.Start(now, hedge.Request{Safe: true, Timeout: 20 * ms})
			require.Equal(t, hedge.Wait, d.Action)
			return h.Late(now.Add(16*ms), id)
		},
		"none pushed-back value=0.994171": func() hedge.Decision {
			h, now := taught(t, hedge.Config{})
			h.PushBack(now, time.Second)
			h.PushBack(now, ms)
			_, d := start(h, &now, safe)
			return d
		},
		"none not-open": func() hedge.Decision {
			h, now := taught(t, hedge.Config{})
			return h.Late(now, 0)
		},
		"none already-sent value=0.002": func() hedge.Decision {
			h, now := taught(t, hedge.Config{})
			id, _ := start(h, &now, safe)
			return h.Late(now.Add(2*ms), id)
		},
		"none in-shadow value=0.00582886 threshold=0.00582886": func() hedge.Decision {
			h, now := taught(t, hedge.Config{Shadow: true})
			_, d := start(h, &now, safe)
			return d
		},
	} {
		assert.Equal(t, strings.TrimSpace(want), play().String())
	}
}

// The budget is a share of the requests that have started. Up to an eighth of a window is saved. The budget shrinks
// while nearly all requests take longer than the usual median.
func TestBudget(t *testing.T) {
	h, now := taught(t, hedge.Config{Window: 1000, Budget: 0.04, Percentile: 0.96})
	refused := map[hedge.Reason]hedge.Decision{}
	for i := range 1000 {
		id, d := start(h, &now, hedge.Request{Safe: true})
		if d.Action == hedge.Send {
			h.Done(now.Add(ms), id, hedge.Second, hedge.Answered)
		} else if refused[d.Reason].Reason == hedge.NoReason {
			refused[d.Reason] = d
		}
		h.Done(now.Add(ms), id, hedge.First, hedge.Answered)
		if i == 50 {
			assert.InDelta(t, 1000*0.04/8+50*0.04, h.Ledger().Sent, 1.5)
			assert.NotContains(t, refused, hedge.AllSlow)
		}
	}
	spent, slow := refused[hedge.BudgetSpent], refused[hedge.AllSlow]
	assert.Less(t, spent.Value, spent.Threshold)
	assert.InDelta(t, 0.75, slow.Value, 0.01)
	assert.Equal(t, 0.75, slow.Threshold)
	assert.Less(t, h.Ledger().Sent, int64(25), "not 45")
}

// If second requests never win, the Hedger stops, and tries again once the evidence has faded.
func TestStopsIfSecondRequestsDoNotWin(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	tried, cost := []int{}, time.Duration(0)
	for i := range 40_000 {
		took := 5 * ms
		if i%20 == 0 {
			took = 60 * ms
		}
		began := now
		id, d := h.Start(now, hedge.Request{Safe: true})
		if now = began.Add(d.After); d.Action == hedge.Wait && took > d.After {
			if d = h.Late(now, id); d.Action == hedge.Send {
				tried = append(tried, i)
				cost += took - now.Sub(began)
			} else {
				require.NotEqual(t, hedge.NotLate, d.Reason)
			}
		}
		now = began.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
		h.Done(now, id, hedge.Second, hedge.Cancelled)
	}
	l := h.Ledger()
	assert.Equal(t, int64(len(tried)), l.Lost)
	assert.Less(t, len(tried), 20, "of 2000 late requests")
	assert.Equal(t, cost, h.Trials().Cost)
	assert.Greater(t, tried[len(tried)-1], 15_000, "it tries again")
	assert.Greater(t, l.Refused[hedge.RequestLong], int64(1900))
}

// A heavy request of known size is late only after the time that its size explains.
func TestSizeExplainsTime(t *testing.T) {
	h, now := newHedger(t, hedge.Config{Percentile: 0.999, Wins: 0.9}), epoch
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		size := 1 + 99*r.Float64()
		seconds := (0.01 + 0.002*size) * (0.9 + 0.2*r.Float64())
		if r.IntN(100) == 0 {
			seconds *= 10
		}
		id, _ := h.Start(now, hedge.Request{Safe: true, Size: size})
		now = now.Add(time.Duration(seconds * 1e9))
		h.Done(now, id, hedge.First, hedge.Answered)
	}
	for _, size := range []float64{10, 30, 100} {
		expected := 0.01 + 0.002*size
		assert.InEpsilon(t, 1.1*expected, h.Plan(0, size).Delay, 0.1, "size %v", size)
		assert.InEpsilon(t, expected, h.Quantile(0, size, 0.5), 0.1, "size %v", size)
	}
	assert.Equal(t, h.Plan(0, 0), h.Plan(0, math.NaN()), "an unknown size is the mean size")
	for _, size := range []float64{10, 100} {
		plan := h.Plan(0, size)
		began := now
		_, d := start(h, &now, hedge.Request{Safe: true, Size: size})
		assert.Equal(t, hedge.Late, d.Reason, "size %v", size)
		assert.Equal(t, plan.Delay, d.Threshold)
		assert.InDelta(t, plan.Delay, now.Sub(began).Seconds(), 1e-9)
		now = now.Add(time.Minute)
	}
	assert.InEpsilon(t, 0.21/0.03, h.Plan(0, 100).Alone/h.Plan(0, 10).Alone, 0.1)
	_, d := start(h, &now, hedge.Request{Safe: true, Size: 100, Timeout: 400 * ms})
	assert.Equal(t, hedge.DeadlineNear, d.Reason)
	assert.InEpsilon(t, h.Quantile(0, 100, 0.5), d.Threshold, 0.05)
	assert.InEpsilon(t, 0.11, h.Quantile(0, 0, 0.5), 0.2)
}

// Each class has its own plan, and all classes share the budget.
func TestClasses(t *testing.T) {
	h, now := newHedger(t, hedge.Config{Classes: 2}), epoch
	for i := range 2000 {
		class := i % 2
		id, _ := h.Start(now, hedge.Request{Class: class})
		took := time.Duration(1+9*class) * (4*ms + time.Duration(i%40)*50*time.Microsecond)
		if i%40 >= 38 {
			took *= 10
		}
		now = now.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
	}
	assert.InEpsilon(t, 10, h.Quantile(1, 0, 0.5)/h.Quantile(0, 0, 0.5), 0.05)
	assert.Equal(t, h.Plan(0, 0), h.Plan(2, 0), "an unknown class is class 0")
	assert.InEpsilon(t, 10, h.Plan(1, 0).Alone/h.Plan(0, 0).Alone, 0.05)
	assert.Equal(t, h.Plan(0, 0), h.Plan(-1, 0))
	assert.InEpsilon(t, 10, h.Plan(1, 0).Delay/h.Plan(0, 0).Delay, 0.05)
}

// In shadow mode the decisions are the same, nothing is sent, and the ledger has the expected wins.
func TestShadow(t *testing.T) {
	h, now := taught(t, hedge.Config{Shadow: true})
	for i := range 1000 {
		began := now
		id, d := h.Start(now, hedge.Request{Safe: true})
		took := 5 * ms
		if i%20 == 0 {
			took = 60 * ms
			reason := h.Late(began.Add(d.After), id).Reason
			require.Contains(t, []hedge.Reason{hedge.InShadow, hedge.NotDrawn}, reason)
		}
		now = began.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
		h.Done(now, id, hedge.Second, hedge.Answered)
	}
	l := h.Ledger()
	assert.Equal(t, []int64{50, 0, 0}, []int64{l.Sent + l.Refused[hedge.NotDrawn], l.Won, l.Lost})
	assert.InDelta(t, 0.95, l.Expected/float64(l.Sent), 0.01)
	assert.InEpsilon(t, 0.95*0.005+0.05*0.06, l.Busy.Seconds()/float64(l.Sent), 0.1)
	id, d := start(h, &now, hedge.Request{Safe: true})
	require.Equal(t, hedge.InShadow, d.Reason)
	h.Done(now.Add(ms), id, hedge.First, hedge.Answered)
	assert.Equal(t, ms, h.Ledger().Busy-l.Busy, "until the answer comes")
}

// A request that fails says nothing about times; a second request of a failed one goes on.
func TestFailures(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	before := h.Quantile(0, 0, 0.99)
	for range 2000 {
		id, d := h.Start(now, hedge.Request{Safe: true})
		require.Equal(t, hedge.Wait, d.Action)
		h.Done(now.Add(ms), id, hedge.First, hedge.Failed)
		require.Equal(t, hedge.NotOpen, h.Late(now.Add(time.Minute), id).Reason)
	}
	assert.Equal(t, before, h.Quantile(0, 0, 0.99))
	id, d := start(h, &now, hedge.Request{Safe: true})
	require.Equal(t, hedge.Send, d.Action)
	h.Done(now, id, hedge.First, hedge.Failed)
	assert.Equal(t, hedge.AlreadySent, h.Late(now, id).Reason)
	h.Done(now.Add(5*ms), id, hedge.Second, hedge.Answered)
	assert.Equal(t, int64(1), h.Ledger().Won)
	assert.Equal(t, 1.0, h.Trials().Won)
	id, d = start(h, &now, hedge.Request{Safe: true})
	require.Equal(t, hedge.Send, d.Action)
	h.Done(now, id, hedge.Second, hedge.Failed)
	h.Done(now.Add(50*ms), id, hedge.First, hedge.Answered)
	l := h.Ledger()
	assert.Equal(t, []int64{2, 1, 0}, []int64{l.Sent, l.Won, l.Lost}, "a failed second request is neither won nor lost")
	assert.Zero(t, h.Trials().AtRisk)
}

// A million starts without ends take bounded memory. The oldest are forgotten, and count as censored.
func TestStartsWithoutEnds(t *testing.T) {
	h := newHedger(t, hedge.Config{})
	now := epoch
	first, _ := h.Start(now, hedge.Request{Safe: true})
	var last hedge.ID
	for range 1_000_000 {
		now = now.Add(time.Microsecond)
		last, _ = h.Start(now, hedge.Request{Safe: true})
	}
	assert.Equal(t, int64(1_000_001-1<<16), h.Ledger().Forgotten)
	h.Done(now, first, hedge.First, hedge.Answered)
	assert.Zero(t, h.Ledger().Answered)
	h.Done(now, last, hedge.First, hedge.Answered)
	assert.Equal(t, int64(1), h.Ledger().Answered)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Microsecond)
		h.Start(now, hedge.Request{Safe: true})
	}))
}

// A clock that is set back is counted, and no time passes twice.
func TestClockThatStepsBack(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	id, d := h.Start(now, hedge.Request{Safe: true})
	now = now.Add(-time.Hour)
	assert.Equal(t, hedge.NotLate, h.Late(now, id).Reason)
	now = now.Add(d.After)
	assert.Equal(t, hedge.Late, h.Late(now, id).Reason)
	assert.Equal(t, 1, h.Ledger().Steps)
}

// Start, Late, Done and the plans do not allocate.
func TestNoAllocations(t *testing.T) {
	h, now := taught(t, hedge.Config{Window: 1000})
	i := 0
	play := func() {
		i++
		first := 5 * ms
		if i%20 == 0 {
			first = 60 * ms
		}
		request(h, &now, first+time.Duration(i%7)*100*time.Microsecond, 5*ms, float64(i%9))
	}
	for range 10_000 {
		play()
	}
	assert.Zero(t, testing.AllocsPerRun(5000, play))
}

func TestConfig(t *testing.T) {
	for want, c := range map[string]hedge.Config{
		"Config.Percentile is 1, want a probability in (0, 1)":       {Percentile: 1},
		"Config.Budget is NaN, want a share in (0, 1], 0 for":        {Budget: math.NaN()},
		"Config.Wins is 2, want a share in (0, 1], 0 for":            {Wins: 2},
		"Config.Target is -1s, want a positive duration":             {Target: -time.Second},
		"Config.Fanout is -1, want 1 to":                             {Fanout: -1},
		"Config.Window is 99, want 100 to 1000000":                   {Window: 99},
		"Config.Keep is -1ns, want a positive duration":              {Keep: -1},
		"Config.Classes is 1025, want 1 to 1024, or 0 for the defau": {Classes: 1025},
	} {
		_, err := hedge.New(c)
		assert.ErrorContains(t, err, "restart/hedge: "+want)
	}
	h := newHedger(t, hedge.Config{})
	assert.Equal(t, hedge.Config{
		Percentile: 0.99, Budget: 0.05, Wins: 1. / 3, Fanout: 1, Window: 10_000, Keep: 10 * time.Minute, Classes: 1,
	}, h.Config())
	c := hedge.Config{Budget: hedge.Off, Target: time.Second}
	data, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Equal(t, `{"budget":-1,"target":1}`, string(data))
	var back hedge.Config
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, c, back)
}

// Second requests may be faster than first requests: one of four machines is slow, and the second request avoids it. At
// first no plan seems to help, because second requests seem to be as slow. A few of them show that they are not.
func TestLearnsThatSecondRequestsAreFaster(t *testing.T) {
	for _, spread := range []float64{0.1, 0.4} {
		h, now := newHedger(t, hedge.Config{Budget: 0.3}), epoch
		r := rand.New(rand.NewPCG(1, 2))
		late := 0
		for i := range 30_000 {
			healthy := func() time.Duration { return time.Duration((1 + spread*(r.Float64()-0.5)) * 4e6) }
			first := healthy()
			if r.IntN(4) == 0 {
				first *= 10
			}
			if took, _ := request(h, &now, first, healthy(), 0); i >= 20_000 && took > 15*ms {
				late++
			}
		}
		assert.Less(t, late, 200, "of the last 10,000 requests, of which 2500 meet the slow machine; spread %v", spread)
	}
}

// A storm of three windows in which all requests are ten times slower moves neither the plan nor the learned times.
func TestStormIsNotLearned(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	play := func(n int, times time.Duration) {
		for i := range n {
			first := 4*ms + time.Duration(i%20)*100*time.Microsecond
			if i%20 == 0 {
				first = 60 * ms
			}
			request(h, &now, times*first, 5*ms*times, 0)
		}
	}
	play(10_000, 1)
	before, delay := h.Quantile(0, 0, 0.9), h.Plan(0, 0).Delay
	play(30_000, 10)
	play(100, 1)
	assert.InEpsilon(t, before, h.Quantile(0, 0, 0.9), 0.02)
	assert.InEpsilon(t, delay, h.Plan(0, 0).Delay, 0.1)
	play(80_000, 10)
	assert.InEpsilon(t, 10*before, h.Quantile(0, 0, 0.9), 0.02, "it lasts")
}

// Where requests are few, the window is never full. A slowness that lasts is then learned after fewer requests.
func TestSlownessOfFewRequestsIsLearned(t *testing.T) {
	h, now := taught(t, hedge.Config{})
	before := h.Quantile(0, 0, 0.5)
	for range 8000 {
		request(h, &now, 50*ms, 50*ms, 0)
	}
	assert.InEpsilon(t, 10*before, h.Quantile(0, 0, 0.5), 0.05)
}

// If the service stays three times slower, that becomes usual, and second requests are sent again.
func TestSlowBecomesUsual(t *testing.T) {
	h, now := taught(t, hedge.Config{Window: 1000})
	play := func(n int) (sent int) {
		for i := range n {
			first := 3 * (4*ms + time.Duration(i%20)*100*time.Microsecond)
			if i%25 == 0 {
				first *= 10
			}
			if _, hedged := request(h, &now, first, 15*ms, 0); hedged {
				sent++
			}
		}
		return sent
	}
	assert.Less(t, play(1000), 20)
	assert.Positive(t, h.Ledger().Refused[hedge.AllSlow])
	play(20_000)
	before := h.Ledger().Refused[hedge.AllSlow]
	assert.Greater(t, play(1000), 25)
	assert.Equal(t, before, h.Ledger().Refused[hedge.AllSlow])
}

// Without stragglers a second request hardly ever wins, and no plan makes the p99 much shorter.
func TestNoSecondRequestsForAGainByChance(t *testing.T) {
	for _, wins := range []float64{0, hedge.Off} {
		h, now := newHedger(t, hedge.Config{Wins: wins}), epoch
		r := rand.New(rand.NewPCG(1, 2))
		draw := func() time.Duration { return time.Duration(5e6 * math.Exp(0.4*r.NormFloat64())) }
		for range 50_000 {
			request(h, &now, draw(), draw(), 0)
		}
		assert.Less(t, h.Ledger().Sent, int64(500), "1 %")
	}
}

// The size of the first request may be unlike all others: one byte beside 64 MB, or the reverse. Late requests get
// second requests all the same.
func TestFirstSizeIsUnlikeTheOthers(t *testing.T) {
	for _, first := range []float64{1, 1e-300, 1e15, 0} {
		for _, size := range []float64{64e6, 1} {
			h, now := newHedger(t, hedge.Config{Budget: 0.1}), epoch
			r := rand.New(rand.NewPCG(1, 2))
			draw := func() time.Duration { return time.Duration(float64(500*ms) * math.Exp(0.1*r.NormFloat64())) }
			request(h, &now, draw(), draw(), first)
			sent := 0
			for i := range 3000 {
				took := draw()
				if i%20 == 0 {
					took *= 10
				}
				if _, hedged := request(h, &now, took, draw(), size); hedged && i >= 2000 {
					sent++
				}
			}
			assert.Greater(t, sent, 40, "first size %v, then %v", first, size)
		}
	}
}
