package laxity

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// A queue returns its jobs in the order of Policy.Order, after any sequence of operations.
func TestAQueueEqualsSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		p := Policy{Rule: Rule(r.IntN(3))}
		q, err := NewQueue(p)
		require.NoError(t, err)
		now := time.Unix(500, 0)
		type model struct {
			job    Job // state at the time at
			at     time.Time
			ticket int
			rank   int
		}
		var held []model
		rank := 0
		for range 60 {
			switch k := r.IntN(10); {
			case k < 4:
				j := randomJob(r)
				held = append(held, model{j, now, q.Push(now, j), rank})
				rank++
			case k < 6 && len(held) > 0:
				i := r.IntN(len(held))
				held[i].job, held[i].at = randomJob(r), now
				require.True(t, q.Update(now, held[i].ticket, held[i].job))
			case k == 6 && len(held) > 0:
				i := r.IntN(len(held))
				require.True(t, q.Remove(held[i].ticket))
				held = slices.Delete(held, i, i+1)
			default:
				now = now.Add(time.Duration(r.IntN(4)))
			}
			require.Equal(t, len(held), q.Len())
		}
		slices.SortFunc(held, func(a, b model) int { return cmp.Compare(a.rank, b.rank) })
		jobs := make([]Job, len(held))
		for i, m := range held {
			jobs[i] = m.job
			if m.job.UntilDeadline != NoDeadline {
				jobs[i].UntilDeadline -= now.Sub(m.at)
			}
		}
		for _, i := range p.Order(nil, jobs) {
			c, ok := q.Pop(now)
			require.True(t, ok)
			require.Equal(t, held[i].ticket, c.Ticket)
			require.Equal(t, jobs[i].Laxity(), c.Laxity)
			require.Equal(t, jobs[i].UntilDeadline, c.UntilDeadline)
		}
		_, ok := q.Pop(now)
		require.False(t, ok)
	}
}

func randomJob(r *rand.Rand) Job {
	j := Job{UntilDeadline: time.Duration(r.IntN(30) - 5), Projected: time.Duration(r.IntN(20))}
	switch r.IntN(10) {
	case 0:
		j.UntilDeadline = NoDeadline
	case 1:
		j.Projected = estimate.Unknown
	}
	return j
}

// Neighbours in the order follow the rule: least laxity first, negative laxities last, and ties by index.
func TestNeighboursInTheOrderFollowTheRule(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		jobs := make([]Job, 1+r.IntN(12))
		for i := range jobs {
			jobs[i] = randomJob(r)
		}
		order := Order(jobs)
		require.ElementsMatch(t, seq(len(jobs)), order)
		for k := 1; k < len(order); k++ {
			a, b := jobs[order[k-1]].most(), jobs[order[k]].most()
			if (a < 0) == (b < 0) {
				require.LessOrEqual(t, a, b)
			} else {
				require.Negative(t, b)
			}
			if a == b && jobs[order[k-1]].UntilDeadline == jobs[order[k]].UntilDeadline {
				require.Less(t, order[k-1], order[k])
			}
		}
	}
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// The least laxity of a job's map tasks equals equation 3. The least laxity of a worker equals the least of its own tasks.
func TestViewsAgainstEquation3(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		left, reduce := time.Duration(r.IntN(100)), time.Duration(r.IntN(30))
		var maps []time.Duration
		var tasks []Task
		least := map[int]time.Duration{}
		for range 1 + r.IntN(20) {
			task := Task{Worker: r.IntN(4), UntilDeadline: left, Remaining: time.Duration(r.IntN(80)), After: reduce}
			maps, tasks = append(maps, task.Remaining), append(tasks, task)
			if before, ok := least[task.Worker]; !ok || task.Laxity() < before {
				least[task.Worker] = task.Laxity()
			}
		}
		workers, err := PerWorker(tasks, 4)
		require.NoError(t, err)
		job, n := NoDeadline, 0
		for w, summary := range workers {
			job, n = min(job, summary.Least), n+summary.Tasks
			if want, ok := least[w]; !ok {
				require.Equal(t, Summary{Least: NoDeadline, First: -1}, summary)
			} else {
				require.Equal(t, want, summary.Least)
				require.Equal(t, w, tasks[summary.First].Worker)
				require.Equal(t, want < 0, summary.Late > 0)
			}
		}
		require.Equal(t, Job{UntilDeadline: left, Projected: Projected(maps, []time.Duration{reduce})}.Laxity(), job)
		require.Equal(t, len(tasks), n)
	}
	sums, err := PerWorker([]Task{{Remaining: estimate.Unknown}, {After: estimate.Unknown, UntilDeadline: 3}}, 1)
	require.NoError(t, err)
	require.Equal(t, []Summary{{Tasks: 2, Unestimated: 2, Least: NoDeadline, First: -1}}, sums)
}
