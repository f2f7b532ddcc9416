package fairshare

import (
	"encoding/json"
	"log/slog"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadPoolsAreNamed(t *testing.T) {
	for want, pools := range map[string][]Pool{
		"pools[1].Weight is -2":                                 {{}, {Weight: -2}},
		"pools[1].Max is -2":                                    {{}, {Max: -2}},
		"pools[0].Min is -1":                                    {{Min: -1}},
		"pools[0].Min is 5, want at most its Max of 4":          {{Min: 5, Max: 4}},
		"pools[0].Min is 5, want at most its Max of 0":          {{Min: 5, Max: Zero}},
		"pools[0].Demand is -1":                                 {{Demand: -1}},
		"pools[0].Demand is 3, want 0 for a pool with children": {{Demand: 3}, {Parent: Under(0)}},
		"pools[0].Discipline is Discipline(3)":                  {{Discipline: 3}},
		"pools[1].Parent is pool 2, want one of":                {{}, {Parent: Under(2)}},
		"pools[0].Parent is pool -5":                            {{Parent: -4}},
		"pools[0].Parent leads through pool 0 back to pool 0":   {{Parent: Under(0)}},
		"pools[2].Parent leads through pool 1 back to pool 2":   {{Parent: Under(2)}, {Parent: Under(2)}, {Parent: Under(1)}},
		"pools[0].Max is 10, want at least the 12 guaranteed": {{Max: 10}, {Parent: Under(0), Min: 6},
			{Parent: Under(0), Min: 6}},
		"pools[1].Min is 1, want a sum of siblings' minimums within int64":   {{Min: math.MaxInt64}, {Min: 1}},
		"pools[1].Weight is 1, want a sum of siblings' weights within int64": {{Weight: math.MaxInt64}, {Weight: 1}},
	} {
		_, err := New(pools, Policy{})
		assert.ErrorContains(t, err, "fairshare: "+want)
		_, err = Shares(pools, 1)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
	for want, policy := range map[string]Policy{
		"Policy.OnInfeasible is OnInfeasible(3)": {OnInfeasible: 3},
		"Policy.Basis is Basis(3)":               {Basis: 3},
		"Policy.Discipline is Discipline(3)":     {Discipline: 3},
		"Policy.Surplus is Surplus(2)":           {Surplus: 2},
		"Policy.Order is Order(3)":               {Order: 3},
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
		"total is -1":      {nil, -1},
		"len(demand) is 1": {[]int64{1}, 1},
		"demand[1] is -7":  {[]int64{1, -7}, 1},
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
	for range 11 { // one new tree for each run and one for the warm-up
		tree, err := New(pools, Policy{})
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	run := 0
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		shares, _ = trees[run].Shares(shares, nil, total)
		run++
	}), "Shares of steep pools")
	require.NotEmpty(t, trees[0].fill.breakpoints, "the level must be found by sorting")

	index := tree.Index()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		next := index.Next()
		index.Add(next.Pool, 1)
		index.SetDemand(next.Pool, 5)
		index.Hold(next.Pool, false)
	}), "Index")

	assert.Zero(t, testing.AllocsPerRun(10, func() {
		_ = index.SetShares(shares)
	}), "SetShares")
}

func TestZeroValuesHaveNoPools(t *testing.T) {
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
	for range tree.Walk() {
		t.Error("the zero Tree must have no pools")
	}
}

func TestValuesPrintTheirNames(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"fair": Fair, "multi-level": MultiLevel, "refuse": Refuse, "by-weight": ByWeight, "demanded": Demanded, "steady": Steady,
		"demand": AtDemand, "cut": AtCut, "nobody-wants": NobodyWants, "in-turn": InTurn, "Bound(99)": Bound(99),
		"water-level": WaterLevel, "above-minimum": AboveMinimum, "least-usage": LeastUsage, "smallest-part": SmallestPart,
		"share demand slots=0 min=0 max=off level=0": Share{Max: Unlimited},
	} {
		assert.Equal(t, want, got.String())
	}
	for want, got := range map[string]slog.LogValuer{
		"[bound=level slots=1 real=1.5 demand=3 needed=0 min=0 max=2 level=1.5]": Share{Slots: 1, Real: 1.5, Max: 2,
			Demand: 3, Level: 1.5, Bound: AtLevel},
		"[reason=leftover pool=2 usage=4 per=1]": Pick{2, Leftover, 4, 1},
	} {
		assert.Equal(t, want, got.LogValue().String())
	}
	assert.Equal(t, -1, Parent(0).Index())
	assert.Equal(t, 3, Under(3).Index())
}

func TestJSONHasNames(t *testing.T) {
	for want, v := range map[string]any{
		`{"bound":"demand","slots":3,"real":3,"demand":3,"needed":0,"min":0,"max":3,"level":null}`: Share{
			Slots: 3, Real: 3, Max: 3, Demand: 3, Level: math.Inf(1)},
		`{"bound":"level","slots":1,"real":1.5,"demand":3,"needed":0,"min":0,"max":2,"level":1.5}`: Share{
			Slots: 1, Real: 1.5, Max: 2, Demand: 3, Level: 1.5, Bound: AtLevel},
		`{"reason":"below-share","pool":2,"usage":4,"per":9}`: Pick{2, BelowShare, 4, 9},
		`{"on-infeasible":"scale","basis":"steady","discipline":"fifo","surplus":"above-minimum","order":"smallest-part"}`: Policy{
			Scale, Steady, FIFO, AboveMinimum, SmallestPart},
	} {
		got, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	_, err := json.Marshal(Bound(99))
	assert.Error(t, err)
}
