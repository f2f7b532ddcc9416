package placement

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the search expects of a step is what the step does.
func TestSearchForeseesItsSteps(t *testing.T) {
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
	assert.Greater(t, moves, 100)
	assert.Greater(t, swaps, 100)
}

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

// Tasks that hold racks which others need move on, along chains if need be, so an error means that there is no placement.
func TestFeasibleWheneverPossible(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	possible, refused := 0, 0
	for range 3000 {
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
		_, err := Assign(p, DefaultLimit)
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

// Rows that are permutations of each other tell tasks apart only by the racks.
func TestOrderOfLikeTasksDoesNotMatter(t *testing.T) {
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
	require.False(t, want.Optimal, "a proven answer would not depend on the order anyway")
	for range 10 {
		got, err := Assign(shuffled(rng, p), 100_000)
		require.NoError(t, err)
		assert.Equal(t, want.Seconds, got.Seconds)
		assert.Equal(t, want.Bound, got.Bound)
	}
}

// Racks whose inputs are the same numbers in another order are told apart by the tasks.
func TestOrderOfLikeRacksDoesNotMatter(t *testing.T) {
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

// The system of equations grows as the square of the racks, so there is an end to it whatever the limit. What bounds the
// answer then is the volume: all that the tasks read less the most that each can find in a rack, over all downlinks, or
// over all uplinks.
func TestVolumeBoundsBeyondMostRacks(t *testing.T) {
	for racks, want := range map[int]bool{20: true, mostRacks + 1: false} {
		p := instance("shuffle", 50, racks, 1)
		m := newModel(&p)
		s := relax(m, &work{math.MaxInt64})
		assert.Equal(t, want, s.x != nil)
		bytes := 0.0
		for _, row := range p.Input {
			bytes += sum(row) - slices.Max(row)
		}
		volume := max(bytes/sum(p.Up), bytes/sum(p.Down))
		assert.Greater(t, math.Ldexp(s.best, m.exponent), volume*(1-precise))
		hasty, err := Assign(p, 1)
		require.NoError(t, err)
		assert.Greater(t, hasty.Bound, volume*(1-3*precise))
	}
}

// The answers, bit for bit, are the same on every architecture: no product is fused into a sum, and nothing but the four
// operations and the square root is used. The number below is the hash of the answers on amd64; a change of the search
// changes it too, and then it is to be set anew.
func TestSameAnswersOnEveryMachine(t *testing.T) {
	hash := fnv.New64a()
	for _, family := range families {
		for _, size := range [][2]int{{8, 4}, {20, 5}, {60, 10}} {
			a, err := Assign(instance(family, size[0], size[1], 1), DefaultLimit)
			require.NoError(t, err)
			fmt.Fprintf(hash, "%v %b %b %v\n", a.Rack, a.Seconds, a.Bound, a.Optimal)
		}
	}
	assert.Equal(t, uint64(0x8a8a077de123c2af), hash.Sum64())
}

// A bound is proven only if rounding cannot have lifted it. Without a slot to spare, the prices of slots may grow without
// end, and the bound is a small difference of large numbers; the sum of its terms in 400 bits tells what it should be.
func TestBoundIsBelowItsExactValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	large := 0
	for i := range 1500 {
		n, r := 1+rng.IntN(12), 2+rng.IntN(6)
		p := Problem{Slots: make([]int, r)}
		for range r {
			p.Up = append(p.Up, math.Pow(10, float64(rng.IntN(7)))*(1+rng.Float64()))
			p.Down = append(p.Down, math.Pow(10, float64(rng.IntN(7)))*(1+rng.Float64()))
		}
		for k := range n {
			row := make([]float64, r)
			for j := range row {
				switch {
				case i%2 == 0:
					row[j] = math.Pow(10, float64(rng.IntN(15)))
				case rng.IntN(2) == 0:
					row[j] = math.Round(100 * rng.Float64())
				}
			}
			p.Input = append(p.Input, row)
			p.Slots[k%r]++
		}
		m := newModel(&p)
		s := relax(m, &work{math.MaxInt64})
		if s.best == 0 {
			continue
		}
		require.LessOrEqual(t, s.best, exactBound(m, s.bestPrice), "%+v", p)
		if slices.Min(s.bestPrice) < -1e6*s.best {
			large++
		}
	}
	assert.Positive(t, large, "no price was large enough to matter")
}

// exactBound is the bound that prices prove, without rounding: all terms in 400 bits.
func exactBound(m *model, price []float64) float64 {
	number := func(v float64) *big.Float { return big.NewFloat(v).SetPrec(400) }
	add := func(sum *big.Float, a, b float64) { sum.Add(sum, number(0).Mul(number(a), number(b))) }
	bound, links := number(0), number(0)
	for j := range m.r {
		links.Add(links, number(price[j*width]))
		links.Add(links, number(price[j*width+1]))
		add(bound, price[j*width+2], float64(m.slots[j]))
		for k := range m.n {
			add(bound, price[j*width], m.save[k*m.r+j])
		}
	}
	for k := range m.n {
		least := new(big.Float).SetInf(false)
		for j := range m.r {
			g, ok := m.column(k*m.r + j)
			cost := number(0)
			for q := range width {
				if ok {
					add(cost, -g[q], price[j*width+q])
				}
			}
			if ok && cost.Cmp(least) < 0 {
				least = cost
			}
		}
		bound.Add(bound, least)
	}
	v, _ := bound.Quo(bound, links).Float64()
	return v
}

// What a step of the search is said to cost covers all the changes that it may try.
func TestSearchPaysForWhatItTries(t *testing.T) {
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
