package placement

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If the list is cut after any length, the number of machines of each rack differs from the exact proportion by at
// most one half, as long as no rack runs out of machines. No machine is in the list twice.
func TestAffinityIsProportional(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		racks := 1 + rng.IntN(6)
		spread, machines, rackOf, tasks := make([]int, racks), make([][]int, racks), map[int]int{}, 0
		for j := range racks {
			spread[j] = rng.IntN(6)
			tasks += spread[j]
			for range 40 {
				machine := len(rackOf)*7 + 3
				machines[j] = append(machines[j], machine)
				rackOf[machine] = j
			}
		}
		list, err := Affinity(nil, spread, machines, 30, rng.IntN(100)-50)
		require.NoError(t, err)
		if tasks == 0 {
			require.Empty(t, list)
			continue
		}
		require.Len(t, list, 30)
		count, seen := make([]int, racks), map[int]bool{}
		for i, machine := range list {
			require.False(t, seen[machine], "the list names machine %d twice", machine)
			seen[machine] = true
			count[rackOf[machine]]++
			for j := range racks {
				due := float64(i+1) * float64(spread[j]) / float64(tasks)
				require.LessOrEqual(t, math.Abs(float64(count[j])-due), float64(racks)/2+1e-9,
					"the first %d machines of %v are not in proportion to the spread %v", i+1, list, spread)
			}
		}
	}
}

func TestAffinityGivesTheShareOfAFullRackToTheOthers(t *testing.T) {
	machines := [][]int{{10, 11}, {20, 21, 22, 23}, {30}}
	list, err := Affinity([]int{99}, []int{3, 1, 0}, machines, 5, 0)
	require.NoError(t, err)
	assert.Equal(t, []int{99, 10, 11, 20, 21, 22}, list,
		"rack 0 deserves three machines and has two; rack 2 has no task")
	list, err = Affinity(nil, []int{3, 1, 0}, machines, 50, 1)
	require.NoError(t, err)
	assert.Equal(t, []int{11, 10, 21, 22, 23, 20}, list, "the list has all machines of racks with tasks; turn 1 begins with each rack's second machine")
	list, err = Affinity(nil, []int{1, 1}, [][]int{{}, {7}}, 3, 0)
	require.NoError(t, err)
	assert.Equal(t, []int{7}, list)
	list, err = Affinity(nil, []int{2}, [][]int{{7}}, -1, math.MinInt)
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestNearestPrefersNearerLevels(t *testing.T) {
	replicas := []Location{{Rack: 0, Machine: 1}, {Rack: 2, Machine: 20}}
	assert.Equal(t, SameMachine, Distance(Location{2, 20}, replicas))
	assert.Equal(t, SameRack, Distance(Location{2, 21}, replicas))
	assert.Equal(t, OtherRack, Distance(Location{1, 20}, replicas), "a machine number counts only within its rack")
	assert.Equal(t, OtherRack, Distance(Location{0, 1}, nil))

	i, level := Nearest([]Location{{1, 5}, {0, 2}, {2, 21}, {0, 1}}, replicas)
	assert.Equal(t, 3, i)
	assert.Equal(t, SameMachine, level)
	i, level = Nearest([]Location{{1, 5}, {2, 21}, {0, 2}}, replicas)
	assert.Equal(t, 1, i, "the first location wins a tie")
	assert.Equal(t, SameRack, level)
	i, level = Nearest(nil, replicas)
	assert.Equal(t, -1, i)
	assert.Equal(t, OtherRack, level)
	assert.Zero(t, testing.AllocsPerRun(10, func() { Nearest(replicas, replicas) }))
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "rack-2-down", Link{2, Down}.String())
	assert.Equal(t, []string{"same-machine", "same-rack", "other-rack", "Locality(3)"},
		[]string{SameMachine.String(), SameRack.String(), OtherRack.String(), Locality(3).String()})
	assert.Equal(t, []string{"hybrid", "start", "equal", "BandwidthRule(7)"},
		[]string{Hybrid.String(), Start.String(), Equal.String(), BandwidthRule(7).String()})
	a := Assignment{Rack: []int{0, 1, 1}, Bottleneck: Link{1, Up}, Seconds: 2.5, Bound: 2}
	assert.Equal(t, "tasks=3 seconds=2.5 bottleneck=rack-1-up bound=2 optimal=false", a.String())
	assert.Equal(t, 1.25, a.Seconds/a.Bound)
	assert.Equal(t, []int{1, 2, 0}, a.Spread(3))
	assert.Equal(t, []int{1}, a.Spread(1))
	assert.Equal(t, "[tasks=3 seconds=2.5 bottleneck=rack-1-up bound=2 optimal=false]", a.LogValue().String())
	a.Optimal, a.Bound = true, a.Seconds
	assert.Equal(t, "tasks=3 seconds=2.5 bottleneck=rack-1-up bound=2.5 optimal=true", a.String())
	assert.True(t, slices.Equal([]int{0, 1, 2}, sequence(3)))
}

func TestWithinConvertsATimeToAnEffort(t *testing.T) {
	assert.Equal(t, Effort(10_000_000), Within(50*time.Millisecond))
	assert.Equal(t, Effort(1), Within(0))
	assert.Equal(t, Effort(1), Within(-time.Hour))
}

func TestNamesReadBack(t *testing.T) {
	text, err := json.Marshal(map[string]any{"link": Link{2, Down}, "rule": Equal, "level": SameRack})
	require.NoError(t, err)
	assert.JSONEq(t, `{"link": "rack-2-down", "rule": "equal", "level": "same-rack"}`, string(text))
	var back struct {
		Rule  BandwidthRule
		Level Locality
	}
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, Equal, back.Rule)
	assert.Equal(t, SameRack, back.Level)
	for _, bad := range []string{`{"Rule": "no"}`, `{"Level": "no"}`} {
		assert.ErrorContains(t, json.Unmarshal([]byte(bad), &back), "placement: ")
	}
	_, err = Locality(7).MarshalText()
	assert.ErrorContains(t, err, "placement: Locality is 7")
}
