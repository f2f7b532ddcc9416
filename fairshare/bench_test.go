package fairshare

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// flatPools are mixed weights, minimums for a third, and twice the demand that there is to divide.
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

func BenchmarkShares(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			pools, total := flatPools(n)
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
		})
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
