package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

func newPhase(t *testing.T, c engine.Config, machines engine.MachinesConfig) (*engine.Phase, *engine.Machines) {
	t.Helper()
	var err error
	c.Machines, err = engine.NewMachines(machines)
	require.NoError(t, err)
	c.Interval = time.Second
	p, err := engine.New(c)
	require.NoError(t, err)
	return p, c.Machines
}

// lines returns actions as text, without the publish actions.
func lines(actions []engine.Action) (text []string) {
	for _, a := range actions {
		if a.Op != engine.Publish {
			text = append(text, a.String())
		}
	}
	return text
}

func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

// An attempt that came and went between two polls still shows its machine.
func TestAttemptThatWasNeverSeenToRunStillShowsItsMachine(t *testing.T) {
	machines := engine.MachinesConfig{Machines: []engine.Machine{{Name: "a"}, {Name: "b"}}}
	for state, resting := range map[engine.State][]string{engine.Failed: nil, engine.Lost: {"a"}} {
		p, h := newPhase(t, engine.Config{Tasks: 1, Slots: 1}, machines)
		p.Poll(epoch, nil)
		actions := p.Poll(at(1), []engine.Attempt{{ID: "0.0", State: state, Machine: "a"}}).Actions
		assert.Equal(t, []string{"submit 0.1 not on a"}, lines(actions), "%v", state)
		assert.Equal(t, resting, h.Resting(at(1)))
	}
}

// An engine may learn only later where an attempt runs.
func TestMachineOfAnAttemptMayBeLearnedLate(t *testing.T) {
	p, h := newPhase(t, engine.Config{Tasks: 1, Slots: 1}, engine.MachinesConfig{})
	p.Poll(epoch, nil)
	p.Poll(at(1), []engine.Attempt{{ID: "0.0", State: engine.Running}})
	p.Poll(at(2), []engine.Attempt{{ID: "0.0", State: engine.Running, Machine: "a"}})
	p.Poll(at(3), []engine.Attempt{{ID: "0.0", State: engine.Lost}})
	assert.Equal(t, []string{"a"}, h.Resting(at(3)))
}

func TestOneIDForTwoTasksInAListStartsOneAttempt(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 2, Preloaded: true}, engine.MachinesConfig{})
	p.Poll(epoch, []engine.Attempt{{ID: "x", Task: 0, State: engine.Running}, {ID: "x", Task: 1, State: engine.Running}})
	assert.Equal(t, 1, p.Ledger().Started)
	assert.Equal(t, 1, p.Ledger().Ignored)
}

// A line after the end of an attempt, in one list, takes no slot.
func TestLineAfterTheEndTakesNoSlot(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 4},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
	require.Len(t, p.Poll(epoch, nil).Actions, 2)
	actions := p.Poll(at(1), []engine.Attempt{
		{ID: "0.0", State: engine.Succeeded}, {ID: "0.0", State: engine.Running, Machine: "b"},
	}).Actions
	assert.Equal(t, []string{"submit 2.0 on a"}, lines(actions))
	actions = p.Poll(at(2), []engine.Attempt{{ID: "1.0", Task: 1, State: engine.Succeeded}}).Actions
	assert.Equal(t, []string{"submit 3.0 on b"}, lines(actions), "b still has its slot")
}

// If an attempt of a waiting task appears and fails in one call, the task is submitted only once.
func TestTaskIsSubmittedOnceAfterItsAttemptComesAndFails(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1}, engine.MachinesConfig{})
	require.Empty(t, p.Poll(epoch, nil).Actions, "the phase has no slots")
	p.SetSlots(4)
	actions := p.Poll(at(1), []engine.Attempt{{ID: "x", State: engine.Failed}}).Actions
	assert.Len(t, actions, 1, "%v", actions)
}

// A restarted task whose machine goes down before it begins is submitted again, but the second submission is no
// restart.
func TestRestartIsNotDecidedTwice(t *testing.T) {
	p, h := newPhase(t, engine.Config{Tasks: 1, Policy: after(2 * time.Second)},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}, {Name: "c", Slots: 1}}})
	p.Poll(epoch, nil)
	actions := p.Poll(at(3), []engine.Attempt{{ID: "0.0", State: engine.Running, Begun: epoch}}).Actions
	require.Equal(t, "submit 0.1 on b not on a: restart beyond-peers attempt=0", actions[1].String())
	h.SetDown("b", true)
	assert.Equal(t, []string{"cancel 0.1 on b", "submit 0.2 on c not on a"}, lines(p.Poll(at(4), nil).Actions))
}

// An attempt of a task that was given up is cancelled, and no decision says that another attempt won.
func TestAttemptOfAGivenUpTaskIsCancelled(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1, Slots: 1, MaxFailures: 1}, engine.MachinesConfig{})
	p.Poll(epoch, nil)
	p.Poll(at(1), []engine.Attempt{{ID: "0.0", State: engine.Failed}})
	require.Equal(t, []int{0}, p.GivenUp())
	assert.Equal(t, []string{"cancel x"}, lines(p.Poll(at(2), []engine.Attempt{{ID: "x", State: engine.Running}}).Actions))
}

// A loss that is reported late does not shorten the rest of its machine.
func TestRestIsNotShortened(t *testing.T) {
	p, h := newPhase(t, engine.Config{Tasks: 2, Slots: 2}, engine.MachinesConfig{Rest: 10 * time.Second})
	p.Poll(epoch, nil)
	p.Poll(at(20), []engine.Attempt{{ID: "0.0", State: engine.Lost, Machine: "a", Ended: at(20)}})
	p.Poll(at(21), []engine.Attempt{{ID: "1.0", Task: 1, State: engine.Lost, Machine: "a", Ended: at(5)}})
	assert.Equal(t, []string{"a"}, h.Resting(at(29)))
}

