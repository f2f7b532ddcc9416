package outlier

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func benchValues(n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	values := make([]float64, n)
	for i := range values {
		values[i] = 1650 + 20*r.NormFloat64()
	}
	return values
}

// BenchmarkLOF uses 20 neighbours, the default of scikit-learn.
func BenchmarkLOF(b *testing.B) {
	for _, n := range []int{84, 1000, 100000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			values := benchValues(n)
			var s Scorer
			dst, _ := s.Score(nil, values, 20, 0) // the first call allocates
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = s.Score(dst[:0], values, 20, 0)
			}
		})
	}
}

func BenchmarkDetector(b *testing.B) {
	laxities, _ := figure6(1, 20)
	d, _ := NewDetector(Config{})
	var dst []Verdict
	b.Run("workers=84", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = d.Detect(dst[:0], laxities)
		}
	})
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	values := benchValues(84)
	var s Scorer
	factors := make([]float64, 0, 84)
	laxities, _ := figure6(1, 20)
	d, _ := NewDetector(Config{})
	verdicts := d.Detect(nil, laxities)
	for name, f := range map[string]func(){
		"Score":  func() { factors, _ = s.Score(factors[:0], values, 10, 0) },
		"Detect": func() { verdicts = d.Detect(verdicts[:0], laxities) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
