package laxity

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// BenchmarkQueue measures an Update, a Pop and a Push, in a queue that stays full.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			q := new(Queue)
			now := time.Unix(0, 0)
			job := func() Job {
				return Job{UntilDeadline: time.Duration(r.IntN(2e9)), Projected: time.Duration(r.IntN(1e9))}
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
		jobs[i] = Job{UntilDeadline: time.Duration(r.IntN(2e9)), Projected: time.Duration(r.IntN(1e9))}
	}
	dst := make([]int, 0, len(jobs))
	b.Run("jobs=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = Policy{}.Order(dst[:0], jobs)
		}
	})
}

// A queue allocates memory when jobs arrive, and no more when all jobs become late and leave.
func TestQueueAllocatesOnlyWhenItGrows(t *testing.T) {
	now := time.Unix(0, 0)
	queues := make([]Queue, 11) // AllocsPerRun makes one additional call
	for i := range queues {
		for range 100 {
			queues[i].Push(now, Job{UntilDeadline: 5, Projected: 1})
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
	q := new(Queue)
	now := time.Unix(0, 0)
	jobs := make([]Job, 50)
	for i := range jobs {
		jobs[i] = Job{UntilDeadline: time.Duration(i * 7 % 50), Projected: 3}
		q.Push(now, jobs[i])
	}
	order := make([]int, 0, len(jobs))
	stages := [][]time.Duration{{1, 2}, {3}}
	for name, f := range map[string]func(){
		"Order":     func() { order = Policy{Margin: 1}.Order(order[:0], jobs) },
		"Projected": func() { Projected(stages...) },
		"Queue": func() {
			now = now.Add(1)
			c, _ := q.Pop(now)
			q.Update(now, q.Push(now, Job{UntilDeadline: c.UntilDeadline, Projected: 1}), jobs[3])
			q.Preempt(now, jobs[4])
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
