package fairshare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each case is one edge case that the comments of Pool and Policy describe.
func TestEdgeCasesFollowTheWrittenRules(t *testing.T) {
	for name, c := range map[string]struct {
		pools  []Pool
		policy Policy
		total  int64
		want   []int64
		bounds []Bound
	}{
		"without pools nothing is divided": {total: 5},
		"a total of 0 gives 0":             {pools: []Pool{{Demand: 3}}, want: []int64{0}, bounds: []Bound{AtLevel}},
		"a pool without demand gets 0":     {pools: []Pool{{Min: 3}, {Demand: 9}}, total: 5, want: []int64{0, 5}, bounds: []Bound{AtDemand, AtLevel}},
		"a minimum counts up to the demand": {
			pools: []Pool{{Min: 20, Demand: 10}, {Demand: 90}}, total: 50, want: []int64{10, 40}, bounds: []Bound{AtDemand,
				AtLevel}},
		"maximums may leave units over": {
			pools: []Pool{{Max: 2, Demand: 9}, {Max: 3, Demand: 9}}, total: 50, want: []int64{2, 3}, bounds: []Bound{AtMax,
				AtMax}},
		"Zero as Max closes a pool": {pools: []Pool{{Max: Zero, Demand: 9}, {Demand: 9}}, total: 6, want: []int64{0, 6},
			bounds: []Bound{AtMax, AtLevel}},
		"weight zero gets its minimum while weighted pools want more": {pools: []Pool{{Weight: Zero, Min: 2, Demand: 9}, {Demand: 9}}, total: 6, want: []int64{2, 4},
			bounds: []Bound{AtRank, AtLevel}},
		"pools of weight zero divide the rest": {
			pools: []Pool{{Weight: Zero, Demand: 9}, {Weight: Zero, Demand: 9}, {Demand: 3}}, total: 6, want: []int64{2, 1, 3},
			bounds: []Bound{AtLevel, AtLevel, AtDemand}},
		"Entitled ignores how large a demand is": {
			pools: []Pool{{Demand: 1}, {Demand: 1024}, {}}, policy: Policy{Basis: Entitled}, total: 10, want: []int64{5, 5, 0},
			bounds: []Bound{AtLevel, AtLevel, AtDemand}},
		"Steady ignores demand": {
			pools: []Pool{{Demand: 1}, {}, {Max: 2}}, policy: Policy{Basis: Steady}, total: 10, want: []int64{4, 4, 2},
			bounds: []Bound{AtLevel, AtLevel, AtMax}},
		"Scale gives each pool the same part of its minimum": {
			pools: []Pool{{Min: 30, Demand: 99}, {Min: 10, Demand: 99},
				{Demand: 9}}, policy: Policy{OnInfeasible: Scale}, total: 20,
			want: []int64{15, 5, 0}, bounds: []Bound{AtCut, AtCut, AtMin}},
		"Scale may round one minimum up": {
			pools: []Pool{{Min: 3, Demand: 9}, {Min: 3, Demand: 9}}, policy: Policy{OnInfeasible: Scale}, total: 5,
			want: []int64{3, 2}, bounds: []Bound{AtCut, AtCut}},
		"a share may be rounded up to the demand": {pools: []Pool{{Demand: 3}, {Demand: 3}}, total: 5, want: []int64{3, 2},
			bounds: []Bound{AtLevel, AtLevel}},
		"ByWeight keeps small minimums": {
			pools: []Pool{{Min: 30, Demand: 99}, {Min: 4, Demand: 99}, {Demand: 9}}, policy: Policy{OnInfeasible: ByWeight}, total: 20,
			want: []int64{16, 4, 0}, bounds: []Bound{AtCut, AtMin, AtMin}},
		"FIFO gives minimums, and then serves one pool after another": {
			pools: []Pool{{Demand: 6}, {Demand: 6, Min: 1}, {Demand: 6,
				Min: 1}}, policy: Policy{Discipline: FIFO}, total: 9, want: []int64{6, 2, 1},
			bounds: []Bound{AtDemand, AtRank, AtRank}},
		"FIFO gives the rest to the first pool": {pools: []Pool{{Demand: 6}, {Demand: 6}}, policy: Policy{Discipline: FIFO}, total: 5,
			want: []int64{5, 0}, bounds: []Bound{AtLevel, AtRank}},
		"a parent is guaranteed its children's minimums": {
			pools: []Pool{{}, {Parent: Under(0), Min: 7, Demand: 9}, {Demand: 9}}, total: 10, want: []int64{7, 7, 3},
			bounds: []Bound{AtMin, AtLevel, AtLevel}},
		"a child's minimum without demand guarantees nothing": {
			pools: []Pool{{}, {Parent: Under(0), Min: 8}, {Parent: Under(0), Demand: 10}, {Min: 5, Demand: 10}}, total: 10,
			want: []int64{5, 0, 5, 5}, bounds: []Bound{AtLevel, AtDemand, AtLevel, AtLevel}},
		"a child's minimum counts up to the child's demand": {
			pools: []Pool{{}, {Parent: Under(0), Min: 8, Demand: 2}, {Parent: Under(0), Demand: 10},
				{Min: 5, Demand: 10}}, total: 10,
			want: []int64{5, 2, 3, 5}, bounds: []Bound{AtLevel, AtDemand, AtLevel, AtLevel}},
	} {
		tree, err := New(c.pools, c.policy)
		require.NoError(t, err, name)
		shares, err := tree.Shares(nil, nil, c.total)
		require.NoError(t, err, name)
		var slots []int64
		var bounds []Bound
		for _, s := range shares {
			slots, bounds = append(slots, s.Slots), append(bounds, s.Bound)
		}
		assert.Equal(t, c.want, slots, name)
		assert.Equal(t, c.bounds, bounds, name)
	}
}

