package skew

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// BenchmarkAssign includes the 45 partitions and 23 reduce tasks of DynamicShare §5. The paper's assignment took
// about 80 ms.
func BenchmarkAssign(b *testing.B) {
	for _, c := range []struct{ partitions, reducers int }{{45, 23}, {1000, 100}} {
		b.Run(fmt.Sprintf("partitions=%d/reducers=%d", c.partitions, c.reducers), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			p := Problem{Reducers: randomReducers(r, c.reducers)}
			for range c.partitions {
				p.Sizes = append(p.Sizes, int64(r.ExpFloat64()*1e5))
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Assign(p)
			}
		})
	}
}

// BenchmarkSketchAssign uses 10 hash functions. The paper does not give their number; its assignment took 200 ms.
func BenchmarkSketchAssign(b *testing.B) {
	b.Run("rows=10/partitions=45/reducers=23", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		s, reducers := randomSketch(b, r, 10, 45, 1), randomReducers(r, 23)
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = Policy{}.AssignSketch(s, reducers)
		}
	})
}

func BenchmarkSketchAdd(b *testing.B) {
	b.Run("rows=10/partitions=45", func(b *testing.B) {
		s, _ := NewSketch(10, 45, 1)
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			_ = s.Add(i, 1)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	s, _ := NewSketch(10, 45, 1)
	other, _ := NewSketch(10, 45, 1)
	sizes, _ := NewSizes(45, 1000)
	part, row, order := make([]int64, 45), make([]int64, 0, 45), make([]int, 0, 45)
	m, key := 0, "a key"
	for name, f := range map[string]func(){
		"Add":       func() { _ = s.Add(HashKey(key), 1) },
		"Partition": func() { s.Partition(3, 99) },
		"Merge":     func() { _ = s.Merge(other) },
		"Append":    func() { row = s.Append(row[:0], 2) },
		"Report":    func() { _, _ = sizes.Report(m, part); m++ },
		"Order":     func() { order = LargestFirst(order[:0], row) },
		"Balance":   func() { Balance(row) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

// BenchmarkRefine uses sizes like the times of a suite of tests, which has a few long tests.
func BenchmarkRefine(b *testing.B) {
	for _, c := range []struct{ partitions, reducers int }{{12, 4}, {60, 4}, {60, 12}, {1000, 12}, {100_000, 16}} {
		b.Run(fmt.Sprintf("partitions=%d/reducers=%d", c.partitions, c.reducers), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			p := Problem{Reducers: randomReducers(r, c.reducers)}
			for range c.partitions {
				p.Sizes = append(p.Sizes, int64(math.Exp(8+1.5*r.NormFloat64())))
			}
			bound, _, _ := Bound(p)
			for b.Loop() {
				plan, _ := Policy{Refine: true}.Assign(p)
				b.ReportMetric(100*(plan.Seconds/bound-1), "%-above-bound")
			}
		})
	}
}
