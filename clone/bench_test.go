package clone

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func BenchmarkCount(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		if c, err := Count(1+i%50, .1, .05); c < 2 || err != nil {
			b.Fatal(c, err)
		}
	}
}

// BenchmarkAdmit measures an admission and the release of the job, while a thousand other jobs are cloned.
func BenchmarkAdmit(b *testing.B) {
	budget, now := crowded(b, 1000)
	for b.Loop() {
		d := budget.Admit(Job{Tasks: 10}, now)
		if budget.Release(d.Grant, 10) != 30 {
			b.Fatal(d)
		}
	}
}

func BenchmarkVictims(b *testing.B) {
	for _, jobs := range []int{100, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			budget, now := crowded(b, jobs)
			now.Capacity = 20 * budget.Spent() // exactly spent
			dst := make([]Grant, 0, jobs)
			for b.Loop() {
				if got := budget.Victims(dst, Job{Tasks: 10}, now); len(got) == 0 {
					b.Fatal("no victim")
				}
			}
		})
	}
}

func BenchmarkEstimator(b *testing.B) {
	for _, tasks := range []int{10, 1000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			e, _ := NewEstimator(EstimatorConfig{})
			rates := make([]float64, tasks)
			for i := range rates {
				rates[i] = float64(i * 7919 % tasks)
			}
			for b.Loop() {
				e.Observe(time.Unix(0, 0), rates)
			}
		})
	}
}

func crowded(t testing.TB, jobs int) (*Budget, Cluster) {
	t.Helper()
	budget, err := NewBudget(Config{})
	require.NoError(t, err)
	now := Cluster{Capacity: 1 << 30, Straggler: .1}
	for i := range jobs {
		require.Equal(t, Clone, budget.Admit(Job{Tasks: 11 + i%37}, now).Action)
	}
	return budget, now
}

func TestNoAllocation(t *testing.T) {
	budget, now := crowded(t, 100)
	grants := make([]Grant, 0, 100)
	e, err := NewEstimator(EstimatorConfig{})
	require.NoError(t, err)
	rates := []float64{3, 1, 2, .1}
	list, err := NewBlacklist(50, BlacklistConfig{})
	require.NoError(t, err)
	clock := time.Unix(0, 0)
	budget.Cancel(budget.Admit(Job{Tasks: 10}, now).Grant)
	e.Observe(clock, rates)
	for name, f := range map[string]func(){
		"Count":    func() { _, _ = Count(10, .1, .05) },
		"Admit":    func() { budget.Cancel(budget.Admit(Job{Tasks: 10}, now).Grant) },
		"Victims":  func() { budget.Victims(grants, Job{Tasks: 10}, Cluster{Capacity: 3000, Straggler: .1}) },
		"Estimate": func() { e.Observe(clock, rates); e.P(clock) },
		"Blacklist": func() {
			clock = clock.Add(time.Minute)
			for i := range 50 {
				list.Observe(clock, i, i%3 == 0)
			}
			list.Banned(clock, 3)
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
