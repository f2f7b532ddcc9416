package tracker_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// locked is a record and a budget with a lock, for trackers on several goroutines.
type locked struct {
	mu     sync.Mutex
	record *machines.Record
	budget *tracker.Budget
}

func (l *locked) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *locked) Allows() (is bool)   { l.do(func() { is = l.budget.Allows() }); return is }
func (l *locked) TaskStarted()        { l.do(l.budget.TaskStarted) }
func (l *locked) CopyLaunched()       { l.do(l.budget.CopyLaunched) }
func (l *locked) CopyEnded()          { l.do(l.budget.CopyEnded) }
func (l *locked) SlotsChanged(by int) { l.do(func() { l.budget.SlotsChanged(by) }) }
func (l *locked) AppendAvoid(d []int) []int {
	l.do(func() { d = l.record.AppendAvoid(d) })
	return d
}

func (l *locked) Factor(machine int) (f float64) {
	l.do(func() { f = l.record.Factor(machine) })
	return f
}

func (l *locked) Elsewhere(others ...int) (f float64, known int) {
	l.do(func() { f, known = l.record.Elsewhere(others...) })
	return f, known
}

func (l *locked) Judge(machine int) (v machines.Verdict) {
	l.do(func() { v = l.record.Judge(machine) })
	return v
}

func (l *locked) Join() (m machines.Member) {
	l.do(func() { m = l.record.Join() })
	return m
}

func (l *locked) Running(now time.Time, machine int, key uint64, a machines.Attempt) (is bool) {
	l.do(func() { is = l.record.Running(now, machine, key, a) })
	return is
}

func (l *locked) End(now time.Time, machine int, key uint64, a machines.Attempt, how machines.Outcome) (is bool) {
	l.do(func() { is = l.record.End(now, machine, key, a, how) })
	return is
}

func (l *locked) AddProgress(now time.Time, machine int, change float64) (is bool) {
	l.do(func() { is = l.record.AddProgress(now, machine, change) })
	return is
}

// Progress returns a copy of the distribution, because others may change it once the lock is open.
func (l *locked) Progress(machine int) (total float64, of *estimate.Empirical) {
	l.do(func() {
		var all *estimate.Empirical
		if total, all = l.record.Progress(machine); all != nil {
			text, _ := all.MarshalBinary()
			of = new(estimate.Empirical)
			_ = of.UnmarshalBinary(text)
		}
	})
	return total, of
}

// Trackers on several goroutines share a budget and a record that lock. There is no data race, and the budget gets
// back all that was taken.
func TestSharedByGoroutines(t *testing.T) {
	// The four phases have four clocks, in random order. The record takes the difference between two clocks for time
	// that has passed, so evidence must not fade in that time. A real host has one clock for all.
	record, err := machines.New(machines.Config{HalfLife: 1e5 * time.Hour})
	require.NoError(t, err)
	shared := &locked{record: record, budget: newBudget(t, tracker.BudgetConfig{})}
	var group sync.WaitGroup
	for phase := range uint64(4) {
		group.Go(func() {
			var policy restart.Policy = restart.Mantri{}
			if phase%2 > 0 {
				policy = rules.LATE{MinAge: restart.Off}
			}
			rng := rand.New(rand.NewPCG(phase, 1))
			s := newSim(t, tracker.Config{
				Tasks: 60, Machines: 6, Interval: time.Second, Policy: policy, Record: shared, Budget: shared,
			}, func(_, _, machine int) time.Duration { return seconds((10 + 5*rng.Float64()) * float64(1+machine/5*4)) })
			s.run(t)
			s.tracker.Close(at(1e6))
		})
	}
	group.Wait()
	assert.Zero(t, shared.budget.Running())
	assert.Greater(t, record.Factor(5), 2.)
}
