package dominant

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/straggler-go/straggler/fairshare"
)

func BenchmarkShares(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("pools=%d/resources=3", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(5, 10))
			pools := make([]Pool, n)
			for i := range pools {
				pools[i] = Pool{Task: []int64{1 + rng.Int64N(8), 1 + rng.Int64N(1<<34), rng.Int64N(2)},
					Demand: 1 + rng.Int64N(10_000)}
			}
			capacity := []int64{int64(n) * 10_000, int64(n) << 44, int64(n) * 1000}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Shares(pools, capacity); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func randomIndex(t testing.TB, n int) *Index {
	rng := rand.New(rand.NewPCG(5, 52))
	pools := make([]Pool, n)
	for i := range pools {
		pools[i] = Pool{
			Weight: 1 + rng.Int64N(8), Demand: 1 + rng.Int64N(100),
			Task: []int64{1 + rng.Int64N(8), 1 + rng.Int64N(1<<34), rng.Int64N(2)},
		}
		if i%3 == 0 {
			pools[i].Min = []int64{rng.Int64N(20), rng.Int64N(1 << 36), 0}
		}
	}
	tree, err := New(pools, []int64{int64(n) * 100, int64(n) << 40, int64(n) * 10}, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	index := tree.Index()
	for range 5 * n {
		index.Add(index.Next().Pool, 1, nil)
	}
	return index
}

// BenchmarkNext hands out one task for each that ends.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d/resources=3", n), func(b *testing.B) {
			index := randomIndex(b, n)
			pool := 0
			b.ReportAllocs()
			for b.Loop() {
				index.Add(pool, -1, nil)
				pool = (pool + 7919) % n
				index.Add(index.Next().Pool, 1, nil)
			}
		})
	}
}

// BenchmarkNextInTree has the pools under a thousand others.
func BenchmarkNextInTree(b *testing.B) {
	const n = 100_000
	b.Run(fmt.Sprintf("pools=%d/resources=3", n), func(b *testing.B) {
		pools := make([]Pool, n)
		for i := 1000; i < n; i++ {
			pools[i] = Pool{Parent: fairshare.Under(i % 1000), Demand: 10, Task: []int64{1 + int64(i%7), int64(i % 5), 1}}
		}
		tree, err := New(pools, []int64{n, n, n}, Policy{})
		if err != nil {
			b.Fatal(err)
		}
		index := tree.Index()
		pool := 1000
		b.ReportAllocs()
		for b.Loop() {
			index.Add(pool, -1, nil)
			pool = 1000 + (pool+7919)%(n-1000)
			index.Add(index.Next().Pool, 1, nil)
		}
	})
}
