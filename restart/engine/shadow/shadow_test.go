package shadow

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

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

// A fast machine takes five seconds for a task, and a slow one ten. An attempt on the fast machine takes 60 s, and nothing
// says that it would take 120 s on the slow machine, where the simulation may place it: the batch took 61 s.
func TestASlowAttemptTakesAsLongOnEveryMachine(t *testing.T) {
	for _, fast := range []string{"a", "z"} {
		r := Record{Interval: 100 * time.Millisecond, Machines: []engine.Machine{{Name: "a", Slots: 2}, {Name: "z", Slots: 2}}}
		add := func(machine string, from, seconds time.Duration) {
			r.Attempts = append(r.Attempts, engine.Attempt{
				ID: fmt.Sprint(len(r.Attempts)), Task: len(r.Attempts), Machine: machine, State: engine.Succeeded,
				Begun: at(from * time.Second), Ended: at((from + seconds) * time.Second),
			})
		}
		slow := map[string]string{"a": "z", "z": "a"}[fast]
		add(fast, 1, 60)
		for i := range time.Duration(5) {
			add(fast, 5*i, 5)
			add(slow, 10*i, 10)
		}
		assert.InDelta(t, 61, replay(t, r).Without.Seconds(), 2, "the fast machine is %s", fast)
	}
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
	assert.Contains(t, b.String(), "%, by how many slow attempts were bad luck: ")
	b.Saved, b.AtMost, b.With, b.Without = -.024, .25, 10240*time.Millisecond, 10*time.Second
	b.Copies, b.Restarts = 7, 1
	assert.Equal(t, "saves -2 % to 25 %, by how many slow attempts were bad luck: 10.24s to 7.5s in place of 10s, "+
		"with 7 copies and 1 restarts", b.String())
}

// The shares of a sum are shares of the sum of the times.
func TestAdd(t *testing.T) {
	b := Bill{
		Tasks: 1, Without: 10 * time.Second, With: 5 * time.Second, SlotsWithout: 3, SlotsWith: 2, Copies: 4, Restarts: 6,
		Saved: .5, AtMost: .6,
	}
	b.Add(Bill{
		Tasks: 2, Without: 30 * time.Second, With: 33 * time.Second, SlotsWithout: 30, SlotsWith: 20, Copies: 40, Restarts: 60,
		Saved: -.1, AtMost: .2,
	})
	assert.InDelta(t, .05, b.Saved, 1e-12)
	assert.InDelta(t, .3, b.AtMost, 1e-12)
	b.Saved, b.AtMost = 0, 0
	assert.Equal(t, Bill{
		Tasks: 3, Without: 40 * time.Second, With: 38 * time.Second, SlotsWithout: 33, SlotsWith: 22, Copies: 44, Restarts: 66,
	}, b)
	var none Bill
	none.Add(Bill{})
	assert.Equal(t, Bill{}, none)
	none.Add(Bill{Why: "too large"})
	none.Add(Bill{Why: "too long"})
	assert.Equal(t, "there is no bill: too large", none.String())
	none.Add(Bill{Tasks: 1})
	assert.Equal(t, "saves 0 %: 0s in place of 0s, with 0 copies and 0 restarts", none.String())
	assert.Equal(t, "costs 10 %: 11s in place of 10s, with 0 copies and 0 restarts",
		Bill{Tasks: 1, Without: 10 * time.Second, With: 11 * time.Second, Saved: -.1, AtMost: -.1}.String())
}

// onlyIf copies or restarts each slow task once, as it says, if the phase allows it.
type onlyIf struct{ action restart.Action }

func (o onlyIf) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	refused := t.NoCopy
	if o.action == restart.Restart {
		refused = t.NoRestart
	}
	if refused || len(t.Attempts) != 1 || t.Copies+t.Restarts > 0 || t.Attempts[0].Elapsed < 20*time.Second {
		return restart.Decision{}
	}
	return restart.Decision{Action: o.action, Reason: restart.FreshSooner, Gain: 1}
}

// A task that may be copied and not restarted is copied in the bill, and the other way round.
func TestTasksThatMayOnlyBeCopiedOrRestarted(t *testing.T) {
	r := record(func(task int, a *engine.Attempt) []engine.Attempt {
		if task%12 == 5 {
			a.Ended = a.Begun.Add(60 * time.Second)
		}
		return nil
	})
	all := make([]bool, 96)
	for i := range all {
		all[i] = true
	}
	for _, c := range []struct {
		noCopy, noRestart []bool
		copies, restarts  bool
	}{{nil, nil, true, true}, {nil, all, true, false}, {all, nil, false, true}, {all, all, false, false}} {
		r.NoCopy, r.NoRestart = c.noCopy, c.noRestart
		b, err := Replay(r, onlyIf{restart.Copy}, restart.Limits{})
		require.NoError(t, err)
		assert.Equal(t, c.copies, b.Copies > 0, "%v", b)
		b, err = Replay(r, onlyIf{restart.Restart}, restart.Limits{})
		require.NoError(t, err)
		assert.Equal(t, c.restarts, b.Restarts > 0, "%v", b)
	}
}

