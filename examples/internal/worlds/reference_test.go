package worlds

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The host that knows the distributions costs less than the default where attempts have bad luck, and acts on nothing
// where tasks are long by themselves. Cost is time and slot time: in one of the cells the default is faster by a
// point, with seven points more slot time. The two longest cells are played with STRAGGLER_LIVES.
func TestReferenceCells(t *testing.T) {
	players := []Player{{Name: "default"}, {Name: "reference", Reference: true}}
	for name, most := range map[string]Share{
		"15 % attempts 8x/3w noisy":           {Time: 36, Slots: 55},
		"15 % attempts 8x/3w none":            {Time: 50, Slots: 68},
		"10 % hang, timeout 1500 s/1w linear": {Time: 15, Slots: 60},
		"five mild 1.5x/3w noisy":             {Time: 99, Slots: 100.2},
		"lognormal 1 sizes, unknown/3w none":  {Time: 100.01, Slots: 100.01},
		"10 GPU 3x faster/3w noisy":           {Time: 85, Slots: 85},
	} {
		if !long && (strings.HasPrefix(name, "lognormal") || strings.HasSuffix(name, "8x/3w none")) {
			continue
		}
		c := cell(name)
		c.World.Noise = 2
		c, err := Play(c.World, c.Model, players, Work, 8)
		require.NoError(t, err)
		got := c.Players[1]
		assert.LessOrEqual(t, got.Time, most.Time, name)
		assert.LessOrEqual(t, got.Slots, most.Slots, name)
		assert.Less(t, got.Time+got.Slots, c.Players[0].Time+c.Players[0].Slots+.01, name)
	}
}

// long is true with STRAGGLER_LIVES. Some tests then play more games.
var long = os.Getenv("STRAGGLER_LIVES") != ""

// No world makes the reference hang or differ from one game to the next. The test plays the worlds of at most 20
// tasks without the longest, and a game in four twice. With STRAGGLER_LIVES it plays those of at most 60 tasks, and all
// games twice.
func TestReferenceGames(t *testing.T) {
	most := 20
	if long {
		most = 60
	}
	for i, w := range worldsIn("first") {
		if w.Tasks > most || !long && (w.Phases > 0 || w.Name == "two bad 4x 12x/0.75w") {
			continue
		}
		g := Game{Model: None, Set: Work, Seed: 2, Reference: true}
		one, err := w.Run(g)
		require.NoError(t, err, w.Name)
		if long || i%4 == 0 {
			two, err := w.Run(g)
			require.NoError(t, err, w.Name)
			assert.Equal(t, one, two, w.Name)
		}
		if w.Tasks <= 20 {
			g.Model = Stalls
			_, err = w.Run(g)
			require.NoError(t, err, w.Name)
		}
	}
}

// An attempt in seven is slow; a report that predicts eight times the usual total makes that certain, and its task's
// restart cheaper than to wait.
func TestReferenceWeighs(t *testing.T) {
	w := find(t, "15 % attempts 8x/3w")
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	decide := func(done float64) (costs, tracker.Answer) {
		r := newReference(&w, Linear, w.Tasks, 20, nil)
		r.Start(at(0), 0, 3)
		a := r.Report(at(20), 0, 0, tracker.Report{Done: done})
		t := &r.tasks[0]
		return r.weigh(t, r.anew(t)), a
	}
	c, a := decide(20. / 720)
	assert.InDelta(t, 700*(1+priceWaiting), c.keep, 20)
	assert.InDelta(t, 100*(1+priceWaiting), c.restart, 20)
	assert.Equal(t, restart.Restart, a.Action)
	c, a = decide(20. / 90)
	assert.InDelta(t, 70*(1+priceWaiting), c.keep, 5)
	assert.Equal(t, restart.Keep, a.Action)
}

