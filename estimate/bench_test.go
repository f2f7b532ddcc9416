package estimate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// sizes are the number of tasks of a usual phase and of the largest phases.
var sizes = []int{1000, 1_000_000}

func eachSize(b *testing.B, run func(b *testing.B, e *Empirical, values []float64)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("samples=%d", n), func(b *testing.B) {
			e, values := filled(n)
			b.ReportAllocs()
			b.ResetTimer()
			run(b, e, values)
			b.StopTimer()
			b.ReportMetric(bytesPerValue(e), "B/sample")
		})
	}
}

// filled returns an Empirical of n values in [0, 1), and n of its values in random order.
func filled(n int) (*Empirical, []float64) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	e, values := new(Empirical), make([]float64, n)
	for i := range values {
		values[i] = random.Float64()
		e.Insert(values[i])
	}
	return e, values
}

func bytesPerValue(e *Empirical) float64 {
	return float64(e.values.bytes()) / float64(e.Len())
}

func BenchmarkEmpiricalInsertDelete(b *testing.B) {
	eachSize(b, func(b *testing.B, e *Empirical, values []float64) {
		random := rand.New(rand.NewPCG(2, 2))
		for i := range b.N {
			old := &values[i%len(values)]
			e.Delete(*old)
			*old = random.Float64()
			e.Insert(*old)
		}
	})
}

func BenchmarkEmpiricalBelow(b *testing.B) {
	eachSize(b, func(b *testing.B, e *Empirical, values []float64) {
		sum := 0.0
		for i := range b.N {
			sum += e.Below(values[i%len(values)])
		}
		sink = sum
	})
}

func BenchmarkEmpiricalQuantile(b *testing.B) {
	eachSize(b, func(b *testing.B, e *Empirical, values []float64) {
		sum := 0.0
		for i := range b.N {
			sum += e.Quantile(values[i%len(values)])
		}
		sink = sum
	})
}

func BenchmarkUnitTimesRunning(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("running=%d", n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(3, 3))
			rates, _ := NewUnitTimes(UnitTimesConfig{})
			ids := make([]int, n)
			works := make([]float64, n)
			for i := range ids {
				works[i] = 1 + random.Float64()
				ids[i] = rates.Running(NoSample, ran(random.Float64(), works[i]))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				ids[i%n] = rates.Running(ids[i%n], ran(random.Float64(), works[i%n]))
			}
		})
	}
}

func BenchmarkLinearReport(b *testing.B) {
	model := Linear{Window: time.Minute, Grace: 10 * time.Second}
	var p Progress
	sum := time.Duration(0)
	b.ReportAllocs()
	for i := range b.N {
		age := time.Duration(i) * time.Second
		model.Report(&p, age, float64(i))
		sum += model.Remaining(&p, age, 1e12)
	}
	sink = float64(sum)
}

func BenchmarkFreshBelow(b *testing.B) {
	eachSize(b, func(b *testing.B, e *Empirical, values []float64) {
		fresh, sum := Fresh{UnitTime: e, Work: 100, Lag: time.Second}, 0.0
		for i := range b.N {
			sum += fresh.Below(100 * values[i%len(values)])
		}
		sink = sum
	})
}

// sink keeps the compiler from removing the computations of a benchmark.
var sink float64