// The model has the factors of the machines, and the times of the tasks on a machine of factor 1.
func TestModel(t *testing.T) {
	r := record(func(task int, a *engine.Attempt) (more []engine.Attempt) {
		a.Ended = a.Begun.Add(10 * time.Second)
		switch {
		case a.Machine == "n3":
			a.Ended = a.Begun.Add(40 * time.Second)
		case task == 20: // hangs until the timeout, and is tried again
			again := *a
			a.State, a.Ended = engine.Cancelled, a.Begun.Add(300*time.Second)
			more = append(more, again)
		case task == 21: // fails, and is tried again
			again := *a
			a.State, a.Ended = engine.Failed, a.Begun.Add(2*time.Second)
			more = append(more, again)
		case task == 22: // passes the timeout, and counts as failed
			again := *a
			a.State, a.Ended = engine.Failed, a.Begun.Add(300*time.Second)
			more = append(more, again)
		case task == 24:
			a.Ended = a.Begun.Add(50 * time.Second)
		case task == 25: // has not ended
			a.State, a.Ended = engine.Running, time.Time{}
		}
		return more
	})
	m := r.model()
	require.Len(t, m.tasks, 95)
	assert.Equal(t, map[string]float64{"n0": 1, "n1": 1, "n2": 1, "n3": 4}, m.factor)
	assert.Equal(t, 10.0, m.median)
	assert.Equal(t, []attempt{{300, true, engine.Cancelled, true}, {10, false, engine.Succeeded, false}}, m.tasks[20].attempts)
	assert.Equal(t, []attempt{{2, false, engine.Failed, false}, {10, false, engine.Succeeded, false}}, m.tasks[21].attempts)
	assert.Equal(t, []attempt{{300, true, engine.Failed, true}, {10, false, engine.Succeeded, false}}, m.tasks[22].attempts)
	assert.Equal(t, 50.0, m.tasks[24].seconds)
	m.takeSlowForLuck()
	for _, task := range m.tasks {
		assert.Equal(t, 10.0, task.seconds)
	}

	r.Work = make([]float64, 96)
	for i := range r.Work {
		r.Work[i] = 2
	}
	m = r.model()
	assert.Equal(t, 5.0, m.median, "per unit of work")
	m.takeSlowForLuck()
	assert.Equal(t, 10.0, m.tasks[24].seconds)
	assert.Equal(t, 2.0, m.works[24])
	assert.Equal(t, 2.5, median([]float64{4, 1, 2, 3}))
	assert.Equal(t, 2.0, median([]float64{3, 2, 1}))
}

func TestRubbish(t *testing.T) {
	b := replay(t, Record{Interval: 1})
	assert.Equal(t, "there is no bill: shadow mode is off, or no task has ended", b.String())
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
	assert.EqualError(t, err, "restart/engine/shadow: Record.Machines has 0 slots, want 1 or more")
}

// A simulation that would take for ever, or whose batch never ends, is an error, not a bill of the part that has ended.
func TestASimulationThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	waits := recordWithPause(0)
	waits.BackOff = func(int, int) time.Duration { return math.MaxInt64 }
	_, err := Replay(waits, restart.Never{}, restart.Limits{})
	assert.ErrorContains(t, err, "restart/engine/shadow: the simulation of 96 tasks did not end in ")
	if os.Getenv("STRAGGLER_LIVES") == "" {
		return
	}
	fine := record(func(int, *engine.Attempt) []engine.Attempt { return nil })
	fine.Interval = time.Microsecond
	_, err = Replay(fine, restart.Never{}, restart.Limits{})
	assert.ErrorContains(t, err, "did not end in ")
}

// recordWithPause returns a batch in which a task fails, waits for a pause, and is tried again.
func recordWithPause(pause time.Duration) Record {
	r := record(func(task int, a *engine.Attempt) (more []engine.Attempt) {
		if task == 40 {
			again := *a
			again.Begun, again.Ended = a.Ended.Add(pause), a.Ended.Add(pause+10*time.Second)
			a.State, more = engine.Failed, append(more, again)
		}
		return more
	})
	r.BackOff = func(int, int) time.Duration { return pause }
	return r
}

// A back-off that is much longer than the batch is in the bill.
func TestLongBackOff(t *testing.T) {
	b := replay(t, recordWithPause(2*time.Hour))
	assert.Greater(t, b.Without, 2*time.Hour)
	assert.Greater(t, b.With, 2*time.Hour)
}
