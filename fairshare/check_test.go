package fairshare

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadPoolsAreNamed(t *testing.T) {
	for want, pools := range map[string][]Pool{
		"pool 1: Weight is -2":                               {{}, {Weight: -2}},
		"pool 1: Max is -2":                                  {{}, {Max: -2}},
		"pool 0: Min is -1":                                  {{Min: -1}},
		"pool 0: Min is 5, above its Max of 4":               {{Min: 5, Max: 4}},
		"pool 0: Min is 5, above its Max of 0":               {{Min: 5, Max: None}},
		"pool 0: Demand is -1":                               {{Demand: -1}},
		"pool 0: Demand is 3, want 0 for a":                  {{Demand: 3}, {Parent: Under(0)}},
		"pool 0: Discipline is 3":                            {{Discipline: 3}},
		"pool 1: Parent is pool 2, want one of":              {{}, {Parent: Under(2)}},
		"pool 0: Parent is pool -5":                          {{Parent: -4}},
		"pool 0: Parent leads through pool 0 back to pool 0": {{Parent: Under(0)}},
		"pool 2: Parent leads through pool 1 back to pool 2": {{Parent: Under(2)}, {Parent: Under(2)}, {Parent: Under(1)}},
		"pool 0: Max is 10, below the 12 guaranteed":         {{Max: 10}, {Parent: Under(0), Min: 6}, {Parent: Under(0), Min: 6}},
		"pool 1: Min is 1, which takes the sum":              {{Min: math.MaxInt64}, {Min: 1}},
		"pool 1: Weight is 1, which takes the sum":           {{Weight: math.MaxInt64}, {Weight: 1}},
	} {
		_, err := New(pools, Policy{})
		assert.ErrorContains(t, err, "fairshare: "+want)
		_, err = Shares(pools, 1)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
	for want, policy := range map[string]Policy{
		"policy: Infeasible is 3": {Infeasible: 3},
		"policy: Basis is 3":      {Basis: 3},
		"policy: Discipline is 3": {Discipline: 3},
	} {
		_, err := New(nil, policy)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
}

func TestBadFactsAreNamed(t *testing.T) {
	tree, err := New([]Pool{{}, {Min: 3, Demand: 5}}, Policy{})
	require.NoError(t, err)
	for want, call := range map[string]struct {
		demand []int64
		total  int64
	}{
		"total is -1":          {nil, -1},
		"demand has 1 entries": {[]int64{1}, 1},
		"pool 1: demand is -7": {[]int64{1, -7}, 1},
		"the minimums add up to 3, above the total of 2": {nil, 2},
	} {
		_, err := tree.Shares(nil, call.demand, call.total)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
}

func TestNoAllocations(t *testing.T) {
	pools, total := flatPools(1000)
	tree, err := New(pools, Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, total)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(10, func() { shares, _ = tree.Shares(shares, nil, total) }), "Shares")

	var trees []*Tree
	pools, total = steepPools(1000)
	for range 11 { // one a run, which has never been used
		tree, err := New(pools, Policy{})
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	run := 0
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		shares, _ = trees[run].Shares(shares, nil, total)
		run++
	}), "Shares of steep pools")
	require.NotEmpty(t, trees[0].fill.kinks, "the level was found by sorting")
	pools, total = flatPools(1000)

	index := tree.Index()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		next := index.Next()
		index.Add(next.Pool, 1)
		index.SetDemand(next.Pool, 5)
		index.Hold(next.Pool, false)
	}), "Index")

	s, err := NewStarvation(tree, Preemption{Cooldown: NoCooldown, ByMachine: true})
	require.NoError(t, err)
	usage := make([]int64, len(pools))
	usage[0] = total
	tasks := runningTasks(0, 500)
	now := time.Unix(0, 0)
	require.NoError(t, s.Observe(now, shares, usage))
	assert.Zero(t, testing.AllocsPerRun(10, func() { // the first, which is not counted, makes room
		now = now.Add(time.Hour)
		_ = s.Observe(now, shares, usage)
		if len(s.Plan(now, tasks, 3).Victims) == 0 {
			t.Error("nothing planned")
		}
	}), "Starvation")

	gate, err := NewGate(GateConfig{})
	require.NoError(t, err)
	jobs := []Job{{Bytes: 1}, {Bytes: 2}}
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		_ = gate.Launch(NodeLoad{Reducers: 1}, 1).OK() && gate.Compute(NodeLoad{}).OK()
		_ = LeastProgress.Evict(jobs)
		_ = Compare(Contender{Pool: pools[0]}, Contender{Pool: pools[1]})
	}))
}

func TestZeroValues(t *testing.T) {
	var tree Tree
	assert.Zero(t, tree.Len())
	shares, err := tree.Shares(nil, nil, 7)
	require.NoError(t, err)
	assert.Empty(t, shares)
	for _, x := range []*Index{tree.Index(), {}} {
		assert.Equal(t, Pick{Pool: -1}, x.Next())
		assert.False(t, x.Add(0, 1) || x.SetDemand(0, 1) || x.Hold(0, true))
		assert.Zero(t, x.Usage(0))
	}
	fresh, err := NewStarvation(&tree, Preemption{})
	require.NoError(t, err)
	for _, s := range []*Starvation{fresh, {}} {
		require.NoError(t, s.Resume(&Starvation{}, nil))
		require.NoError(t, s.Observe(time.Time{}, nil, nil))
		assert.Empty(t, s.Plan(time.Time{}, []Task{{}}, 1))
		assert.Empty(t, s.Config().Pools)
	}
	assert.Equal(t, Admission{Reason: NodeFull}, Gate{}.Launch(NodeLoad{}, 0))
	assert.Equal(t, Admission{Reason: NodeComputing}, Gate{}.Compute(NodeLoad{}))
}

