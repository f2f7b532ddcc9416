package fairshare

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// flatPools returns pools with mixed weights and with minimums for every third pool. The total is half of the demand.
func flatPools(n int) (pools []Pool, total int64) {
	rng := rand.New(rand.NewPCG(5, 9))
	pools = make([]Pool, n)
	for i := range pools {
		p := Pool{Weight: 1 + rng.Int64N(10), Demand: 1 + rng.Int64N(1000)}
		if i%3 == 0 {
			p.Min = rng.Int64N(200)
		}
		pools[i] = p
		total += p.Demand
	}
	return pools, total / 2
}

// steepPools returns pools with weights and bounds of all magnitudes. Their level must be found by sorting.
func steepPools(n int) (pools []Pool, total int64) {
	rng := rand.New(rand.NewPCG(5, 11))
	pools = make([]Pool, n)
	for i := range pools {
		p := Pool{Weight: 1 + rng.Int64N(1<<rng.IntN(40)), Min: rng.Int64N(1 << rng.IntN(40))}
		p.Demand = p.Min + rng.Int64N(1<<rng.IntN(40))
		pools[i] = p
		total += p.Min/2 + p.Demand/2
	}
	return pools, total
}

func BenchmarkShares(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) { benchmarkShares(b, flatPools, n) })
	}
}

// BenchmarkSharesSteep measures the most expensive case: the level is found by sorting.
func BenchmarkSharesSteep(b *testing.B) {
	b.Run("pools=100000", func(b *testing.B) { benchmarkShares(b, steepPools, 100_000) })
}

func benchmarkShares(b *testing.B, draw func(n int) ([]Pool, int64), n int) {
	pools, total := draw(n)
	tree, err := New(pools, Policy{})
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]Share, n)
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = tree.Shares(dst, nil, total); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	pools, _ := flatPools(100_000)
	b.Run("pools=100000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := New(pools, Policy{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			pools, _ := flatPools(n)
			tree, err := New(pools, Policy{})
			if err != nil {
				b.Fatal(err)
			}
			index := tree.Index()
			pool := 0
			b.ReportAllocs()
			for b.Loop() { // one unit is returned and given again
				index.Add(pool, -1)
				pool = (pool + 7919) % n
				index.Add(index.Next().Pool, 1)
			}
		})
	}
}

// BenchmarkBisection measures the method of Hadoop YARN for comparison. It doubles the level until the shares
// exceed the total, and then halves the interval 25 times. The shares are truncated to whole slots, so they are
// not exact.
func BenchmarkBisection(b *testing.B) {
	b.Run("pools=100000", func(b *testing.B) {
		pools, total := flatPools(100_000)
		at := func(p *Pool, level float64) int64 {
			return int64(min(max(level*float64(p.Weight), float64(min(p.Min, p.Demand))), float64(p.Demand)))
		}
		used := func(level float64) (sum int64) {
			for i := range pools {
				sum += at(&pools[i], level)
			}
			return sum
		}
		shares := make([]int64, len(pools))
		for b.Loop() {
			high := 1.0
			for used(high) < total {
				high *= 2
			}
			low := 0.0
			for range 25 {
				if middle := (low + high) / 2; used(middle) < total {
					low = middle
				} else {
					high = middle
				}
			}
			for i := range pools {
				shares[i] = at(&pools[i], high)
			}
		}
	})
}
