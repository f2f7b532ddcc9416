package laxity

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

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

// The neighbours are those of scikit-learn's default, 20.
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
	d, _ := NewDetector(DetectorConfig{})
	var dst []Verdict
	b.Run("workers=84", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = d.Judge(dst[:0], laxities)
		}
	})
}

// One Update and one Pop with its Push, of a queue that stays full.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			q := new(Queue)
			now := time.Unix(0, 0)
			job := func() Job {
				return Job{Left: time.Duration(r.IntN(2e9)), Projected: time.Duration(r.IntN(1e9))}
			}
			for range n {
				q.Push(now, job())
			}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(100)
				q.Update(now, r.IntN(n), job())
				q.Pop(now)
				q.Push(now, job())
			}
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	jobs := make([]Job, 1000)
	for i := range jobs {
		jobs[i] = Job{Left: time.Duration(r.IntN(2e9)), Projected: time.Duration(r.IntN(1e9))}
	}
	dst := make([]int, 0, len(jobs))
	b.Run("jobs=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = Policy{}.Order(dst[:0], jobs)
		}
	})
}

// Jobs that all turn late and all leave need no more memory than they did when they came.
func TestQueueAllocatesOnlyWhenItGrows(t *testing.T) {
	now := time.Unix(0, 0)
	queues := make([]Queue, 11) // AllocsPerRun calls once more than it is told
	for i := range queues {
		for range 100 {
			queues[i].Push(now, Job{Left: 5, Projected: 1})
		}
	}
	next := 0
	assert.Zero(t, testing.AllocsPerRun(len(queues)-1, func() {
		q := &queues[next]
		next++
		for left := 100; left > 0; left-- {
			if c, _ := q.Pop(now.Add(time.Hour)); c.Reason != OnlyLate {
				t.Error(c)
			}
		}
		for range 100 {
			q.Push(now, Job{})
		}
	}))
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	values := benchValues(84)
	var s Scorer
	factors := make([]float64, 0, 84)
	laxities, _ := figure6(1, 20)
	d, _ := NewDetector(DetectorConfig{})
	verdicts := d.Judge(nil, laxities)
	q := new(Queue)
	now := time.Unix(0, 0)
	jobs := make([]Job, 50)
	for i := range jobs {
		jobs[i] = Job{Left: time.Duration(i * 7 % 50), Projected: 3}
		q.Push(now, jobs[i])
	}
	order := make([]int, 0, len(jobs))
	stages := [][]time.Duration{{1, 2}, {3}}
	for name, f := range map[string]func(){
		"Score":     func() { factors, _ = s.Score(factors[:0], values, 10, 0) },
		"Judge":     func() { verdicts = d.Judge(verdicts[:0], laxities) },
		"Order":     func() { order = Policy{Margin: 1}.Order(order[:0], jobs) },
		"Projected": func() { Projected(stages...) },
		"Queue": func() {
			now = now.Add(1)
			c, _ := q.Pop(now)
			q.Update(now, q.Push(now, Job{Left: c.Left, Projected: 1}), jobs[3])
			q.Preempt(now, jobs[4])
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
