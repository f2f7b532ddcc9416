package requests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/des"
	"github.com/straggler-go/straggler/examples/internal/recent"
)

func run(t testing.TB, c Config) Result {
	t.Helper()
	r, err := Run(c)
	require.NoError(t, err)
	return r
}

// exponential servers work for a second in the mean.
func exponential(load float64) Config {
	return Config{
		Servers: 50, Fanouts: 150_000, Fan: 1, Warmup: 5000, Replicas: 2, Load: load, Mean: 1, Seed: 7,
		Seconds: func(r *rand.Rand) float64 { return r.ExpFloat64() },
	}
}

// twoOfEach clones every request, whatever the load.
var twoOfEach = &clone.Config{BudgetShare: clone.Off, Ceiling: clone.Off}

func twice(c Config) Config {
	c.Clone, c.Straggler = twoOfEach, 0.1
	return c
}

// hiccups are servers of 10 ms, of which one copy in twenty takes ten times as long, asked by fan-outs of ten.
func hiccups(load float64) Config {
	return Config{
		Servers: 100, Fanouts: 1500, Fan: 10, Warmup: 300, Replicas: 3, Load: load, Mean: 0.0145, Seed: 3,
		Seconds: func(r *rand.Rand) float64 {
			if r.IntN(20) == 0 {
				return 0.1
			}
			return 0.01
		},
	}
}

// A server that is asked at random at a load of x answers exponential work in 1/(1-x) of its mean [M/M/1]. At 0.8 the
// mean of 400,000 has a standard error of 1.4 %: waits that follow each other are alike. The test has a load of 0.5,
// and with STRAGGLER_LIVES of 0.2 and 0.8 as well.
func TestQueuesTakeAsLongAsTheoryHasIt(t *testing.T) {
	loads := map[float64]float64{0.5: 0.02}
	if os.Getenv("STRAGGLER_LIVES") != "" {
		loads[0.2], loads[0.8] = 0.01, 0.04
	}
	for load, within := range loads {
		c := exponential(load)
		c.Fanouts = 400_000
		assert.InEpsilon(t, 1/(1-load), run(t, c).Mean, within, "load %v", load)
	}
}

// Two copies of each that nobody calls back double the load: the sooner of two such queues takes 1/(2(1-2x)). That is
// less than 1/(1-x) up to a load of 1/3, and more beyond.
func TestTwoOfEachHelpUpToAThird(t *testing.T) {
	for _, load := range []float64{0.1, 0.2, 0.3, 0.4} {
		r := run(t, twice(exponential(load)))
		want := 1 / (2 * (1 - 2*load))
		assert.InEpsilon(t, want, r.Mean, 0.05, "load %v", load)
		assert.Equal(t, want < 1/(1-load), load < 1./3)
		assert.Equal(t, r.Requests, r.Copies)
		assert.InDelta(t, 2*load, r.Busy, 0.02)
	}
}

// Where the loser is called back, and times are exponential, d copies on n servers take the sum over i from d to n of
// 1/(n (C(n-1,d-1)/C(i-1,d-1) - x)), which is never more than one copy takes.
func TestCalledBackCopiesTakeAsLongAsTheoryHasIt(t *testing.T) {
	c := exponential(0.7)
	c.Servers, c.Cancel = 10, true
	want := 0.0
	for i := 2; i <= 10; i++ {
		want += 1 / (10 * (9/float64(i-1) - 0.7))
	}
	assert.InEpsilon(t, want, run(t, twice(c)).Mean, 0.03)
}

// Here, copies are not cancelled, so each copy is work for other requests. If copies are sent by
// a percentile of age, to any queue, they help at low load and do harm at high load. With the library's budgets, and
// with a copy only if a server is idle, copies help if there is room, and otherwise do no harm.
func TestBudgetsHoldCopiesHarmless(t *testing.T) {
	loads := []float64{0.1, 0.9}
	if os.Getenv("STRAGGLER_LIVES") != "" {
		loads = append(loads, 0.5)
	}
	for _, load := range loads {
		plain := hiccups(load)
		without := run(t, plain).Mean

		unbound := aged(plain, rules.Dryad{})
		unbound.Queued = true
		hedged := run(t, unbound).Mean

		bound := aged(plain, restart.Mantri{})
		bound.Budget = &tracker.BudgetConfig{}
		byAge := run(t, bound)
		assert.LessOrEqual(t, byAge.Mean, without, "load %v", load)
		// Beyond its rate the budget allows a copy while none runs: these, one after the other, fill one server at
		// most.
		oneServer := float64(byAge.Requests) / (load * float64(plain.Servers))
		assert.LessOrEqual(t, float64(byAge.Copies), float64(byAge.Requests)/10+3+oneServer, "the budget's rate, and one copy at a time")

		cloned := plain
		cloned.Clone, cloned.Straggler = &clone.Config{BudgetShare: clone.Off, Ceiling: 0.5}, 0.05
		byClone := run(t, cloned).Mean
		assert.LessOrEqual(t, byClone, without*1.01, "load %v", load)
		switch load {
		case 0.1:
			assert.Less(t, hedged, 0.6*without)
			assert.Less(t, byAge.Mean, 0.7*without)
			assert.Less(t, byClone, 0.7*without)
		case 0.9:
			assert.Greater(t, hedged, 1.3*without)
		}
	}
}