// An attempt that has done half of its work and moves hangs half as probably as one that has just begun to.
func TestReferenceHangs(t *testing.T) {
	w := find(t, "10 % hang, timeout 1500 s/1w")
	r := newReference(&w, Linear, w.Tasks, 20, nil)
	hangs := possible{slow: 1, hangs: true}
	moves := seen{age: 50, reports: 1, log: math.Log(100), done: .5}
	assert.InDelta(t, .5, r.likelihood(&moves, hangs, 100)/r.likelihood(&moves, possible{slow: 1}, 100), 1e-9)
	moves.stopped = true
	assert.Greater(t, r.likelihood(&moves, hangs, 100), 1e6*r.likelihood(&moves, possible{slow: 1}, 100))
}

// Of two attempts the one that needs far longer is killed.
func TestReferenceKills(t *testing.T) {
	w := find(t, "15 % attempts 8x/3w")
	r := newReference(&w, Linear, w.Tasks, 20, nil)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	r.Start(at(0), 0, 3)
	r.Start(at(0), 0, 4)
	r.Report(at(20), 0, 1, tracker.Report{Done: 20. / 90})
	a := r.Report(at(20), 0, 0, tracker.Report{Done: 20. / 720})
	assert.Equal(t, restart.Kill, a.Action)
	assert.Equal(t, 0, a.Attempt)
}

// The distribution of the least of two remaining times is that of their pairs.
func TestLeast(t *testing.T) {
	got := least([][]outcome{{{10, .5}, {30, .5}}, {{20, .25}, {30, .75}}})
	sum := map[float64]float64{}
	for _, o := range got {
		sum[o.left] += o.p
	}
	assert.InDeltaMapValues(t, map[float64]float64{10: .5, 20: .125, 30: .375}, sum, 1e-12)
}

// A machine on which an attempt took twelve times as long is the bad one, and is left idle while few tasks wait.
func TestReferenceLearns(t *testing.T) {
	w := find(t, "two bad 4x 12x/3w")
	r := newReference(&w, None, w.Tasks, 20, nil)
	r.Start(time.Unix(0, 0), 0, 7)
	r.Finish(time.Unix(1200, 0), 0, 0)
	assert.Greater(t, r.slowness(r.machines[7]), 11.)
	assert.InDelta(t, (18+4+12)/20., r.slowness(r.machines[8]), 1e-9)
	assert.Equal(t, restart.Keep, r.Next(time.Unix(1200, 0), 7).Action)
	assert.Equal(t, restart.Start, r.Next(time.Unix(1200, 0), 8).Action)
}

func TestSets(t *testing.T) {
	match := regexp.MustCompile(`^(15 % attempts 8x/3w (linear|noisy|none)|15 % attempts 8x/1w none|5 % attempts 8x/3w noisy|` +
		`5 % attempts 8x/1w none|two bad 4x 12x/3w (linear|noisy)|two bad 4x 12x/1w none|20 % interference, 5 % 8x/3w none|` +
		`10 % hang, timeout 1500 s/3w none|lognormal 1 sizes, unknown/3w none|far 5x everywhere, unknown/3w none|` +
		`lognormal 1 sizes, unknown, 5 % 8x/3w (none|noisy))$`)
	names := map[string]bool{}
	for _, c := range List("reference") {
		names[c.String()] = true
	}
	all := 0
	for _, c := range List("all") {
		if match.MatchString(c.String()) {
			all++
			assert.Contains(t, names, c.String())
		}
	}
	assert.Equal(t, 15, all)
	assert.Len(t, List("reference"), all)
	assert.Len(t, List("own"), 13)
	for _, c := range List("own") {
		assert.NotContains(t, names, c.String())
	}
}

// The fresh worlds can be played to their ends, and none is one of the others. No policy plays them here.
func TestFresh(t *testing.T) {
	names := map[string]bool{}
	for _, w := range worldsIn("all", "streams") {
		names[w.Name] = true
	}
	assert.Len(t, worldsIn("fresh"), 20)
	for _, w := range worldsIn("fresh") {
		assert.False(t, names[w.Name], w.Name)
		names[w.Name] = true
		o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
		require.NoError(t, err, w.Name)
		assert.Greater(t, o.Slots, 0., w.Name)
	}
}
