package hedgerules_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

const ms = time.Millisecond

var safe = hedge.Request{Safe: true, Machine: "a"}

func newRule(t testing.TB, c hedgerules.Config) *hedgerules.Rule {
	t.Helper()
	r, err := hedgerules.New(c)
	require.NoError(t, err)
	return r
}

// answered plays n requests of the given times, one after the other, without second requests.
func answered(r *hedgerules.Rule, now *time.Time, times ...time.Duration) {
	for _, took := range times {
		id, _ := r.Start(*now, safe)
		*now = now.Add(took)
		r.Done(*now, id, hedge.First, hedge.Answered)
	}
}

func TestFixed(t *testing.T) {
	r, now := newRule(t, hedgerules.Fixed(10*ms)), time.Unix(0, 0)
	id, d := r.Start(now, safe)
	assert.Equal(t, "wait not-late after=0.01s threshold=0.01", d.String())
	assert.Equal(t, "wait not-late after=0.006s value=0.004 threshold=0.01", r.Late(now.Add(4*ms), id).String())
	now = now.Add(10 * ms)
	assert.Equal(t, "send late value=0.01 threshold=0.01 avoid=a", r.Late(now, id).String())
	assert.Equal(t, "none already-sent value=0.002", r.Late(now.Add(2*ms), id).String())
	now = now.Add(2 * ms)
	r.Done(now, id, hedge.Second, hedge.Answered)
	assert.Equal(t, hedge.NotOpen, r.Late(now, id).Reason)
	_, d = r.Start(now, hedge.Request{})
	assert.Equal(t, hedge.NotSafe, d.Reason)
	id, _ = r.Start(now, safe)
	r.PushBack(now, time.Second)
	assert.Equal(t, "none pushed-back value=0.99", r.Late(now.Add(10*ms), id).String())
	assert.Equal(t, hedge.NotOpen, r.Late(now, 0).Reason)
}

// The quantile is of the requests that win, so second requests of 1 ms make it shorter and shorter.
func TestQuantileForgetsTheLosers(t *testing.T) {
	r, now := newRule(t, hedgerules.Quantile(0.9)), time.Unix(0, 0)
	_, d := r.Start(now, safe)
	assert.Equal(t, "none learning threshold=20", d.String())
	for i := range 20 {
		answered(r, &now, time.Duration(i+1)*ms)
	}
	_, d = r.Start(now, safe)
	assert.Equal(t, 18*ms, d.After)
	for range 200 { // first requests of 100 ms, and second requests that win after 1 ms
		id, d := r.Start(now, safe)
		require.Equal(t, hedge.Send, r.Late(now.Add(d.After), id).Action)
		r.Done(now.Add(d.After+ms), id, hedge.Second, hedge.Answered)
		r.Done(now.Add(d.After+ms), id, hedge.First, hedge.Cancelled)
	}
	_, d = r.Start(now, safe)
	assert.Equal(t, ms, d.After, "although first requests take 100 ms")
	for range 5000 {
		answered(r, &now, 7*ms)
	}
	_, d = r.Start(now, safe)
	assert.Equal(t, 7*ms, d.After, "the window moves")
	assert.Zero(t, testing.AllocsPerRun(100, func() { answered(r, &now, 7*ms) }))
}

// The end of a second request that was not sent changes nothing.
func TestSecondRequestThatWasNotSent(t *testing.T) {
	r, now := newRule(t, hedgerules.Quantile(0.9)), time.Unix(0, 0)
	for range 20 {
		now = now.Add(time.Hour)
		id, _ := r.Start(now, safe)
		r.Done(now, id, hedge.Second, hedge.Answered)
		r.Done(now.Add(ms), id, hedge.First, hedge.Answered)
	}
	_, d := r.Start(now, safe)
	assert.Equal(t, ms, d.After)
}

// Finagle's budget is a share of the requests and ten more each second, kept for ten seconds.
func TestFinagle(t *testing.T) {
	r, now := newRule(t, hedgerules.Finagle(0.05)), time.Unix(0, 0)
	for range 20 {
		answered(r, &now, ms/2)
	}
	send := func() hedge.Decision {
		id, d := r.Start(now, safe)
		require.Equal(t, ms, d.After, "at least 1 ms, and not refreshed for 3 s")
		return r.Late(now.Add(d.After), id)
	}
	for send().Action == hedge.Send {
	}
	now = now.Add(time.Second)
	sent := 0
	for ; send().Action == hedge.Send; sent++ {
	}
	assert.InDelta(t, 10, sent, 2)
	d := send()
	assert.Equal(t, hedge.BudgetSpent, d.Reason)
	assert.Less(t, d.Value, d.Threshold)
	now = now.Add(time.Hour)
	for sent = 0; ; sent++ {
		id, d := r.Start(now, safe)
		if r.Late(now.Add(d.After), id).Action != hedge.Send {
			break
		}
	}
	assert.InDelta(t, 100+0.05*4096, sent, 25)
}

// Cassandra refreshes its quantile every 5 s, and has no budget.
func TestCassandra(t *testing.T) {
	r, now := newRule(t, hedgerules.Cassandra(0.99)), time.Unix(0, 0)
	for range 100 {
		answered(r, &now, 10*ms)
	}
	_, d := r.Start(now, safe)
	assert.Equal(t, 10*ms, d.After)
	for range 400 {
		answered(r, &now, 10*ms)
		id, _ := r.Start(now, safe)
		require.Equal(t, hedge.Send, r.Late(now.Add(time.Second), id).Action)
	}
	answered(r, &now, 30*ms, 30*ms, 30*ms, 30*ms, 30*ms, 30*ms)
	_, d = r.Start(now, safe)
	assert.Equal(t, 10*ms, d.After)
	now = now.Add(6 * time.Second)
	_, d = r.Start(now, safe)
	assert.Equal(t, 30*ms, d.After)
}

// After five failures gRPC sends no second request. Ten answers give a token back.
func TestGRPC(t *testing.T) {
	r, now := newRule(t, hedgerules.GRPC(ms)), time.Unix(0, 0)
	late := func() hedge.Decision {
		id, _ := r.Start(now, safe)
		now = now.Add(ms)
		return r.Late(now, id)
	}
	for range 5 {
		require.Equal(t, hedge.Send, late().Action)
		id, _ := r.Start(now, safe)
		r.Done(now, id, hedge.First, hedge.Failed)
	}
	assert.Equal(t, "none budget-spent value=5 threshold=5", late().String())
	answered(r, &now, ms)
	assert.Equal(t, hedge.Send, late().Action)
}

func TestConfig(t *testing.T) {
	for want, c := range map[string]hedgerules.Config{
		"Delay is -1ns":         {Delay: -1},
		"Quantile is 1":         {Quantile: 1},
		"Refresh is -1ns":       {Refresh: -1},
		"Least is -1ns":         {Least: -1},
		"ExtraLoad is NaN":      {ExtraLoad: math.NaN()},
		"PerSecond is -1":       {PerSecond: -1},
		"Keep is -1ns":          {Keep: -1},
		"Tokens is +Inf":        {Tokens: math.Inf(1)},
		"Ratio is -1, want a p": {Ratio: -1},
	} {
		_, err := hedgerules.New(c)
		assert.ErrorContains(t, err, "restart/hedge/hedgerules: Config."+want)
	}
}
