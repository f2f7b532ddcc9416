package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// living is a running phase of any size on four machines.
type living struct {
	*engine.Phase
	rng      *rand.Rand
	machines *engine.Machines
	now      time.Time
	runs     []engine.Attempt
}

func newLiving(t *testing.T, tasks int, seed uint64) *living {
	t.Helper()
	l := &living{rng: rand.New(rand.NewPCG(seed, uint64(tasks))), now: epoch}
	var machines []engine.Machine
	for i := range 4 {
		machines = append(machines, engine.Machine{Name: fmt.Sprint("h", i), Slots: 1 + tasks/40})
	}
	var err error
	l.machines, err = engine.NewMachines(engine.MachinesConfig{Machines: machines})
	require.NoError(t, err)
	l.Phase, err = engine.New(engine.Config{Work: make([]float64, tasks), Interval: time.Second, Machines: l.machines})
	require.NoError(t, err)
	return l
}

// step lets a second pass, in which some attempts report, end, fail or are lost.
func (l *living) step() {
	l.now = l.now.Add(time.Second)
	var list []engine.Attempt
	for _, a := range l.runs {
		switch chance := l.rng.IntN(100); {
		case chance < 40:
			a.State, a.Ended = engine.Succeeded, l.now
		case chance < 43:
			a.State, a.Ended = engine.Failed, l.now
		case chance < 44:
			a.State, a.Ended = engine.Lost, l.now
		case chance < 80:
			a.State, a.AsOf, a.Progress = engine.Running, l.now, tracker.Report{Done: l.rng.Float64()}
		}
		list = append(list, a)
	}
	l.runs = l.runs[:0]
	for _, a := range l.Poll(l.now, list).Actions {
		switch a.Op {
		case engine.Submit:
			l.runs = append(l.runs, engine.Attempt{ID: a.ID, Task: a.Task, Machine: a.Machine, State: engine.Running, Begun: l.now})
		case engine.Publish:
			l.Published(a.ID)
		}
	}
	for _, a := range list {
		if a.State <= engine.Running {
			l.runs = append(l.runs, a)
		}
	}
}

// restored returns the phase as a new scheduler restores it from these snapshots.
func restored(t *testing.T, machines, snapshot []byte) *engine.Phase {
	t.Helper()
	var h engine.Machines
	require.NoError(t, h.UnmarshalBinary(machines))
	p, err := engine.Restore(engine.Config{Machines: &h}, engine.Saved{Snapshot: snapshot})
	require.NoError(t, err)
	return p
}

// cases returns the number of cases of a long test: few, or all of them with STRAGGLER_LIVES.
func cases(few, all uint64) uint64 {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return all
	}
	return few
}

// A phase of any size is restored from its snapshot at any moment of its run: phases of five sizes at 4 moments. With
// STRAGGLER_LIVES, phases of nine sizes are restored at 50 moments.
func TestRestoreAtAnySizeAndMoment(t *testing.T) {
	sizes, moments := []int{0, 1, 40, 400, 20000}, 4
	if os.Getenv("STRAGGLER_LIVES") != "" {
		sizes, moments = []int{0, 1, 3, 40, 399, 400, 1000, 5000, 20000}, 50
	}
	for _, tasks := range sizes {
		l := newLiving(t, tasks, 1)
		for moment := range moments {
			snapshot, err := l.MarshalBinary()
			require.NoError(t, err)
			machines, err := l.machines.MarshalBinary()
			require.NoError(t, err)
			p := restored(t, machines, snapshot)
			again, err := p.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, snapshot, again, "%d tasks, moment %d", tasks, moment)
			require.Equal(t, l.Ledger(), p.Ledger(), "%d tasks, moment %d", tasks, moment)
			for range 1 + l.rng.IntN(2) {
				l.step()
			}
		}
	}
}

// pair is a phase of two tasks. The first attempts of both run.
func pair(t *testing.T) (p *engine.Phase, x, y engine.Attempt) {
	t.Helper()
	p, _ = newPhase(t, engine.Config{Tasks: 2, Slots: 2, Policy: restart.Never{}}, engine.MachinesConfig{})
	actions := p.Poll(at(0), nil).Actions
	x = engine.Attempt{ID: actions[0].ID, Task: 0, State: engine.Running, Begun: at(0)}
	y = engine.Attempt{ID: actions[1].ID, Task: 1, State: engine.Running, Begun: at(0)}
	p.Poll(at(1), []engine.Attempt{x, y})
	return p, x, y
}

func ended(a engine.Attempt, seconds float64) engine.Attempt {
	a.State, a.Ended = engine.Succeeded, at(seconds)
	return a
}

