package fairshare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The written rules for corners, one a line.
func TestCorners(t *testing.T) {
	for name, c := range map[string]struct {
		pools  []Pool
		policy Policy
		total  int64
		want   []int64
		bounds []Bound
	}{
		"no pools": {total: 5},
		"total 0":  {pools: []Pool{{Demand: 3}}, want: []int64{0}, bounds: []Bound{AtLevel}},
		"demand 0": {pools: []Pool{{Min: 3}, {Demand: 9}}, total: 5, want: []int64{0, 5}, bounds: []Bound{AtDemand, AtLevel}},
		"minimum above demand": {
			pools: []Pool{{Min: 20, Demand: 10}, {Demand: 90}}, total: 50, want: []int64{10, 40}, bounds: []Bound{AtDemand,
				AtLevel}},
		"maximums below total": {
			pools: []Pool{{Max: 2, Demand: 9}, {Max: 3, Demand: 9}}, total: 50, want: []int64{2, 3}, bounds: []Bound{AtMax,
				AtMax}},
		"closed": {pools: []Pool{{Max: Zero, Demand: 9}, {Demand: 9}}, total: 6, want: []int64{0, 6},
			bounds: []Bound{AtMax, AtLevel}},
		"weight 0 gets less": {pools: []Pool{{Weight: Zero, Min: 2, Demand: 9}, {Demand: 9}}, total: 6, want: []int64{2, 4},
			bounds: []Bound{AtRank, AtLevel}},
		"weight 0 gets what is left": {
			pools: []Pool{{Weight: Zero, Demand: 9}, {Weight: Zero, Demand: 9}, {Demand: 3}}, total: 6, want: []int64{2, 1, 3},
			bounds: []Bound{AtLevel, AtLevel, AtDemand}},
		"entitled": {
			pools: []Pool{{Demand: 1}, {Demand: 1024}, {}}, policy: Policy{Basis: Entitled}, total: 10, want: []int64{5, 5, 0},
			bounds: []Bound{AtLevel, AtLevel, AtDemand}},
		"steady": {
			pools: []Pool{{Demand: 1}, {}, {Max: 2}}, policy: Policy{Basis: Steady}, total: 10, want: []int64{4, 4, 2},
			bounds: []Bound{AtLevel, AtLevel, AtMax}},
		"minimums scaled": {
			pools: []Pool{{Min: 30, Demand: 99}, {Min: 10, Demand: 99},
				{Demand: 9}}, policy: Policy{OnInfeasible: Scale}, total: 20,
			want: []int64{15, 5, 0}, bounds: []Bound{AtCut, AtCut, AtMin}},
		"minimums scaled, one rounded up": {
			pools: []Pool{{Min: 3, Demand: 9}, {Min: 3, Demand: 9}}, policy: Policy{OnInfeasible: Scale}, total: 5,
			want: []int64{3, 2}, bounds: []Bound{AtCut, AtCut}},
		"rounded up to the demand": {pools: []Pool{{Demand: 3}, {Demand: 3}}, total: 5, want: []int64{3, 2},
			bounds: []Bound{AtLevel, AtLevel}},
		"minimums by weight": {
			pools: []Pool{{Min: 30, Demand: 99}, {Min: 4, Demand: 99}, {Demand: 9}}, policy: Policy{OnInfeasible: ByWeight}, total: 20,
			want: []int64{16, 4, 0}, bounds: []Bound{AtCut, AtMin, AtMin}},
		"FIFO": {
			pools: []Pool{{Demand: 6}, {Demand: 6, Min: 1}, {Demand: 6,
				Min: 1}}, policy: Policy{Discipline: FIFO}, total: 9, want: []int64{6, 2, 1},
			bounds: []Bound{AtDemand, AtRank, AtRank}},
		"first in line": {pools: []Pool{{Demand: 6}, {Demand: 6}}, policy: Policy{Discipline: FIFO}, total: 5,
			want: []int64{5, 0}, bounds: []Bound{AtLevel, AtRank}},
		"minimums of children": {
			pools: []Pool{{}, {Parent: Under(0), Min: 7, Demand: 9}, {Demand: 9}}, total: 10, want: []int64{7, 7, 3},
			bounds: []Bound{AtMin, AtLevel, AtLevel}},
		"a child's minimum that it does not want": {
			pools: []Pool{{}, {Parent: Under(0), Min: 8}, {Parent: Under(0), Demand: 10}, {Min: 5, Demand: 10}}, total: 10,
			want: []int64{5, 0, 5, 5}, bounds: []Bound{AtLevel, AtDemand, AtLevel, AtLevel}},
		"a child's minimum that it wants in part": {
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

// A total of exactly what is wanted is enough: no level holds anyone back.
func TestExactFit(t *testing.T) {
	shares, err := Shares([]Pool{{Demand: 3}, {Demand: 4, Weight: 2}}, 7)
	require.NoError(t, err)
	for _, s := range shares {
		assert.Equal(t, math.Inf(1), s.Level)
	}
}

// What a tree computed before has no effect on what it computes next.
func TestTreeForgets(t *testing.T) {
	tree, err := New([]Pool{{Min: 1, Demand: 9}, {Min: 1, Demand: 9}, {Min: 5, Demand: 9, Rank: 1}},
		Policy{OnInfeasible: ByWeight, Discipline: MultiLevel})
	require.NoError(t, err)
	fresh, err := tree.Shares(nil, nil, 4)
	require.NoError(t, err)
	assert.Equal(t, AtMin, fresh[0].Bound)
	assert.Equal(t, AtCut, fresh[2].Bound)
	_, err = tree.Shares(nil, []int64{7, 8, 9}, 10) // pools 0 and 1 round
	require.NoError(t, err)
	again, err := tree.Shares(nil, nil, 4)
	require.NoError(t, err)
	assert.Equal(t, fresh, again)
}

// What other schedulers compute in these cases is in the comments.
func TestKnownErrorsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		pools []Pool
		total int64
		want  []int64
	}{
		"equal shares all rounded up: 34, 34, 34": {[]Pool{{Demand: 100}, {Demand: 100}, {Demand: 100}}, 100,
			[]int64{34, 33, 33}},
		"minimums that do not fit: 30, 30": {[]Pool{{Min: 30, Demand: 99}, {Min: 30, Demand: 99}}, 40,
			[]int64{20, 20}},
		"25 halvings of bytes: 180,224 too many": {
			[]Pool{{Demand: Unlimited}, {Demand: Unlimited}, {Demand: Unlimited}}, 4e12, []int64{1333333333334, 1333333333333,
				1333333333333}},
		"unused guarantee not lent: 8, 2": {[]Pool{{Min: 8, Demand: 2}, {Demand: 10}}, 10, []int64{2, 8}},
		"guaranteed pool shares again: 53, 36, 10": {[]Pool{{Min: 50, Demand: 99}, {Demand: 99}, {Demand: 10}}, 100,
			[]int64{50, 40, 10}},
		"weights 1e7 and 1: no end to the rounding": {[]Pool{{Weight: 1e7, Demand: 99}, {Demand: 99}}, 100, []int64{99, 1}},
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

// A chain of pools, each with one child, deeper than a recursion should go.
func TestDeepTree(t *testing.T) {
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
