package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// known returns machines that know a number of attempts of the kind "a", which took 10 s, or as long as their work.
func known(t *testing.T, attempts int, work []float64) *engine.Machines {
	x := new(engine.Machines)
	for i := range attempts {
		p, err := engine.New(engine.Config{Tasks: 1, Work: work, Slots: 1, Interval: time.Second, Machines: x, Kind: "a"})
		require.NoError(t, err)
		p.Poll(at(0), nil)
		p.Poll(at(11), []engine.Attempt{report("0.0", 0, engine.Succeeded, 0, 10)})
		p.Published("0.0")
		require.True(t, p.Done(), i)
		p.Close(at(11))
	}
	return x
}

// lasts returns after how many seconds the phase cancels the attempts of its only task, one attempt after another.
func lasts(t *testing.T, c engine.Config, attempts int) (seconds []float64) {
	c.Tasks, c.Slots, c.Interval, c.Policy, c.MaxFailures = 1, 1, time.Second, restart.Never{}, attempts
	p, err := engine.New(c)
	require.NoError(t, err)
	if c.Failures != nil {
		attempts -= c.Failures[0]
	}
	now := 100.
	actions := p.Poll(at(now), nil).Actions
	for number := range attempts {
		require.Equal(t, []string{fmt.Sprint("submit 0.", number)}, ids(actions))
		a := report(fmt.Sprint("0.", number), 0, engine.Running, now, 0)
		for cancelled := false; !cancelled && now < 1e5; {
			now++
			cancelled = slices.ContainsFunc(p.Poll(at(now), []engine.Attempt{a}).Actions, func(a engine.Action) bool {
				return a.Op == engine.Cancel
			})
		}
		seconds = append(seconds, now-a.Begun.Sub(at(0)).Seconds())
		a.State, a.Ended = engine.Cancelled, at(now)
		actions = p.Poll(at(now), []engine.Attempt{a}).Actions
	}
	assert.Equal(t, []int{0}, p.GivenUp())
	return seconds
}

// A timeout is learned from 32 run times. It is twice as long after each failure, and at most Config.Timeout.
func TestALearnedTimeout(t *testing.T) {
	c := engine.Config{Patience: 4, Timeout: 100 * time.Second, Machines: known(t, 32, nil), Kind: "a"}
	assert.Equal(t, []float64{40, 80, 100, 100}, lasts(t, c, 4))
	c.Timeout = 0
	assert.Equal(t, []float64{40, 80, 160, 320}, lasts(t, c, 4))
	c.Failures = []int{2}
	assert.Equal(t, []float64{160, 320}, lasts(t, c, 4), "two attempts failed before")
	c.Patience, c.Failures = 1, nil
	assert.Equal(t, []float64{20, 20, 40}, lasts(t, c, 3), "at least 20 intervals")
	c.Timeout, c.Patience, c.Work = 100*time.Second, 4, []float64{10}
	assert.Equal(t, []float64{100}, lasts(t, c, 1), "the kind has no times for a unit of work")
	c.Machines = known(t, 32, []float64{5})
	assert.Equal(t, []float64{80, 100}, lasts(t, c, 2), "ten seconds for half of the work")
	c.Work, c.Machines = nil, known(t, 31, nil)
	assert.Equal(t, []float64{100}, lasts(t, c, 1), "too little is known")
	c.Machines, c.Kind = known(t, 32, nil), ""
	assert.Equal(t, []float64{100}, lasts(t, c, 1))
	for _, bad := range []float64{-1, .5, 2e6} {
		_, err := engine.New(engine.Config{Tasks: 1, Interval: time.Second, Patience: bad})
		assert.ErrorContains(t, err, fmt.Sprintf("Config.Patience is %v, want 1 to 1e+06", bad))
	}
	_, err := engine.New(engine.Config{Tasks: 1, Interval: time.Second, Failures: []int{1, 2}})
	assert.ErrorContains(t, err, "Config.Failures is 2, want an element for each task, or nil")
}

// A timeout that is learned while an attempt runs holds for this attempt. A restored phase has the same timeout.
func TestATimeoutIsLearnedMeanwhile(t *testing.T) {
	x := known(t, 31, nil)
	c := engine.Config{Tasks: 1, Slots: 1, Interval: time.Second, Patience: 4, Machines: x, Kind: "a", Policy: restart.Never{}}
	p, err := engine.New(c)
	require.NoError(t, err)
	p.Poll(at(100), nil)
	running := []engine.Attempt{report("0.0", 0, engine.Running, 100, 0)}
	for now := 101.; now < 200; now++ {
		require.Empty(t, p.Poll(at(now), running).Actions)
	}
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	other, err := engine.New(engine.Config{Tasks: 1, Slots: 1, Interval: time.Second, Machines: x, Kind: "a"})
	require.NoError(t, err)
	other.Poll(at(150), nil)
	other.Poll(at(200), []engine.Attempt{report("0.0", 0, engine.Succeeded, 150, 199)})
	state, err := x.MarshalBinary()
	require.NoError(t, err)
	c.Machines = new(engine.Machines)
	require.NoError(t, c.Machines.UnmarshalBinary(state))
	restored, err := engine.Restore(c, engine.Saved{Snapshot: data})
	require.NoError(t, err)
	for _, p := range []*engine.Phase{p, restored} {
		for now := 200.; now < 296; now++ {
			require.Empty(t, p.Poll(at(now), running).Actions, "four times 49 s")
		}
		assert.Equal(t, []string{"cancel 0.0"}, ids(p.Poll(at(296), running).Actions))
	}
}