// A Publish that fails is requested again, and the phase is not done before a publication is confirmed.
func TestFailedPublishIsRepeated(t *testing.T) {
	p, x, y := pair(t)
	list := []engine.Attempt{ended(x, 2), ended(y, 2)}
	given := map[string]int{}
	for s := 3; s < 400; s++ { // the disk is full
		require.False(t, p.Done())
		for _, a := range p.Poll(at(float64(s)), list).Actions {
			given[a.String()]++
		}
	}
	assert.Equal(t, map[string]int{"publish 0.0": 9, "publish 1.0": 9}, given, "at 3, 5, 9, 17, 33 s ...")
	p.Published(x.ID)
	p.Published("nobody")
	assert.False(t, p.Done())
	require.Len(t, p.Outstanding(), 1)
	list[1].Published = true
	p.Poll(at(400), list)
	assert.True(t, p.Done())
	assert.Empty(t, p.Outstanding())
}

// Published confirms only an attempt that won its task.
func TestOnlyTheWinnerIsConfirmed(t *testing.T) {
	p, x, y := pair(t)
	p.Published(x.ID)
	for _, a := range p.Poll(at(3), []engine.Attempt{ended(x, 2), ended(y, 2)}).Actions {
		assert.Equal(t, engine.Publish, a.Op)
	}
	assert.False(t, p.Done(), "a confirmation before the win does not count")
}

// At its first poll a restored phase requests each publication that is not confirmed, however long ago the last
// request was.
func TestRestoredPhasePublishesAtOnce(t *testing.T) {
	p, x, y := pair(t)
	p.Poll(at(3), []engine.Attempt{ended(x, 2), ended(y, 2)})
	p.Published(x.ID)
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	other, err := engine.Restore(engine.Config{}, engine.Saved{Snapshot: data})
	require.NoError(t, err)
	assert.False(t, other.Done())
	actions := other.Poll(at(3.5), nil).Actions
	require.Len(t, actions, 1)
	assert.Equal(t, "publish 1.0", actions[0].String())
	other.Published(y.ID)
	assert.True(t, other.Done())
}

// A list that gives one ID to two tasks makes no sense. One task gets the attempt, and the other runs again.
func TestOneIDForTwoTasksRunsOneTaskAgain(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 2}, engine.MachinesConfig{})
	list := []engine.Attempt{
		{ID: "x", Task: 0, State: engine.Succeeded, Begun: at(1), Ended: at(3)},
		{ID: "x", Task: 1, State: engine.Succeeded, Begun: at(2), Ended: at(4)},
	}
	for s := range 3 {
		p.Poll(at(float64(10+s)), list)
	}
	assert.Equal(t, 1, p.Ledger().Finished)
	assert.Equal(t, 5, p.Ledger().Ignored, "twice the attempt changed its task, and then a list named it for both, in each poll")
}

// onTwoMachines is a phase on two machines with one slot each. Both attempts began at 1 s.
func onTwoMachines(t *testing.T, c engine.Config) (p *engine.Phase, machines *engine.Machines, run func(i int, asOf float64) engine.Attempt) {
	t.Helper()
	c.Policy = restart.Never{}
	p, machines = newPhase(t, c, engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
	actions := append([]engine.Action(nil), p.Poll(at(0), nil).Actions...)
	require.Len(t, actions, 2)
	return p, machines, func(i int, asOf float64) engine.Attempt {
		a := actions[i]
		return engine.Attempt{
			ID: a.ID, Task: a.Task, Machine: a.Machine, State: engine.Running, Begun: at(1), AsOf: at(asOf),
			Progress: tracker.Report{Done: asOf / 200},
		}
	}
}

// A machine dates a heartbeat before the cancel of its attempt, and the engine lists it afterwards. The
// machine's clock is treated as right.
func TestACancelMovesNoClock(t *testing.T) {
	p, machines, run := onTwoMachines(t, engine.Config{Tasks: 1, Clones: 2})
	p.Poll(at(2), []engine.Attempt{run(0, 1.5), run(1, 1.5)})
	won := ended(run(0, 99), 99.5)
	p.Poll(at(100), []engine.Attempt{won}) // cancels the other
	p.Poll(at(101), []engine.Attempt{won, run(1, 60)})
	assert.Zero(t, machines.ClockOffset(run(1, 60).Machine))
}

// An attempt is missing for a while and comes back with an old heartbeat. The clock of its machine is treated as
// right.
func TestAnAttemptThatComesBackMovesNoClock(t *testing.T) {
	p, machines, run := onTwoMachines(t, engine.Config{Tasks: 2})
	for s := 1.; s < 10; s++ {
		p.Poll(at(s), []engine.Attempt{run(0, s), run(1, s)})
	}
	for s := 10.; s < 60; s++ {
		p.Poll(at(s), []engine.Attempt{run(0, s)})
	}
	p.Poll(at(60), []engine.Attempt{run(0, 60), run(1, 40)})
	assert.Zero(t, machines.ClockOffset(run(1, 40).Machine))
}
