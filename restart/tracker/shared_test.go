package tracker_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// locked is a budget that locks, for trackers on several goroutines.
type locked struct {
	mu     sync.Mutex
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

// Trackers on several goroutines share a budget that locks. Each has a Knowledge of its own, and the observations are
// passed on at the end. There is no data race, and at the end no copy uses the budget.
func TestSharedByGoroutines(t *testing.T) {
	shared := &locked{budget: newBudget(t, tracker.BudgetConfig{})}
	var group sync.WaitGroup
	var deltas [4][]byte
	for phase := range uint64(4) {
		group.Go(func() {
			var policy restart.Policy = restart.Mantri{}
			if phase%2 > 0 {
				policy = rules.LATE{MinAge: restart.Off}
			}
			rng := rand.New(rand.NewPCG(phase, 1))
			know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: fmt.Sprint("goroutine ", phase)}})
			assert.NoError(t, err)
			for machine := range 6 {
				know.Machines().SetName(machine, fmt.Sprint("m", machine))
			}
			s := newSim(t, tracker.Config{
				Tasks: 60, Machines: 6, Interval: time.Second, Policy: policy, Knowledge: know, Kind: "a", Budget: shared,
			}, func(_, _, machine int) time.Duration { return seconds((10 + 5*rng.Float64()) * float64(1+machine/5*4)) })
			s.run(t)
			s.tracker.Close(at(1e6))
			deltas[phase], err = know.AppendDelta(nil, nil)
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Zero(t, shared.budget.Running())
	know := knowing(t, tracker.KnowledgeConfig{Machines: machines.Config{Origin: "all", HalfLife: 1e5 * time.Hour}})
	know.Machines().SetName(5, "m5")
	for _, delta := range deltas {
		require.NoError(t, know.Merge(at(1e6), delta))
	}
	assert.Greater(t, know.Machines().Factor(5), 2.)
	_, known := know.Longest("a", 0)
	assert.Equal(t, 4*30, known, "each phase of 60 tasks adds the run times of 30")
}
