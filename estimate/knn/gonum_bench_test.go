package knn

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/spatial/kdtree"
)

// BenchmarkKNNGonum is the search of BenchmarkKNN on gonum's kd-tree, k = 100, for comparison. The search finds
// neighbours only, without weights.
func BenchmarkKNNGonum(b *testing.B) {
	for _, runs := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			knn, queries := benchKNN(b, runs)
			points := make(kdtree.Points, runs)
			for i := range points {
				points[i] = scaledPoint(knn, knn.x[i*len(queries[0]):][:len(queries[0])])
			}
			tree := kdtree.New(points, true)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				keep := kdtree.NewNKeeper(100)
				tree.NearestSet(keep, scaledPoint(knn, queries[i%len(queries)]))
				sink = keep.Heap[0].Dist
			}
		})
	}
}

func scaledPoint(k *Regressor, x []float64) kdtree.Point {
	p := make(kdtree.Point, len(x))
	for i := range p {
		p[i] = x[i] * k.inverse[i]
	}
	return p
}
