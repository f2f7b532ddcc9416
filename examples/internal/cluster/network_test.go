package cluster

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactShares is max-min fairness by its definition, in rationals and over all flows at once: raise all, stop those
// that are held back, go on with the others. uses has the links of each flow. A flow has the weight 1/n, where n
// is the number of flows on its last link of a machine. The links of machines begin at machines.
func exactShares(capacities, limits []float64, uses [][]int32, machines int32) []*big.Rat {
	weights := make([]*big.Rat, len(uses))
	for k := range uses {
		weights[k] = big.NewRat(1, 1)
		for _, l := range uses[k] {
			n := int64(0)
			for _, u := range uses {
				if slices.Contains(u, l) {
					n++
				}
			}
			if l >= machines {
				weights[k] = big.NewRat(1, n)
			}
		}
	}
	rates := make([]*big.Rat, len(uses))
	for {
		var level *big.Rat
		lower := func(r *big.Rat) {
			if level == nil || r.Cmp(level) < 0 {
				level = r
			}
		}
		rooms := map[int32]*big.Rat{} // what each open flow of a link could have
		for i, c := range capacities {
			left, open := new(big.Rat).SetFloat64(c), new(big.Rat)
			for k := range uses {
				switch {
				case !slices.Contains(uses[k], int32(i)):
				case rates[k] == nil:
					open.Add(open, weights[k])
				default:
					left.Sub(left, rates[k])
				}
			}
			if open.Sign() > 0 {
				rooms[int32(i)] = left.Quo(left, open)
				lower(rooms[int32(i)])
			}
		}
		for k := range uses {
			if rates[k] == nil {
				lower(byWeight(limits[k], weights[k]))
			}
		}
		if level == nil || !slices.Contains(rates, nil) {
			return rates
		}
		held := make([]bool, len(uses))
		for k := range uses {
			held[k] = rates[k] == nil && (byWeight(limits[k], weights[k]).Cmp(level) <= 0 ||
				slices.ContainsFunc(uses[k], func(l int32) bool { return rooms[l].Cmp(level) <= 0 }))
		}
		for k := range uses {
			if held[k] {
				rates[k] = new(big.Rat).Mul(level, weights[k])
			}
		}
	}
}

func byWeight(x float64, weight *big.Rat) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	return r.Quo(r, weight)
}

// linked makes a network of links, of which those from machines on are links of machines.
func linked(capacities []float64, machines int) *network {
	n := &network{racks: len(capacities), machines: machines}
	for _, c := range capacities {
		n.links = append(n.links, link{capacity: c})
	}
	return n
}

// anyLinks draws up to most different links of n.
func anyLinks(rng *rand.Rand, n, most int) []int32 {
	var links []int32
	for _, i := range rng.Perm(n)[:1+rng.IntN(min(n, most))] {
		links = append(links, int32(i))
	}
	return links
}

func TestFlowsShareAsAnExactSolverSays(t *testing.T) {
	t.Parallel()
	for seed := range some(30, 60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		capacities := make([]float64, 2+rng.IntN(12))
		for i := range capacities {
			capacities[i] = float64(1 + rng.IntN(40))
		}
		machines := rng.IntN(len(capacities) + 1)
		n := linked(capacities, machines)
		var live []int32
		var limits []float64
		var uses [][]int32
		for step := range 80 {
			switch kind := rng.IntN(6); {
			case kind < 3 || len(live) == 0:
				links, limit := anyLinks(rng, len(capacities), mostLinks), float64(1+rng.IntN(30))
				live = append(live, n.start(int64(step), links, 1e18, limit, 0))
				limits, uses = append(limits, limit), append(uses, links)
			case kind < 4:
				i := rng.IntN(len(live))
				limits[i] = float64(1 + rng.IntN(30))
				n.limit(live[i], limits[i])
			default:
				i := rng.IntN(len(live))
				n.stop(int64(step), live[i])
				live, limits, uses = slices.Delete(live, i, i+1), slices.Delete(limits, i, i+1), slices.Delete(uses, i, i+1)
			}
			if rng.IntN(3) == 0 {
				continue // several changes at one instant
			}
			n.settle(int64(step))
			for i, want := range exactShares(capacities, limits, uses, int32(machines)) {
				w, _ := want.Float64()
				require.InDelta(t, w, n.flows[live[i]].rate, 1e-9*w, "seed %d step %d flow %d", seed, step, i)
			}
		}
	}
}

