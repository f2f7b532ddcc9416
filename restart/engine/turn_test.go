package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// A turn lists each task that was given up once, in ascending order, and the first turn after a restore lists all again.
func TestATurnListsWhatIsNew(t *testing.T) {
	c := engine.Config{Tasks: 4, Slots: 4, Interval: time.Second, MaxFailures: 1, Policy: restart.Never{}}
	p, err := engine.New(c)
	require.NoError(t, err)
	failed := func(tasks ...int) (list []engine.Attempt) {
		for _, task := range tasks {
			list = append(list, engine.Attempt{ID: fmt.Sprint(task, ".0"), Task: task, State: engine.Failed})
		}
		return list
	}
	p.Push(at(0), nil)
	assert.Equal(t, []int{1, 3}, p.Push(at(1), failed(3, 1)).GivenUp)
	assert.Empty(t, p.Push(at(2), nil).GivenUp)
	assert.Equal(t, []int{0}, p.Push(at(3), failed(0)).GivenUp)
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	again, err := engine.Restore(c, engine.Saved{Snapshot: data})
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 3}, again.Push(at(4), nil).GivenUp)
	assert.Empty(t, again.Push(at(5), nil).GivenUp)
}

// A task that rests is listed once, although the engine begins an attempt of it that fails, too.
func TestATurnListsARestOnce(t *testing.T) {
	for _, preloaded := range []bool{false, true} {
		p, err := engine.New(engine.Config{
			Tasks: 1, Slots: 1, Interval: time.Second, Policy: restart.Never{}, Preloaded: preloaded,
			BackOff: func(int, int) time.Duration { return 3 * time.Second },
		})
		require.NoError(t, err)
		p.Push(at(0), nil)
		p.Push(at(1), []engine.Attempt{{ID: "0.0", State: engine.Failed}})
		turn := p.Push(at(2), []engine.Attempt{{ID: "own", State: engine.Failed}})
		assert.Equal(t, []engine.Rest{{Task: 0, Failures: 2, For: 3 * time.Second}}, turn.Rests)
		assert.Empty(t, turn.Actions)
		assert.Empty(t, p.Push(at(4), nil).Actions)
		turn = p.Push(at(5), nil)
		assert.Empty(t, turn.Rests)
		require.Len(t, turn.Actions, 1, "preloaded: %t", preloaded)
		assert.Equal(t, engine.Submit, turn.Actions[0].Op)
	}
}

// A poll that has nothing to say allocates next to nothing, although slots are idle.
func TestAQuietPollIsCheap(t *testing.T) {
	const tasks = 20_000
	p, err := engine.New(engine.Config{Tasks: tasks, Slots: 2 * tasks, Interval: time.Second, Policy: restart.Never{}})
	require.NoError(t, err)
	var list []engine.Attempt
	for _, a := range p.Push(at(0), nil).Actions {
		list = append(list, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Running, Begun: at(0)})
	}
	p.Push(at(1), list)
	p.Push(at(2), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range 10 {
		p.Push(at(float64(3+k)), nil)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200_000))
}

// An order that names a task twice, or a task that does not wait, is ignored each time.
func TestAWrongOrderIsIgnoredEachTime(t *testing.T) {
	calls := 0
	p, err := engine.New(engine.Config{
		Tasks: 4, Slots: 1, Interval: time.Second, Policy: restart.Never{},
		Order: func(_ time.Time, waiting []int) {
			if calls++; calls == 1 {
				waiting[0] = waiting[1]
			} else {
				waiting[0] = 0 // it runs
			}
		},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"submit 0.0"}, lines(p.Push(at(0), nil).Actions))
	p.SetSlots(2)
	turn := p.Push(at(1), []engine.Attempt{{ID: "0.0", State: engine.Running}})
	assert.Equal(t, []string{"submit 1.0"}, lines(turn.Actions))
	assert.Equal(t, 2, p.Ledger().Ignored)
}
