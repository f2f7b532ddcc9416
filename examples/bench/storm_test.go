package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgefailsafe"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// The storm is that of examples/hedging: servers at a load of 0.45, of which all are three times slower for 4 s. They
// ignore that a request is cancelled. It runs in the virtual time of testing/synctest, so the libraries' own timers,
// clocks and goroutines take part. hedgedhttp does not: its goroutines are shared by the whole process, and outlive
// the virtual time. Its rule is the fixed delay.
const (
	load     = 0.45
	from, to = 15 * time.Second, 19 * time.Second
	end      = 40 * time.Second
	slow     = 3
	mean, sd = 0.005, 0.002                     // seconds; 5 % are ten times longer
	rate     = load / (mean * (0.95 + 0.05*10)) // requests each second for each server
	delay    = 60 * time.Millisecond            // of the rules with a fixed delay: the p95 is 50 ms
)

// whole is true with STRAGGLER_LIVES. The storm then has 50 servers and all libraries; else it has 20 servers, and the
// libraries of which the test asserts something.
var whole = os.Getenv("STRAGGLER_LIVES") != ""

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// cluster is servers with queues.
type cluster struct {
	began time.Time
	lock  sync.Mutex
	// When each server has worked off its queue.
	until []time.Time
	sent  []time.Duration // when second requests were sent
}

// ask sends an attempt of request i, and waits for its answer or the end of the context.
func (c *cluster) ask(ctx context.Context, i int, second bool) error {
	attempt := uint64(2 * i)
	if second {
		attempt++
	}
	r := rand.New(rand.NewPCG(1, attempt))
	v := math.Log1p(sd * sd / mean / mean)
	seconds := math.Exp(math.Log(mean) - v/2 + math.Sqrt(v)*r.NormFloat64())
	if r.IntN(20) == 0 {
		seconds *= 10
	}
	server, now := r.IntN(len(c.until)), time.Now()
	at := now.Sub(c.began)
	if at >= from && at < to {
		seconds *= slow
	}
	c.lock.Lock()
	if second {
		c.sent = append(c.sent, at)
	}
	begins := now
	if u := c.until[server]; u.After(begins) {
		begins = u
	}
	c.until[server] = begins.Add(time.Duration(seconds * float64(time.Second)))
	wait := c.until[server].Sub(now)
	c.lock.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asker sends request i, and perhaps a second one.
type asker func(ctx context.Context, i int)

// ours returns the asker of a rule of this library.
func ours(t *testing.T, c *cluster, rule hedge.Rule, err error) asker {
	require.NoError(t, err)
	route := hedged.NewRoute(rule)
	return func(ctx context.Context, i int) {
		hedged.Do(ctx, route, hedge.Request{Safe: true}, func(ctx context.Context) (int, error) {
			_, second := hedged.Second(ctx)
			return 0, c.ask(ctx, i, second)
		})
	}
}

// failsafes returns the asker of a hedge policy of failsafe-go.
func failsafes(c *cluster, policy failsafe.Policy[int]) asker {
	return func(ctx context.Context, i int) {
		f := func(e failsafe.Execution[int]) (int, error) { return 0, c.ask(e.Context(), i, e.IsHedge()) }
		failsafe.With(policy).WithContext(ctx).GetWithExecution(f)
	}
}

type way struct {
	name string
	use  func(t *testing.T, c *cluster) asker
}

// libraries are the compared ways to send requests. The test asserts something of the first three.
var libraries = []way{
	{"none", func(_ *testing.T, c *cluster) asker { return func(ctx context.Context, i int) { c.ask(ctx, i, false) } }},
	{"Hedger", func(t *testing.T, c *cluster) asker {
		h, err := hedge.New(hedge.Config{})
		return ours(t, c, h, err)
	}},
	{"Hedger in failsafe-go", func(t *testing.T, c *cluster) asker {
		h, err := hedge.New(hedge.Config{})
		require.NoError(t, err)
		safe := func(context.Context) hedge.Request { return hedge.Request{Safe: true} }
		return failsafes(c, hedgefailsafe.New[int](hedged.NewRoute(h), safe))
	}},
	{"failsafe-go, quantile 0.95", func(_ *testing.T, c *cluster) asker {
		return failsafes(c, hedgepolicy.NewWithDelayQuantile[int](0.95, 1000, 100))
	}},
	{"failsafe-go, quantile, budget", func(_ *testing.T, c *cluster) asker {
		return failsafes(c, hedgepolicy.NewBuilderWithDelayQuantile[int](0.95, 1000, 100).WithBudget(budget.New()).Build())
	}},
	{"failsafe-go, 60 ms", func(_ *testing.T, c *cluster) asker {
		return failsafes(c, hedgepolicy.NewWithDelay[int](delay))
	}},
	{"Finagle's rule, 5 %", func(t *testing.T, c *cluster) asker {
		r, err := hedgerules.New(hedgerules.Finagle(0.05))
		return ours(t, c, r, err)
	}},
}

// weather plays the storm, and returns the times of the requests by the second in which they came.
func weather(t *testing.T, l way, servers int) (seconds [][]float64, sent []time.Duration) {
	seconds = make([][]float64, end/time.Second)
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{began: time.Now(), until: make([]time.Time, servers)}
		ask := l.use(t, c)
		r := rand.New(rand.NewPCG(2, 3))
		var lock sync.Mutex
		var all sync.WaitGroup
		for i := 0; ; i++ {
			time.Sleep(time.Duration(r.ExpFloat64() / (rate * float64(servers)) * float64(time.Second)))
			came := time.Since(c.began)
			if came >= end {
				break
			}
			all.Go(func() {
				ask(context.Background(), i)
				lock.Lock()
				defer lock.Unlock()
				at := came / time.Second
				seconds[at] = append(seconds[at], (time.Since(c.began) - came).Seconds())
			})
		}
		all.Wait()
		sent = c.sent
	})
	return seconds, sent
}

