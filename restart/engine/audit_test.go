package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// audit is a phase with an independent set of books, which are slow and obviously right.
type audit struct {
	*engine.Phase
	t        *testing.T
	seed     uint64
	cluster  *cluster
	machines *engine.Machines
	limit    int          // bound of the budget on copies
	alone    map[int]bool // tasks that must not have two attempts at once
	won      map[int]bool
	attempts map[string]*audited
	said     []int // tasks that a turn has listed as given up
}

type audited struct {
	task             int
	machine          string
	cancelled, ended bool
}

func (a *audit) Poll(now time.Time, list []engine.Attempt) engine.Turn {
	for _, seen := range list {
		if seen.State == engine.Queued {
			continue
		}
		known := a.attempts[seen.ID]
		if known == nil {
			known = &audited{task: seen.Task}
			a.attempts[seen.ID] = known
		}
		if seen.Machine != "" {
			known.machine = seen.Machine
		}
		known.ended = seen.State >= engine.Succeeded
		a.won[seen.Task] = a.won[seen.Task] || seen.State == engine.Succeeded
	}
	outstanding := map[string]bool{}
	for _, r := range a.Outstanding() {
		outstanding[r.ID] = true
	}
	turn := a.Phase.Poll(now, list)
	require.Equal(a.t, append([]engine.Rest{}, a.Resting()...), append([]engine.Rest{}, turn.Rests...), "seed %d", a.seed)
	require.True(a.t, slices.IsSorted(turn.GivenUp), "seed %d", a.seed)
	for _, task := range turn.GivenUp {
		require.NotContains(a.t, a.said, task, "seed %d", a.seed)
	}
	a.said = append(a.said, turn.GivenUp...)
	require.ElementsMatch(a.t, a.GivenUp(), a.said, "seed %d", a.seed)
	for _, action := range turn.Actions {
		switch known := a.attempts[action.ID]; action.Op {
		case engine.Cancel:
			require.True(a.t, known != nil && !known.ended, "seed %d: %v", a.seed, action)
			require.True(a.t, !known.cancelled || outstanding[action.ID], "seed %d: %v", a.seed, action)
			known.cancelled = true
		case engine.Publish:
			require.True(a.t, known.ended && a.won[action.Task], "seed %d: %v", a.seed, action)
		case engine.Submit:
			if outstanding[action.ID] { // a repeated request
				require.Equal(a.t, known.machine, action.Machine)
				continue
			}
			require.Nil(a.t, known, "seed %d: %v", a.seed, action)
			a.submits(now, action)
			a.attempts[action.ID] = &audited{task: action.Task, machine: action.Machine}
		}
	}
	a.balance(now)
	return turn
}

// submits checks one submission: the attempts that already occupy slots must leave a free slot for it.
func (a *audit) submits(now time.Time, action engine.Action) {
	because := fmt.Sprintf("seed %d: %v", a.seed, action)
	require.False(a.t, a.won[action.Task] || slices.Contains(a.GivenUp(), action.Task), because)
	if a.alone[action.Task] {
		require.Zero(a.t, a.count(func(o *audited) bool { return o.task == action.Task && !o.ended }), because)
	}
	if a.cluster.places {
		return
	}
	require.Positive(a.t, a.free(action.Machine), because)
	if a.runs(action.Task, action.Machine) {
		require.False(a.t, slices.ContainsFunc(a.usable(now), func(machine string) bool {
			return a.free(machine) > 0 && !a.runs(action.Task, machine)
		}), because)
	}
}

// balance checks the state after all actions: the budget is not exceeded, and no task waits while a slot is free for
// it.
func (a *audit) balance(now time.Time) {
	copies := 0
	for task := range a.cluster.work {
		copies += max(a.count(func(o *audited) bool { return o.task == task && o.live() && !a.won[task] })-1, 0)
		if a.count(func(o *audited) bool { return o.task == task && o.live() }) == 0 && !a.cluster.places {
			a.waits(now, task)
		}
	}
	require.LessOrEqual(a.t, copies, a.limit, "seed %d", a.seed)
}

func (a *audit) waits(now time.Time, task int) {
	dying := a.count(func(o *audited) bool { return o.task == task && !o.ended })
	if a.won[task] || slices.Contains(a.GivenUp(), task) || a.alone[task] && dying > 0 {
		return
	}
	for _, machine := range a.usable(now) {
		tried := a.count(func(o *audited) bool { return o.task == task && o.machine == machine })
		require.True(a.t, tried > 0 || a.free(machine) <= 0, "seed %d: task %d waits, and %s is free", a.seed, task, machine)
	}
}

func (o *audited) live() bool { return !o.cancelled && !o.ended }

func (a *audit) count(is func(*audited) bool) (n int) {
	for _, o := range a.attempts {
		if is(o) {
			n++
		}
	}
	return n
}

func (a *audit) runs(task int, machine string) bool {
	return a.count(func(o *audited) bool { return o.task == task && o.machine == machine && o.live() }) > 0
}

func (a *audit) free(machine string) int {
	i := slices.IndexFunc(a.cluster.machines, func(h simMachine) bool { return h.Name == machine })
	return a.cluster.machines[i].Slots - a.count(func(o *audited) bool { return o.machine == machine && !o.ended })
}

// usable lists the machines that neither rest nor are slow, or all machines if there are none. No machine is
// down where the engine does not place.
func (a *audit) usable(now time.Time) (names []string) {
	resting := append(a.machines.Resting(now), a.machines.Slow()...)
	slices.Sort(resting)
	resting = slices.Compact(resting)
	for _, h := range a.cluster.machines {
		if !slices.Contains(resting, h.Name) || len(resting) == len(a.cluster.machines) {
			names = append(names, h.Name)
		}
	}
	return names
}

// On any cluster and under any policy, the phase's books agree with simple books that know only the lists and
// the actions.
func TestBooksAgreeWithAnAudit(t *testing.T) {
	t.Parallel()
	for seed := range cases(30, 200) {
		c, config := randomCluster(t, seed)
		a := &audit{
			t: t, seed: seed, cluster: c, machines: config.Machines, limit: 1 << 30,
			alone: map[int]bool{}, won: map[int]bool{}, attempts: map[string]*audited{},
		}
		rng := rand.New(rand.NewPCG(seed, 11))
		if rng.IntN(2) == 0 {
			slots := 10 + rng.IntN(20)
			config.Clones, a.limit = 0, max(slots/5, 3)
			var err error
			config.Budget, err = tracker.NewBudget(tracker.BudgetConfig{Slots: slots, Share: 0.2, Rate: restart.Off})
			require.NoError(t, err)
		}
		var err error
		a.Phase, err = engine.New(config)
		require.NoError(t, err)
		_, custom := config.Policy.(eager) // eager ignores every limit, and kills for copies that wait on a dead machine
		for task := range c.work {
			if !custom && rng.IntN(4) == 0 {
				a.alone[task] = true
				a.SetEligible(task, false, true)
			}
		}
		drive(t, c, a, period, func() {
			if !custom && !c.places && len(c.machines) > 1 && rng.IntN(500) == 0 {
				c.machines[1].dead = true
			}
		})
	}
}
