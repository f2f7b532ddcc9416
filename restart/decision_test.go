package restart_test

import (
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
)

func TestNamesAreCompleteAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for a := restart.Keep; a <= restart.Start; a++ {
		assert.Regexp(t, `^[a-z-]+$`, a.String())
		assert.False(t, seen[a.String()], a.String())
		seen[a.String()] = true
	}
	assert.Equal(t, "Action(5)", (restart.Start + 1).String())
	for r := restart.NoReason; r <= restart.FurthestOn; r++ {
		assert.Regexp(t, `^[a-z-]+$`, r.String())
		assert.False(t, seen[r.String()], r.String())
		seen[r.String()] = true
	}
	assert.Equal(t, "Reason("+strconv.Itoa(int(restart.FurthestOn)+1)+")", (restart.FurthestOn + 1).String())
}

// Names and values are stable: hosts log and store them.
func TestNamesAreStable(t *testing.T) {
	for r, want := range map[restart.Reason]string{
		0: "no-reason", 1: "fresh-sooner", 2: "saves-resources", 3: "idle-slot", 4: "slower-copy", 5: "longest-to-end",
		6: "behind-average", 7: "near-end", 8: "beyond-peers", 9: "largest-work", 10: "not-slow", 11: "no-estimate",
		12: "too-young", 13: "too-few-finished", 14: "tasks-waiting", 15: "no-free-slot", 16: "enough-copies",
		17: "copy-too-recent", 18: "restarts-spent", 19: "cap-reached", 20: "budget-spent", 21: "not-eligible",
		22: "slow-machine", 23: "same-machine", 24: "nothing-to-do", 25: "not-running", 26: "disabled", 27: "overtaken", 28: "no-progress",
		29: "bad-units", 30: "unlikely", 31: "leaving", 32: "cloned", 33: "bad-answer",
	} {
		assert.Equal(t, want, r.String())
	}
}

func TestDecisionPrintsWhatWasUsed(t *testing.T) {
	assert.Equal(t, "keep no-reason", restart.Decision{}.String())
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: time.Hour, Fresh: estimate.Unknown}
	assert.Equal(t, "keep no-estimate remaining=3600s fresh=?", d.String())
	fields := d.LogValue().Group()
	assert.Equal(t, "unknown", fields[len(fields)-1].Value.String())
	d = restart.Decision{Action: restart.Kill, Reason: restart.SlowerCopy, Copy: 2}
	assert.Equal(t, "kill slower-copy copy=2", d.String())
	d = restart.Decision{Reason: restart.NotSlow, Value: 2.5, Threshold: 3, Gain: math.MaxInt64}
	assert.Equal(t, "keep not-slow value=2.5 threshold=3 gain=9.22337e+09s", d.String())
}

func TestAvoidLeavesOneMachine(t *testing.T) {
	task := one(time.Hour, 1)
	task.Copies[0].Machine = 4
	task.Tried = []int{3, 4, -1, 2, 9, 8, 7, 6, math.MaxInt}
	for machines, want := range map[int][]int{
		0: {4, 3, 2, 9, 8, 7}, 1: nil, 2: {4}, 4: {4, 3, 2}, 100: {4, 3, 2, 9, 8, 7}, -5: {4, 3, 2, 9, 8, 7},
	} {
		p := scarce
		p.Machines = machines
		avoid := restart.Decide(task, p).Avoid
		var got []int
		for i := range avoid.Len() {
			got = append(got, avoid.At(i))
			assert.True(t, avoid.Has(avoid.At(i)))
		}
		assert.Equal(t, want, got, "%d machines", machines)
		assert.Equal(t, -1, avoid.At(avoid.Len()))
		assert.Equal(t, -1, avoid.At(-1))
		assert.False(t, avoid.Has(-1))
	}
	assert.LessOrEqual(t, restart.Decide(task, scarce).Avoid.Len(), restart.MaxAvoid)
}

func TestNextWithoutWork(t *testing.T) {
	nan := math.NaN()
	i, d := restart.Next(restart.Never{}, []restart.Task{one(time.Hour, 1)}, nil, idle)
	assert.Equal(t, -1, i)
	assert.Equal(t, restart.Decision{Reason: restart.NothingToDo}, d)
	for want, works := range map[int][]float64{0: {nan, nan}, 1: {nan, 1, 1}, 2: {1, nan, 2}} {
		i, d := restart.Next(restart.Never{}, nil, works, idle)
		assert.Equal(t, want, i, "%v", works)
		assert.Equal(t, restart.Start, d.Action)
	}
	i, d = restart.Next(nil, []restart.Task{one(time.Hour, 1)}, nil, idle) // nil is Mantri
	assert.Equal(t, 0, i)
	assert.Equal(t, restart.IdleSlot, d.Reason)
}

// Policies are values without state: many goroutines may share them, their facts and their distributions.
func TestPoliciesAreSafeForConcurrentUse(t *testing.T) {
	rate := empirical(100)
	tasks, phase := ring(50, rate)
	phase.Finished, phase.FreeSlots = 50, 10
	phase.Peers = restart.Peers{Durations: rate, UnitTimes: rate, ProgressRates: rate, MeanScore: 0.8, Throughput: 1}
	for _, policy := range policytest.Policies() {
		want := make([]restart.Decision, len(tasks))
		for i := range tasks {
			want[i] = policy.Decide(tasks[i], phase)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for i := range tasks {
					if got := policy.Decide(tasks[i], phase); got != want[i] {
						t.Errorf("%v, want %v", got, want[i])
					}
				}
			})
		}
		group.Wait()
	}
}