func TestNoFlowIsHeldBackWithoutCause(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	capacities := make([]float64, 60)
	for i := range capacities {
		capacities[i] = 100 * rng.Float64()
	}
	n := linked(capacities, len(capacities))
	for range some(1000, 2000) {
		n.start(0, anyLinks(rng, 60, 2), 1, 10*rng.Float64(), 0)
		n.settle(0)
	}
	used := make([]float64, len(n.links))
	most := make([]float64, len(n.links))
	for _, f := range n.flows {
		for _, u := range f.on[:f.n] {
			used[u.link] += f.rate
			most[u.link] = max(most[u.link], f.rate)
		}
	}
	for at, l := range n.links {
		assert.LessOrEqual(t, used[at], l.capacity*(1+1e-9), "link %d carries no more than it can", at)
	}
	for i, f := range n.flows {
		full := slices.ContainsFunc(f.on[:f.n], func(u use) bool {
			return used[u.link] >= n.links[u.link].capacity*(1-1e-9) && f.rate >= most[u.link]*(1-1e-9)
		})
		assert.True(t, f.rate >= f.limit*(1-1e-12) || full, "flow %d is at its limit, or the largest on a full link", i)
	}
	alone := n.start(0, nil, 1, 7, 0)
	n.settle(0)
	assert.Equal(t, 7.0, n.flows[alone].rate, "a flow without links has its limit")
}

func TestFlowEndsWhenItsBytesAreThrough(t *testing.T) {
	n := linked([]float64{10, 10}, 2)
	a := n.start(0, []int32{0, 1}, 100, math.Inf(1), 0)
	b := n.start(0, []int32{0, 1}, 20, math.Inf(1), 0)
	require.Len(t, n.settle(0), 2)
	at, ok := n.flows[b].ends()
	require.True(t, ok)
	assert.EqualValues(t, 4e9, at, "20 bytes at half of 10 a second")
	n.stop(at, b)
	require.Equal(t, []int32{a}, n.settle(at))
	at, _ = n.flows[a].ends()
	assert.EqualValues(t, 12e9, at, "80 bytes are left at 10 a second")
	n.stop(at, a)
	assert.InDelta(t, 120, n.bytes, 1e-6)
}

// A flow that has less left than least gets more, and a new end.
func TestLeastBytesThatAFlowHasLeft(t *testing.T) {
	n := linked([]float64{10}, 1)
	a := n.start(0, []int32{0}, 100, math.Inf(1), 0)
	n.settle(0)
	n.least(5e9, a, 40)
	assert.Empty(t, n.settle(5e9), "50 bytes are left")
	n.least(9e9, a, 40)
	require.Equal(t, []int32{a}, n.settle(9e9))
	at, _ := n.flows[a].ends()
	assert.EqualValues(t, 13e9, at)
}

func BenchmarkNetwork(b *testing.B) {
	for _, racks := range []int{4, 25, 250} {
		b.Run(fmt.Sprintf("racks=%d/flows=1000", racks), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			n := linked(slices.Repeat([]float64{1000 * 10 / float64(racks)}, 2*racks), 2*racks)
			var live []int32
			start := func() int32 {
				from := rng.IntN(racks)
				links := []int32{uplink(int32(from)), downlink(int32((from + 1 + rng.IntN(racks-1)) % racks))}
				return n.start(0, links, 1e18, 20*rng.Float64(), 0)
			}
			for range 1000 {
				live = append(live, start())
			}
			n.settle(0)
			b.ReportAllocs()
			for b.Loop() {
				i := rng.IntN(len(live))
				n.stop(0, live[i])
				live[i] = start()
				n.settle(0)
			}
		})
	}
}