func aged(c Config, p restart.Policy) Config {
	c.Restart, c.Interval = p, 5*time.Millisecond
	return c
}

// A copy whose request is answered is called back, from a queue or from work, and its server goes on at once.
func TestServersAreFreedWhenAnAnswerIsThere(t *testing.T) {
	c := hiccups(0.5)
	c.Cancel = true
	c = aged(c, restart.Mantri{})
	r := run(t, c)
	n := len(r.Seconds)
	for p, want := range map[float64]float64{0: r.Seconds[0], 0.5: r.Seconds[n/2-1], 1: r.Seconds[n-1]} {
		assert.Equal(t, want, r.Quantile(p))
	}
	assert.Len(t, r.Seconds, c.Fanouts-c.Warmup)
	assert.Equal(t, c.Fanouts*c.Fan, r.Requests)
	assert.LessOrEqual(t, r.Won, r.Copies)
	plain := c
	plain.Restart = nil
	assert.Less(t, r.Busy, run(t, plain).Busy, "a copy ends work that would have taken ten times as long")
}

func TestOneSeedOneResultAndAStory(t *testing.T) {
	c := aged(hiccups(0.3), restart.Mantri{})
	c.Budget, c.Clone, c.Straggler = &tracker.BudgetConfig{}, &clone.Config{}, 0.05
	c.Fanouts, c.Warmup, c.Explain = 200, 0, 150
	r := run(t, c)
	assert.Equal(t, r, run(t, c))
	require.NotEmpty(t, r.Story)
	assert.Contains(t, r.Story[0].Text, "single", "package clone")
	assert.Contains(t, fmt.Sprint(r.Story), "basis=age", "package restart")
	assert.Equal(t, "all answers are there", r.Story[len(r.Story)-1].Text)
	c.Seed++
	assert.NotEqual(t, r.Mean, run(t, c).Mean)
}

func TestRefusesWhatCannotRun(t *testing.T) {
	for want, set := range map[string]func(*Config){
		"0 servers":   func(c *Config) { c.Servers = 0 },
		"warm up":     func(c *Config) { c.Warmup = c.Fanouts },
		"Replicas":    func(c *Config) { c.Replicas = 51 },
		"load NaN":    func(c *Config) { c.Load = math.NaN() },
		"Interval":    func(c *Config) { c.Restart = restart.Mantri{} },
		"BudgetShare": func(c *Config) { c.Clone = &clone.Config{BudgetShare: 2} },
		"Share":       func(c *Config) { *c = aged(*c, restart.Mantri{}); c.Budget = &tracker.BudgetConfig{Share: 2} },
	} {
		c := exponential(0.5)
		set(&c)
		_, err := Run(c)
		assert.ErrorContains(t, err, want)
	}
}

// The data of a request lies on as many servers as there are replicas.
func TestReplicasAreDifferentServers(t *testing.T) {
	s := &sim{c: &Config{Replicas: 3, Servers: 5}, servers: servers{draws: des.NewDraws(1)}}
	seen := map[int32]bool{}
	for r := range int32(50) {
		list := s.place(r)
		slices.Sort(list)
		require.Len(t, slices.Compact(list), 3)
		seen[list[0]], seen[list[2]] = true, true
	}
	assert.Len(t, seen, 5)
}

// A copy that waits in a queue has no work yet. Its age counts among the responses alone.
func TestAgesOfWaitingCopiesAreNoWork(t *testing.T) {
	s := &sim{c: &Config{Mean: 1}, servers: servers{now: 10 * time.Second, attempts: []attempt{
		{begun: none, over: true}, {sent: 4 * time.Second, begun: 7 * time.Second}, {sent: 2 * time.Second, begun: none}, {over: true},
	}}}
	w := &watch{responses: recent.Times{Keep: time.Minute}, work: recent.Times{Keep: time.Minute}}
	w.fit(s)
	assert.Equal(t, 2, w.response.Len())
	assert.InDelta(t, 8, w.response.Longest(), 0)
	assert.Equal(t, 1, w.fresh.(*survival.Curve).Len())
	assert.InDelta(t, 3, w.fresh.(*survival.Curve).Longest(), 0)
	s.c.Queued = true
	w.fit(s)
	assert.InDelta(t, 8, w.fresh.(*survival.Curve).Longest(), 0, "a copy that may wait takes the time of a response")
}
