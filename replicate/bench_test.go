package replicate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// layered returns the outputs of a job. Each output reads some of the thousand outputs before it.
func layered(outputs, inputs int) []Output {
	rng := rand.New(rand.NewPCG(1, uint64(inputs)))
	list := make([]Output, outputs)
	for k := range list {
		list[k] = Output{Run: time.Duration(rng.Int64N(1e11)), Loss: 0.1 * rng.Float64()}
		for range min(k, inputs) {
			list[k].Inputs = append(list[k].Inputs, k-1-rng.IntN(min(k, 1000)))
		}
	}
	return list
}

// costOfLast adds the outputs to a graph and computes the cost of the last output.
func costOfLast(b *testing.B, outputs []Output) {
	var g Graph
	for i := range outputs {
		if _, err := g.Add(outputs[i]); err != nil {
			b.Fatal(err)
		}
	}
	g.Cost(g.Len() - 1)
}

func BenchmarkGraphWhole(b *testing.B) {
	for _, size := range []struct{ outputs, edges int }{{10_000, 100_000}, {100_000, 100_000}, {100_000, 400_000}, {100_000, 1_600_000}} {
		b.Run(fmt.Sprintf("outputs=%d/edges=%d", size.outputs, size.edges), func(b *testing.B) {
			outputs := layered(size.outputs, size.edges/size.outputs)
			b.ReportAllocs()
			for b.Loop() {
				costOfLast(b, outputs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.edges), "ns/edge")
		})
	}
}

// BenchmarkGraphDomains measures a graph with outputs on a thousand machines.
func BenchmarkGraphDomains(b *testing.B) {
	b.Run("outputs=100000/edges=400000", func(b *testing.B) {
		outputs := layered(100_000, 4)
		for k := range outputs {
			outputs[k].Domain = 1 + k%1000
		}
		b.ReportAllocs()
		for b.Loop() {
			costOfLast(b, outputs)
		}
	})
}

func BenchmarkLossesSnapshot(b *testing.B) {
	b.Run("machines=10000", func(b *testing.B) {
		l, _ := NewLosses(10_000, LossesConfig{})
		for i := range 100_000 {
			l.Produced(time.Unix(int64(i), 0), i%10_000, 1)
		}
		b.ReportAllocs()
		for b.Loop() {
			data, _ := l.MarshalBinary()
			if err := new(Losses).UnmarshalBinary(data); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
		}
	})
}

// BenchmarkGraph measures the calls of a host when a task finishes: Add, Cost and Decide.
func BenchmarkGraph(b *testing.B) {
	b.Run("inputs=4", func(b *testing.B) {
		outputs := layered(100_000, 4)
		b.ReportAllocs()
		var g Graph
		for i := 0; b.Loop(); i++ {
			if i%len(outputs) == 0 {
				g = Graph{}
			}
			k, err := g.Add(outputs[i%len(outputs)])
			if err != nil {
				b.Fatal(err)
			}
			Decide(Candidate{Cost: g.Cost(k), CopyTime: time.Second, Bytes: 1}, 1)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	c := Candidate{Cost: Cost{Expected: 3 * time.Second}, CopyTime: time.Second, Bytes: 1}
	b.ReportAllocs()
	for b.Loop() {
		Decide(c, 1)
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("candidates=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			candidates := make([]Candidate, n)
			for i := range candidates {
				candidates[i] = Candidate{Cost: Cost{Expected: time.Duration(rng.Int64N(1e9))}, Bytes: rng.Int64N(1e9)}
			}
			chosen := make([]int, 0, n)
			b.ReportAllocs()
			for b.Loop() {
				chosen = Choose(chosen[:0], candidates, 1e10)
			}
		})
	}
}

func BenchmarkLosses(b *testing.B) {
	b.Run("machines=10000", func(b *testing.B) {
		l, err := NewLosses(10_000, LossesConfig{})
		if err != nil {
			b.Fatal(err)
		}
		now := time.Unix(0, 0)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			now = now.Add(time.Second)
			l.Produced(now, i%10_000, 1)
			l.Probability(now, i%10_000)
		}
	})
}
