package placement

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The loads after a step are the loads that the search predicted for the step.
func TestSearchPredictsTheLoadsAfterItsSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	moves, swaps := 0, 0
	for seed := range uint64(60) {
		p := instance(families[seed%5], 5+rng.IntN(20), 2+rng.IntN(6), seed)
		m := newModel(&p)
		start := newLayout(m)
		for k := range m.n {
			for j := rng.IntN(m.r); ; j = (j + 1) % m.r {
				if start.room(k, j) {
					start.place(k, j)
					break
				}
			}
		}
		s := newSearch(start, 0)
		for range 30 {
			link, _ := s.worst()
			c := s.candidate(link)
			if !c.found {
				break
			}
			if c.other == nowhere {
				moves++
			} else {
				swaps++
			}
			s.apply(c)
			s.stepped++
			got := s.top()
			for i := range got {
				require.InDelta(t, got[i], max(c.after[i], 0), 1e-12, "%+v", c)
			}
			for j, count := range s.count {
				require.LessOrEqual(t, count, m.slots[j])
			}
		}
	}
	assert.Greater(t, moves, 100, "the test saw too few moves")
	assert.Greater(t, swaps, 100, "the test saw too few swaps")
}

// top returns the three longest transfers, computed directly.
func (l *layout) top() top {
	t := top{-1, -1, -1}
	for link := range 2 * l.m.r {
		t.insert(max(0, l.load(link)))
	}
	return t
}

func TestTopHoldsTheThreeLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		values, tops := make([]float64, 3+rng.IntN(8)), top{-1, -1, -1}
		for i := range values {
			values[i] = float64(rng.IntN(6))
			tops.insert(values[i])
		}
		slices.Sort(values)
		slices.Reverse(values)
		require.Equal(t, values[:3], tops[:])
	}
}

// Assign returns an error only if brute force finds no placement. A scarce rack must not go to a task that could run
// elsewhere.
func TestAssignFailsOnlyWithoutAPlacement(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	possible, refused := 0, 0
	for range part(3000, 2) {
		tasks, racks := 3+rng.IntN(3), 3+rng.IntN(2)
		p := Problem{Slots: make([]int, racks)}
		for range racks {
			p.Up = append(p.Up, float64(rng.IntN(4)))
			p.Down = append(p.Down, float64(rng.IntN(2)))
		}
		for range tasks {
			row := make([]float64, racks)
			for range 1 + rng.IntN(2) {
				row[rng.IntN(racks)] = 1
			}
			p.Input = append(p.Input, row)
			p.Slots[rng.IntN(racks)]++
		}
		_, err := Assign(p, DefaultEffort)
		if math.IsInf(bruteForce(p), 1) {
			refused++
			require.Error(t, err, "%+v", p)
		} else {
			possible++
			require.NoError(t, err, "%+v", p)
		}
	}
	assert.Greater(t, possible, 300)
	assert.Greater(t, refused, 300)
}

// The answers are the same on every architecture, bit for bit: no product is fused into a sum, and the code uses only
// the four basic operations and the square root. The number below is the hash of the answers on amd64. A change of
// the search changes the hash; then set it anew.
func TestSameAnswersOnEveryMachine(t *testing.T) {
	hash := fnv.New64a()
	for _, family := range families {
		for _, size := range [][2]int{{8, 4}, {20, 5}, {60, 10}} {
			a, err := Assign(instance(family, size[0], size[1], 1), DefaultEffort)
			require.NoError(t, err)
			fmt.Fprintf(hash, "%v %b %b %v\n", a.Rack, a.Seconds, a.Bound, a.Optimal)
		}
	}
	assert.Equal(t, uint64(0xc6b4397bc602361e), hash.Sum64())
}

// candidateCost is at least the number of moves and swaps that the method candidate may try.
func TestCandidateCostCoversAllCandidates(t *testing.T) {
	for seed := range uint64(10) {
		p := instance(families[seed%5], 40, 5, seed)
		m := newModel(&p)
		l := newLayout(m)
		require.True(t, l.greedy(sequence(m.n)))
		for j := range m.r {
			changes := 0
			for k, at := range l.rack {
				for other, to := range l.rack {
					if at == j && other != k && to != j {
						changes++ // a swap
					}
				}
				if at == j {
					changes += m.r - 1
				}
			}
			s := newSearch(l, 0)
			require.GreaterOrEqual(t, s.candidateCost(Link{j, Down}), int64(changes))
			require.GreaterOrEqual(t, s.candidateCost(Link{j, Up}), int64(changes-(m.r-1)*l.count[j]+m.n-l.count[j]))
		}
	}
}
