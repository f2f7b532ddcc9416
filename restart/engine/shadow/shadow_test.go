package shadow

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// record returns a batch of 96 tasks of ten seconds on four machines with four slots, as it ran without a policy, and
// lets change change each attempt.
func record(change func(task int, a *engine.Attempt) (more []engine.Attempt)) Record {
	r := Record{Interval: time.Second, Lag: 100 * time.Millisecond, Timeout: 300 * time.Second}
	for m := range 4 {
		r.Machines = append(r.Machines, engine.Machine{Name: fmt.Sprint("n", m), Slots: 4})
	}
	for task := range 96 {
		wave := task / 16
		begun := at(time.Duration(wave) * 10 * time.Second)
		a := engine.Attempt{
			ID: fmt.Sprint(task, ".0"), Task: task, Machine: fmt.Sprint("n", task%4), State: engine.Succeeded,
			Begun: begun, Ended: begun.Add(10*time.Second + time.Duration(task%7)*100*time.Millisecond),
		}
		more := change(task, &a)
		r.Attempts = append(append(r.Attempts, a), more...)
	}
	return r
}

func replay(t *testing.T, r Record) Bill {
	t.Helper()
	bill, err := Replay(r, nil, restart.Limits{})
	require.NoError(t, err)
	require.Equal(t, len(r.Attempts) > 0, bill.Tasks > 0)
	again, err := Replay(r, restart.LeastCost{}, restart.Limits{})
	require.NoError(t, err)
	require.Equal(t, bill, again, "nil means LeastCost, and a replay has no chance")
	return bill
}

func TestHealthyBatchSavesNothing(t *testing.T) {
	b := replay(t, record(func(int, *engine.Attempt) []engine.Attempt { return nil }))
	assert.InDelta(t, 0, b.Saved, .01, "%v", b)
	assert.Equal(t, b.Saved, b.AtMost)
	assert.InDelta(t, 64, b.Without.Seconds(), 3)
}

// A machine is four times slower, and copies elsewhere take the usual time.
func TestSlowMachineIsProven(t *testing.T) {
	b := replay(t, record(func(task int, a *engine.Attempt) []engine.Attempt {
		if a.Machine == "n3" {
			a.Ended = a.Begun.Add(4 * a.Ended.Sub(a.Begun))
		}
		return nil
	}))
	assert.Greater(t, b.Copies+b.Restarts, 0)
	assert.Greater(t, b.Saved, -.02, "%v", b)
}

// Two attempts hang until the hard timeout, and the next attempt of each task takes ten seconds.
func TestHungAttemptsAreProven(t *testing.T) {
	b := replay(t, record(func(task int, a *engine.Attempt) []engine.Attempt {
		if task != 20 && task != 40 {
			return nil
		}
		second := *a
		second.ID = fmt.Sprint(task, ".1")
		a.State, a.Ended = engine.Cancelled, a.Begun.Add(300*time.Second)
		second.Begun, second.Ended = a.Ended, a.Ended.Add(10*time.Second)
		return []engine.Attempt{second}
	}))
	assert.Greater(t, b.Saved, .7, "%v", b)
	assert.InDelta(t, 6, b.Copies+b.Restarts, 4, "two, and some when slots are idle")
}

// Eight tasks take six times as long, and nothing tells whether a second attempt would, too. The bill proves no saving,
// and says what there may be.
func TestLongTasksAreNotProven(t *testing.T) {
	b := replay(t, record(func(task int, a *engine.Attempt) []engine.Attempt {
		if task%12 == 5 {
			a.Ended = a.Begun.Add(6 * a.Ended.Sub(a.Begun))
		}
		return nil
	}))
	assert.InDelta(t, 0, b.Saved, .05, "%v", b)
	assert.Greater(t, b.AtMost, .2, "%v", b)
	assert.Contains(t, b.String(), "% if slow attempts were bad luck")
}

func TestRubbish(t *testing.T) {
	b := replay(t, Record{Interval: 1})
	assert.Equal(t, "no task has ended", b.String())
	_, err := Replay(Record{}, nil, restart.Limits{})
	assert.EqualError(t, err, "restart/engine/shadow: Record.Interval is 0s, want a positive duration")
	_, err = Replay(Record{Interval: 1, Lag: -1}, nil, restart.Limits{})
	assert.ErrorContains(t, err, "Lag is -1ns")
	large := Record{Interval: 1, Machines: []engine.Machine{{Name: "n", Slots: 3000}}}
	for task := range 3000 {
		large.Attempts = append(large.Attempts, engine.Attempt{
			ID: fmt.Sprint(task), Task: task, Machine: "n", State: engine.Succeeded, Begun: at(0), Ended: at(1),
		})
	}
	_, err = Replay(large, nil, restart.Limits{})
	assert.EqualError(t, err,
		"restart/engine/shadow: Record.Attempts has 3000 tasks on 3000 slots, want a product of 4000000 or less")
	odd := record(func(task int, a *engine.Attempt) []engine.Attempt {
		a.Begun, a.Ended = a.Ended, a.Begun // it ends before it begins
		return nil
	})
	odd.Work = []float64{-1, 0}
	b, err = Replay(odd, nil, restart.Limits{})
	require.NoError(t, err)
	assert.Equal(t, 96, b.Tasks)
	odd.Machines = nil
	_, err = Replay(odd, nil, restart.Limits{})
	require.NoError(t, err)
}
