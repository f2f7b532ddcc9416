package hedge_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// Start, Late and Done of a request that gets a second request in one of twenty cases.
func BenchmarkHedger(b *testing.B) {
	h, _ := hedge.New(hedge.Config{})
	r := rand.New(rand.NewPCG(1, 2))
	times := make([]time.Duration, 1<<14)
	for i := range times {
		if times[i] = 4*time.Millisecond + time.Duration(r.ExpFloat64()*float64(2*time.Millisecond)); r.IntN(20) == 0 {
			times[i] *= 10
		}
	}
	now := time.Unix(1, 0)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		request(h, &now, times[i&(len(times)-1)], times[(i+7)&(len(times)-1)], 0)
		i++
	}
}

// request plays one request: its first attempt takes first, and its second attempt second.
func request(h hedge.Rule, now *time.Time, first, second time.Duration, size float64) (took time.Duration, sent bool) {
	began := *now
	id, d := h.Start(began, hedge.Request{Safe: true, Size: size, Machine: "a"})
	for waited := d.After; d.Action == hedge.Wait && waited < first; waited += d.After {
		if d = h.Late(began.Add(waited), id); d.Action != hedge.Send {
			continue
		}
		winner, loser, took := hedge.First, hedge.Second, first
		if waited+second < first {
			winner, loser, took = hedge.Second, hedge.First, waited+second
		}
		*now = began.Add(took)
		h.Done(*now, id, winner, hedge.Answered)
		h.Done(*now, id, loser, hedge.Cancelled)
		return took, true
	}
	*now = began.Add(first)
	h.Done(*now, id, hedge.First, hedge.Answered)
	return first, false
}

func BenchmarkHedgerLate(b *testing.B) {
	h, _ := hedge.New(hedge.Config{})
	now := time.Unix(1, 0)
	for i := range 2000 {
		request(h, &now, time.Duration(1+i%50)*time.Millisecond, time.Millisecond, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		id, _ := h.Start(now, hedge.Request{Safe: true, Machine: "a"})
		now = now.Add(50 * time.Millisecond)
		h.Late(now, id)
		h.Done(now, id, hedge.First, hedge.Answered)
		h.Done(now, id, hedge.Second, hedge.Cancelled)
	}
}

func BenchmarkBest(b *testing.B) {
	var c survival.Curve
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		c.Observe(r.ExpFloat64(), true)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Fit()
		hedge.Problem{First: &c, Percentile: 0.99, Budget: 0.05}.Best()
	}
}