// p99 returns the p99 of some times in ms.
func p99(times ...[]float64) float64 {
	list := slices.Concat(times...)
	slices.Sort(list)
	return 1000 * stat.Quantile(0.99, stat.Empirical, list, nil)
}

// TestStorm prints, with -v, how each library comes through the storm. It fails if the Hedger does not.
func TestStorm(t *testing.T) {
	t.Parallel()
	servers, played := 20, libraries[:3]
	if whole {
		servers, played = 50, libraries
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "library\tp99 before in ms\tworst p99 of a second\tback to none's p99 after s\t")
	fmt.Fprintln(out, "most second requests in 10 s, in %\t")
	const warm, ten = 5, 10
	none, noneBack := 0.0, 0.0
	for _, l := range played {
		seconds, sent := weather(t, l, servers)
		before, worst, back, most := p99(seconds[warm:from/time.Second]...), 0.0, math.Inf(1), 0.0
		if none == 0 {
			none = before
		}
		for at := len(seconds) - 1; at >= int(from/time.Second); at-- {
			p := p99(seconds[at])
			if worst = max(worst, p); at >= int(to/time.Second) && p <= 1.05*none {
				back = float64(at - int(to/time.Second))
			}
		}
		for at := warm; at+ten <= len(seconds); at++ {
			first, second := 0, 0
			for _, s := range seconds[at : at+ten] {
				first += len(s)
			}
			for _, s := range sent {
				if s >= time.Duration(at)*time.Second && s < time.Duration(at+ten)*time.Second {
					second++
				}
			}
			most = max(most, 100*float64(second)/float64(first))
		}
		fmt.Fprintf(out, "%s\t%.1f\t%.0f\t%v\t%.1f\t\n", l.name, before, worst, back, most)
		switch l.name {
		case "none":
			noneBack = back
		case "Hedger", "Hedger in failsafe-go":
			assert.LessOrEqual(t, most, 5.5, l.name)
			assert.LessOrEqual(t, back, noneBack+1, l.name)
			assert.Less(t, before, 0.85*none, l.name)
		}
	}
	require.NoError(t, out.Flush())
}