// Two attempts of a task that must not be copied never run at once, even if the second is the restart of the
// first.
func TestTaskWithoutCopiesNeverRunsTwiceAtOnce(t *testing.T) {
	c := engine.Config{Tasks: 2, Slots: 8, Policy: after(2 * time.Second), Clones: 2}
	p, _ := newPhase(t, c, engine.MachinesConfig{})
	p.SetEligible(0, false, true)
	assert.Equal(t, []string{"submit 0.0", "submit 1.0", "submit 1.1: start cloned"}, lines(p.Poll(epoch, nil).Actions))
	actions := p.Poll(at(3), []engine.Attempt{{ID: "0.0", State: engine.Running, Begun: epoch, Machine: "a"}}).Actions
	assert.Equal(t, []string{"cancel 0.0 on a: restart beyond-peers attempt=0"}, lines(actions))
	assert.Empty(t, p.Poll(at(4), nil).Actions, "attempt 0.0 is not known to have ended")
	actions = p.Poll(at(5), []engine.Attempt{{ID: "0.0", State: engine.Cancelled}}).Actions
	assert.Equal(t, []string{"submit 0.1: restart beyond-peers attempt=0"}, lines(actions))
}

// twice is a custom policy that wants a copy of every task and returns no machine to avoid.
type twice struct{}

func (twice) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) > 1 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Copy, Reason: restart.BeyondPeers}
}

func TestCopyGoesToAnotherMachine(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 3, Policy: twice{}},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 3}, {Name: "b", Slots: 2}}})
	actions := p.Poll(epoch, nil).Actions
	require.Equal(t, []string{"submit 0.0 on a", "submit 1.0 on a", "submit 2.0 on b"}, lines(actions))
	actions = p.Poll(at(1), []engine.Attempt{
		{ID: "0.0", State: engine.Running, Machine: "a"}, {ID: "1.0", Task: 1, State: engine.Running, Machine: "a"},
		{ID: "2.0", Task: 2, State: engine.Queued},
	}).Actions
	assert.Equal(t, []string{"submit 0.1 on b not on a: copy beyond-peers"}, lines(actions), "b is full, and task 1 runs on a")
}

// An unknown work is treated as the mean of the others, for the phase as for the tracker. Zero work is the least.
func TestUnknownWorkCountsAsTheMean(t *testing.T) {
	work := []float64{1, math.NaN(), 5, math.Inf(1), 0, math.NaN(), -7}
	p, _ := newPhase(t, engine.Config{Work: work, Slots: 7}, engine.MachinesConfig{})
	var order []int
	for _, a := range p.Poll(epoch, nil).Actions {
		order = append(order, a.Task)
	}
	assert.Equal(t, []int{2, 1, 3, 5, 6, 0, 4}, order)
}

// The actions are the same with and without a journal.
func TestSameActionsWithoutAJournal(t *testing.T) {
	for seed := range cases(20, 100) {
		var logs [2][]string
		for i := range logs {
			c, config := randomCluster(t, seed)
			config.Journal = i == 1
			p, err := engine.New(config)
			require.NoError(t, err)
			_, log := drive(t, c, p, period, nil)
			logs[i] = lines(log)
		}
		require.Equal(t, logs[0], logs[1], "seed %d", seed)
	}
}

// A long outage does not hide a second, shorter one.
func TestLongOutageDoesNotHideTheNext(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 4, Slots: 8}, engine.MachinesConfig{})
	p.Poll(epoch, nil)
	report := func(s, said float64) []engine.Action {
		var all []engine.Attempt
		for task := range 4 {
			all = append(all, engine.Attempt{
				ID: fmt.Sprint(task, ".0"), Task: task, State: engine.Running, Begun: epoch, AsOf: at(said), Machine: fmt.Sprint("h", task),
				Progress: tracker.Report{Score: said / 2000},
			})
		}
		return p.Poll(at(s), all).Actions
	}
	for _, s := range []float64{1, 2, 3, 4, 5, 6, 606, 607, 608, 609, 610} {
		require.Empty(t, report(s, s))
	}
	assert.Empty(t, report(690, 610), "after the second gap the reports are still old")
}

// A scheduler that starts anew finds its attempts in the engine's queue. They occupy slots, and their names are in
// use.
func TestWaitingAttemptIsAdopted(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 2}, engine.MachinesConfig{})
	seen := engine.Attempt{ID: "0.0", State: engine.Queued, Begun: epoch}
	assert.Equal(t, []string{"submit 1.0"}, lines(p.Poll(epoch, []engine.Attempt{seen}).Actions))
	seen.State = engine.Running
	assert.Empty(t, p.Poll(at(1), []engine.Attempt{seen}).Actions)
	seen.State = engine.Succeeded
	p.Poll(at(2), []engine.Attempt{seen})
	assert.Equal(t, 1, p.Ledger().Finished)
}

// A report from the future does not silence the reports after it.
func TestReportFromTheFutureSilencesNoOther(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1, Slots: 1, Journal: true}, engine.MachinesConfig{})
	p.Poll(epoch, nil)
	for s, asOf := range []time.Time{at(1000), at(1000), at(2), at(1), at(4)} {
		p.Poll(at(float64(s)), []engine.Attempt{
			{ID: "0.0", State: engine.Running, Begun: epoch, AsOf: asOf, Progress: tracker.Report{Score: float64(s+1) / 100}},
		})
	}
	assert.Equal(t, 3, strings.Count(string(p.Journal()), " progress "), "a report that is not newer is ignored")
}
