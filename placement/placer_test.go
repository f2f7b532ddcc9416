package placement

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// partial is the longest transfer of the placed tasks alone.
func partial(p Problem, rack []int) float64 {
	q := Problem{Up: p.Up, Down: p.Down}
	var placed []int
	for k, j := range rack {
		if j >= 0 {
			q.Input, placed = append(q.Input, p.Input[k]), append(placed, j)
		}
	}
	longest, _ := transfer(q, placed)
	return longest
}

// A placer under random placements and removals knows what a sum from scratch knows, and Next is the best of all racks.
func TestPlacerAgainstRecount(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		p := randomProblem(rng, 1+rng.IntN(7), 1+rng.IntN(4))
		placer, err := NewPlacer(p)
		require.NoError(t, err)
		rack := make([]int, len(p.Input))
		for k := range rack {
			rack[k] = -1
		}
		for range 30 {
			k := rng.IntN(len(rack))
			if rack[k] >= 0 {
				require.False(t, placer.Place(k, rng.IntN(len(p.Up))))
				require.True(t, placer.Remove(k))
				rack[k] = -1
			} else {
				rack[k] = place(t, placer, p, rack, k, rng)
			}
			link, seconds := placer.Bottleneck()
			require.InDelta(t, partial(p, rack), seconds, 1e-9)
			require.True(t, link.Rack >= 0 && link.Rack < len(p.Up))
			require.Equal(t, rack[k], placer.Rack(k))
		}
	}
}

// place asks Next, holds its answer against every rack, and places the task there or anywhere that is possible.
func place(t *testing.T, placer *Placer, p Problem, rack []int, k int, rng *rand.Rand) int {
	best, seconds := placer.Next(k)
	least, possible := math.Inf(1), -1
	for _, j := range rng.Perm(len(p.Up)) {
		rack[k] = j
		if longest := partial(p, rack); !math.IsInf(longest, 1) && fitsPartly(p, rack) {
			least, possible = min(least, longest), j
		}
	}
	rack[k] = -1
	if possible < 0 {
		require.Equal(t, -1, best)
		require.Zero(t, seconds)
		return -1
	}
	require.InDelta(t, least, seconds, 1e-9)
	if rng.IntN(2) == 0 {
		possible = best
	}
	require.True(t, placer.Place(k, possible))
	return possible
}

func fitsPartly(p Problem, rack []int) bool {
	var placed []int
	for _, j := range rack {
		if j >= 0 {
			placed = append(placed, j)
		}
	}
	return fits(p, placed)
}

func TestPlacerRefuses(t *testing.T) {
	placer, err := NewPlacer(Problem{
		Input: [][]float64{{1, 1}, {1, 1}, {1, 0}}, Up: []float64{1, 1}, Down: []float64{0, 1}, Slots: []int{1, 1},
	})
	require.NoError(t, err, "slots for two of three tasks are enough, since tasks end")
	assert.False(t, placer.Place(-1, 0))
	assert.False(t, placer.Place(3, 0))
	assert.False(t, placer.Place(0, -1))
	assert.False(t, placer.Place(0, 2))
	assert.False(t, placer.Place(0, 0), "the downlink of rack 0 carries nothing")
	assert.True(t, placer.Place(2, 0), "but this task needs nothing from elsewhere")
	assert.True(t, placer.Place(0, 1))
	rack, seconds := placer.Next(1)
	assert.Equal(t, -1, rack, "no slot is left")
	assert.Zero(t, seconds)
	rack, _ = placer.Next(0)
	assert.Equal(t, -1, rack, "placed already")
	assert.False(t, placer.Remove(1))
	assert.False(t, placer.Remove(7))
	assert.Equal(t, -1, placer.Rack(9))
	assert.Equal(t, "placed=2 tasks=3 seconds=1 bottleneck=rack-0-up", placer.String())
}

// Of racks that leave the same longest transfer, the one whose own downlink is done first.
func TestPlacerBreaksTies(t *testing.T) {
	placer, err := NewPlacer(Problem{
		Input: [][]float64{{0, 0, 9}, {1, 2, 3}}, Up: []float64{9, 9, 1}, Down: []float64{1, 2, 1},
	})
	require.NoError(t, err)
	require.True(t, placer.Place(0, 0)) // 9 s on rack 2 up, 9 s on rack 0 down
	rack, seconds := placer.Next(1)     // in rack 2 it leaves 9 s as they are, elsewhere it adds to rack 2 up
	assert.Equal(t, 2, rack)
	assert.Equal(t, 9.0, seconds)
	even, err := NewPlacer(Problem{Input: [][]float64{{1, 1, 1}}, Up: []float64{1, 1, 1}, Down: []float64{2, 3, 3}})
	require.NoError(t, err)
	rack, _ = even.Next(0)
	assert.Equal(t, 1, rack, "the racks' uplinks take 1 s either way; racks 1 and 2 read faster, and 1 is first")
}

func TestPlacerDoesNotAllocate(t *testing.T) {
	p := instance("shuffle", 100, 20, 1)
	placer, err := NewPlacer(p)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for k := range p.Input {
			rack, _ := placer.Next(k)
			placer.Place(k, rack)
		}
		placer.Bottleneck()
		for k := range p.Input {
			placer.Remove(k)
		}
	}))
}
