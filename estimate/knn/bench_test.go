package knn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func benchKNN(b testing.TB, runs int) (*Regressor, [][]float64) {
	r := rand.New(rand.NewPCG(uint64(runs), 1))
	draw := func() []float64 { return []float64{1e9 * r.Float64(), 100 * r.Float64(), 100 * r.Float64()} }
	knn, err := New(Config{Neighbours: 100, Keep: runs})
	if err != nil {
		b.Fatal(err)
	}
	for range runs + runs/100 { // some runs were replaced
		if err := knn.Observe(draw(), r.ExpFloat64()); err != nil {
			b.Fatal(err)
		}
	}
	queries := make([][]float64, 1024)
	for i := range queries {
		queries[i] = draw()
	}
	return knn, queries
}

func BenchmarkKNN(b *testing.B) {
	for _, runs := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			knn, queries := benchKNN(b, runs)
			var p Prediction
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_ = knn.Predict(&p, queries[i%len(queries)])
			}
		})
	}
}

func BenchmarkKNNAdd(b *testing.B) {
	for _, runs := range []int{1000, 100000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			knn, queries := benchKNN(b, runs)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_ = knn.Observe(queries[i%len(queries)], 1)
			}
		})
	}
}

func TestKNNDoesNotAllocate(t *testing.T) {
	for _, runs := range []int{100, 5000} {
		knn, queries := benchKNN(t, runs)
		h, _ := NewHistogram(HistogramConfig{})
		var p Prediction
		_ = knn.Predict(&p, queries[0])
		i := 0
		for name, f := range map[string]func(){
			"Predict":   func() { _ = knn.Predict(&p, queries[i]) },
			"Add":       func() { _ = knn.Observe(queries[i], 2) },
			"Quantile":  func() { p.Quantile(p.CDF(1) * p.Below(2)) },
			"Histogram": func() { h.Observe(3); h.Estimate(); h.Delete(3) },
		} {
			assert.Zero(t, testing.AllocsPerRun(600, func() { f(); i = (i + 1) % len(queries) }), "%s, %d runs", name, runs)
		}
	}
}

// sink keeps the compiler from removing the computations of a benchmark.
var sink float64