// If the total equals the sum of the demands, every pool has its demand, and the level is infinite.
func TestATotalEqualToTheDemandsIsEnough(t *testing.T) {
	shares, err := Shares([]Pool{{Demand: 3}, {Demand: 4, Weight: 2}}, 7)
	require.NoError(t, err)
	for _, s := range shares {
		assert.Equal(t, math.Inf(1), s.Level)
	}
}

// A call of Shares does not depend on the calls before.
func TestTreeKeepsNothingBetweenCalls(t *testing.T) {
	tree, err := New([]Pool{{Min: 1, Demand: 9}, {Min: 1, Demand: 9}, {Min: 5, Demand: 9, Rank: 1}},
		Policy{OnInfeasible: ByWeight, Discipline: MultiLevel})
	require.NoError(t, err)
	fresh, err := tree.Shares(nil, nil, 4)
	require.NoError(t, err)
	assert.Equal(t, AtMin, fresh[0].Bound)
	assert.Equal(t, AtCut, fresh[2].Bound)
	_, err = tree.Shares(nil, []int64{7, 8, 9}, 10) // the shares of pools 0 and 1 are rounded
	require.NoError(t, err)
	again, err := tree.Shares(nil, nil, 4)
	require.NoError(t, err)
	assert.Equal(t, fresh, again)
}

// The name of each case is a wrong result that another scheduler computes.
func TestSharesAvoidKnownErrorsOfOtherSchedulers(t *testing.T) {
	for name, c := range map[string]struct {
		pools []Pool
		total int64
		want  []int64
	}{
		"rounds all equal shares up: 34, 34, 34": {[]Pool{{Demand: 100}, {Demand: 100}, {Demand: 100}}, 100,
			[]int64{34, 33, 33}},
		"gives minimums that do not fit: 30, 30": {[]Pool{{Min: 30, Demand: 99}, {Min: 30, Demand: 99}}, 40,
			[]int64{20, 20}},
		"gives 180,224 bytes too many after 25 halvings": {
			[]Pool{{Demand: Unlimited}, {Demand: Unlimited}, {Demand: Unlimited}}, 4e12, []int64{1333333333334, 1333333333333,
				1333333333333}},
		"does not lend an unused guarantee: 8, 2": {[]Pool{{Min: 8, Demand: 2}, {Demand: 10}}, 10, []int64{2, 8}},
		"counts a guaranteed pool twice: 53, 36, 10": {[]Pool{{Min: 50, Demand: 99}, {Demand: 99}, {Demand: 10}}, 100,
			[]int64{50, 40, 10}},
		"never ends rounding for the weights 1e7 and 1": {[]Pool{{Weight: 1e7, Demand: 99}, {Demand: 99}}, 100, []int64{99, 1}},
	} {
		tree, err := New(c.pools, Policy{OnInfeasible: Scale})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, c.total)
		require.NoError(t, err)
		var slots []int64
		for _, s := range shares {
			slots = append(slots, s.Slots)
		}
		assert.Equal(t, c.want, slots, name)
	}
}

// The pools form a chain: each pool has one child. The chain is too deep for recursive functions.
func TestADeepTreeIsDividedWithoutRecursion(t *testing.T) {
	pools := make([]Pool, 200_000)
	for i := 1; i < len(pools); i++ {
		pools[i].Parent = Under(i - 1)
	}
	pools[len(pools)-1].Demand, pools[len(pools)-1].Min = 9, 2
	shares, err := Shares(pools, 5)
	require.NoError(t, err)
	assert.Equal(t, int64(5), shares[len(pools)-1].Slots)
	assert.Equal(t, int64(2), shares[0].Min)
}
