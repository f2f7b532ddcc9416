package placement

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrderOfTasksAndRacksDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, family := range families {
		for _, size := range [][2]int{{6, 3}, {20, 5}, {60, 10}} {
			if sampled && size[0] > 20 {
				continue
			}
			p := instance(family, size[0], size[1], 7)
			want, err := Assign(p, DefaultEffort)
			require.NoError(t, err)
			for range 2 {
				got, err := Assign(shuffled(rng, p), DefaultEffort)
				require.NoError(t, err)
				assert.Equal(t, want.Seconds, got.Seconds, "%s %v", family, size)
				assert.Equal(t, want.Bound, got.Bound, "%s %v", family, size)
			}
		}
	}
	for range part(300, 3) { // problems of whole numbers, in which many racks and tasks are alike
		p := randomProblem(rng, rng.IntN(6), 1+rng.IntN(4))
		want, err := Assign(p, DefaultEffort)
		got, errShuffled := Assign(shuffled(rng, p), DefaultEffort)
		require.Equal(t, err == nil, errShuffled == nil)
		require.InDelta(t, want.Seconds, got.Seconds, 1e-9*want.Seconds)
	}
}

func shuffled(rng *rand.Rand, p Problem) Problem {
	rows, columns := rng.Perm(len(p.Input)), rng.Perm(len(p.Up))
	q := Problem{}
	for _, j := range columns {
		q.Up, q.Down = append(q.Up, p.Up[j]), append(q.Down, p.Down[j])
		if p.Slots != nil {
			q.Slots = append(q.Slots, p.Slots[j])
		}
	}
	for _, k := range rows {
		var row []float64
		for _, j := range columns {
			row = append(row, p.Input[k][j])
		}
		q.Input = append(q.Input, row)
	}
	return q
}

// The inputs of all tasks are permutations of the same numbers. Only the racks distinguish these tasks.
func TestOrderOfSimilarTasksDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	p := Problem{}
	for j := range 6 {
		p.Up, p.Down = append(p.Up, float64(7+j)), append(p.Down, float64(20-j*j%7))
	}
	for range 40 {
		row := []float64{1, 2, 4, 8, 16, 32}
		rng.Shuffle(6, func(i, j int) { row[i], row[j] = row[j], row[i] })
		p.Input = append(p.Input, row)
	}
	want, err := Assign(p, 100_000)
	require.NoError(t, err)
	require.False(t, want.Optimal, "the answer is optimal, and an optimal answer never depends on the order")
	for range 10 {
		got, err := Assign(shuffled(rng, p), 100_000)
		require.NoError(t, err)
		assert.Equal(t, want.Seconds, got.Seconds)
		assert.Equal(t, want.Bound, got.Bound)
	}
}

// The inputs of all racks are permutations of the same numbers. Only the tasks distinguish these racks.
func TestOrderOfSimilarRacksDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	p := Problem{Up: slices.Repeat([]float64{10}, 6), Down: slices.Repeat([]float64{10}, 6)}
	for range 30 {
		p.Input = append(p.Input, make([]float64, 6))
	}
	for j := range 6 {
		for i, k := range rng.Perm(30) {
			p.Input[k][j] = float64((i + 3) * (i + 5))
		}
	}
	want, err := Assign(p, 100_000)
	require.NoError(t, err)
	require.False(t, want.Optimal)
	for range 10 {
		got, err := Assign(shuffled(rng, p), 100_000)
		require.NoError(t, err)
		assert.Equal(t, want.Seconds, got.Seconds)
		assert.Equal(t, want.Bound, got.Bound)
	}
}