func TestGateChecks(t *testing.T) {
	for want, c := range map[string]GateConfig{
		"gate: MaxComputing is -1": {MaxComputing: -1},
		"gate: MaxReducers is 1":   {MaxReducers: 1},
		"gate: MaxReducers is -4":  {MaxReducers: -4},
		"gate: MaxCopying is -2":   {MaxCopying: -2},
	} {
		_, err := NewGate(c)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
	g, err := NewGate(GateConfig{MaxComputing: 1, MaxReducers: 8, MaxCopying: NoLimit})
	require.NoError(t, err)
	big, err := NewGate(GateConfig{MaxComputing: math.MaxInt})
	require.NoError(t, err)
	assert.Equal(t, GateConfig{math.MaxInt, math.MaxInt, math.MaxInt}, big.Config())
	assert.Equal(t, Admission{Have: 7, Limit: 8}, g.Launch(NodeLoad{Reducers: 7}, 7))
	assert.Equal(t, "node full: 8 of 8", g.Launch(NodeLoad{Reducers: 8}, 0).String())
	assert.Equal(t, "node computing: 1 of 1", g.Compute(NodeLoad{Reducers: 8, Computing: 1}).String())
}

func TestEvictCorners(t *testing.T) {
	day := func(n int64) time.Time { return time.Unix(86400*n, 0) }
	for name, c := range map[string]struct {
		jobs           []Job
		latest, behind Eviction
	}{
		"none":            {nil, Eviction{Job: -1, Leader: -1}, Eviction{Job: -1, Leader: -1}},
		"one":             {[]Job{{Bytes: 9}}, Eviction{Job: -1}, Eviction{Job: -1}},
		"nothing to gain": {[]Job{{Submitted: day(1), Bytes: 9}, {Submitted: day(2)}}, Eviction{Job: -1}, Eviction{Job: -1}},
		"equal":           {[]Job{{Bytes: 1}, {Bytes: 2}, {Bytes: 3}}, Eviction{Job: 2, Bytes: 3}, Eviction{Job: 2, Bytes: 3}},
		"progress against age": {
			[]Job{{Submitted: day(1), Done: 1, Tasks: 9, Bytes: 1}, {Submitted: day(2), Done: 2, Tasks: 9, Bytes: 2}, {Submitted: day(3), Done: 2, Tasks: 17, Bytes: 3}},
			Eviction{Job: 2, Bytes: 3}, Eviction{Job: 0, Leader: 1, Bytes: 1}},
		"more done than there were": {
			[]Job{{Done: 9, Tasks: 9, Bytes: 1}, {Done: 5, Tasks: 1, Bytes: 2}}, Eviction{Job: 1, Bytes: 2}, Eviction{Job: 1, Bytes: 2}},
		"no tasks known": {
			[]Job{{Submitted: day(1), Done: -3, Tasks: -1, Bytes: 1}, {Submitted: day(2), Done: 1, Bytes: 2}},
			Eviction{Job: 1, Bytes: 2}, Eviction{Job: 0, Leader: 1, Bytes: 1}},
	} {
		assert.Equal(t, c.latest, LatestSubmitted.Evict(c.jobs), name)
		assert.Equal(t, c.behind, LeastProgress.Evict(c.jobs), name)
	}
	assert.Equal(t, "evict nobody: only job 0 could be, which leads", LatestSubmitted.Evict([]Job{{Bytes: 9}}).String())
}

func TestNames(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"fair": Fair, "multi-level": MultiLevel, "refuse": Refuse, "by-weight": ByWeight, "demanded": Demanded, "steady": Steady,
		"demand": AtDemand, "cut": AtCut, "nobody wants it": NobodyWants, "in turn": InTurn, "to-threshold": ToThreshold,
		"none": NoCause, "below fair share": FairTimeout, "spared": Spared, "foreign": Foreign, "admitted": Admitted,
		"node computing": NodeComputing, "latest submitted": LatestSubmitted, "least progress": LeastProgress, "unknown": Bound(99),
		"kill task 3 for pool 1": Victim{3, 1}, "0 slots by demand (min 0, max none, level 0)": Share{Max: Unlimited},
	} {
		assert.Equal(t, want, got.String())
	}
	for want, got := range map[string]slog.LogValuer{
		"[slots=1 real=1.5 bound=level min=0 max=2 demand=3 level=1.5]":              Share{Slots: 1, Real: 1.5, Max: 2, Demand: 3, Level: 1.5, Bound: AtLevel},
		"[pool=1 cause=below minimum deficit=2 waited=1m0s usage=3 due=5 granted=1]": Claim{1, MinTimeout, 2, time.Minute, 3, 5, 1},
		"[pool=2 reason=leftover usage=4 per=1]":                                     Pick{2, Leftover, 4, 1},
		"[task=3 for=1]":                                                             Victim{3, 1},
		"[reason=node full have=6 limit=6]":                                          Admission{NodeFull, 6, 6},
		"[job=2 leader=0 bytes=50]":                                                  Eviction{2, 0, 50},
		"[tasks=3 resource=1 share=0.5 blocked=-1]":                                  Allocation{3, 1, .5, -1},
	} {
		assert.Equal(t, want, got.LogValue().String())
	}
	assert.Equal(t, "7 tasks, which need nothing", Allocation{Tasks: 7, Resource: -1, Blocked: -1}.String())
	assert.Equal(t, "evict nobody: there are no jobs", LatestSubmitted.Evict(nil).String())
	assert.Equal(t, -1, Parent(0).Index())
	assert.Equal(t, 3, Under(3).Index())
}
