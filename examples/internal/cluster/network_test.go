package cluster

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactShares is max-min fairness by its definition, in rationals and over all flows at once: raise all, stop those
// that are held back, go on with the others.
func exactShares(racks []Rack, flows []flow) []*big.Rat {
	rates := make([]*big.Rat, len(flows))
	for {
		var level *big.Rat
		lower := func(r *big.Rat) {
			if level == nil || r.Cmp(level) < 0 {
				level = r
			}
		}
		held := make([]func(l *big.Rat) bool, len(flows))
		room := func(i int32, capacity float64) *big.Rat { // what each open flow of link i could have
			left, open := new(big.Rat).SetFloat64(capacity), int64(0)
			for k, f := range flows {
				if f.up == i || f.down == i {
					if rates[k] == nil {
						open++
					} else {
						left.Sub(left, rates[k])
					}
				}
			}
			if open == 0 {
				return nil
			}
			return left.Quo(left, new(big.Rat).SetInt64(open))
		}
		rooms := map[int32]*big.Rat{}
		for r, rack := range racks {
			for i, c := range [2]float64{rack.Up, rack.Down} {
				if got := room(int32(2*r+i), c); got != nil {
					rooms[int32(2*r+i)] = got
					lower(got)
				}
			}
		}
		for k, f := range flows {
			if rates[k] == nil {
				limit := new(big.Rat).SetFloat64(f.limit)
				lower(limit)
				held[k] = func(l *big.Rat) bool {
					return limit.Cmp(l) <= 0 || rooms[f.up].Cmp(l) <= 0 || rooms[f.down].Cmp(l) <= 0
				}
			}
		}
		if level == nil {
			return rates
		}
		for k := range flows {
			if rates[k] == nil && held[k](level) {
				rates[k] = level
			}
		}
	}
}

func TestFlowsShareAsAnExactSolverSays(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		racks := make([]Rack, 2+rng.IntN(6))
		for i := range racks {
			racks[i] = Rack{Up: float64(1 + rng.IntN(40)), Down: float64(1 + rng.IntN(40))}
		}
		n := newNetwork(racks)
		var live []int32
		for step := range 80 {
			switch kind := rng.IntN(6); {
			case kind < 3 || len(live) == 0:
				from := rng.IntN(len(racks))
				to := (from + 1 + rng.IntN(len(racks)-1)) % len(racks)
				live = append(live, n.start(int64(step), int32(from), int32(to), 1e18, float64(1+rng.IntN(30)), 0))
			case kind < 4:
				n.limit(live[rng.IntN(len(live))], float64(1+rng.IntN(30)))
			default:
				i := rng.IntN(len(live))
				n.stop(int64(step), live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
			if rng.IntN(3) == 0 {
				continue // several changes at one instant
			}
			n.settle(int64(step))
			flows := make([]flow, len(live))
			for i, place := range live {
				flows[i] = n.flows[place]
			}
			for i, want := range exactShares(racks, flows) {
				w, _ := want.Float64()
				require.InDelta(t, w, flows[i].rate, 1e-9*w, "seed %d step %d flow %d", seed, step, i)
			}
		}
	}
}

func TestNoFlowIsHeldBackWithoutCause(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	racks := make([]Rack, 30)
	for i := range racks {
		racks[i] = Rack{Up: 100 * rng.Float64(), Down: 100 * rng.Float64()}
	}
	n := newNetwork(racks)
	for range 2000 {
		from, to := rng.IntN(30), rng.IntN(30)
		n.start(0, int32(from), int32(to), 1, 10*rng.Float64(), 0)
		n.settle(0)
	}
	used := make([]float64, len(n.links))
	most := make([]float64, len(n.links))
	for _, f := range n.flows {
		if f.up != noLink {
			for _, at := range [2]int32{f.up, f.down} {
				used[at] += f.rate
				most[at] = max(most[at], f.rate)
			}
		}
	}
	for at, l := range n.links {
		assert.LessOrEqual(t, used[at], l.capacity*(1+1e-9), "link %d carries no more than it can", at)
	}
	for i, f := range n.flows {
		if f.up == noLink {
			assert.Equal(t, f.limit, f.rate)
			continue
		}
		full := func(at int32) bool {
			return used[at] >= n.links[at].capacity*(1-1e-9) && f.rate >= most[at]*(1-1e-9)
		}
		assert.True(t, f.rate >= f.limit*(1-1e-12) || full(f.up) || full(f.down),
			"flow %d is at its limit, or the largest on a full link", i)
	}
}

func TestFlowEndsWhenItsBytesAreThrough(t *testing.T) {
	n := newNetwork([]Rack{{Up: 10, Down: 10}, {Up: 10, Down: 10}})
	a := n.start(0, 0, 1, 100, math.Inf(1), 0)
	b := n.start(0, 0, 1, 20, math.Inf(1), 0)
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

func BenchmarkNetwork(b *testing.B) {
	for _, racks := range []int{4, 25, 250} {
		b.Run(fmt.Sprintf("racks=%d/flows=1000", racks), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			n := newNetwork(make([]Rack, racks))
			for i := range n.links {
				n.links[i].capacity = 1000 * 10 / float64(racks)
			}
			var live []int32
			start := func() int32 {
				from := rng.IntN(racks)
				return n.start(0, int32(from), int32((from+1+rng.IntN(racks-1))%racks), 1e18, 20*rng.Float64(), 0)
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
