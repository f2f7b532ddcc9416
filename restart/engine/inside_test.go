package engine

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// begun returns a phase that has been polled once.
func begun(t *testing.T, c Config, machines MachinesConfig) *Phase {
	t.Helper()
	var err error
	c.Machines, err = NewMachines(machines)
	require.NoError(t, err)
	c.Interval = time.Second
	p, err := New(c)
	require.NoError(t, err)
	p.Poll(time.Unix(1000, 0), nil)
	return p
}

// A task of a Preloaded phase is listed once after it has lost its attempts, and leaves the list when it has a new attempt or
// is over.
func TestTaskIsListedOnceToBeSubmittedAgain(t *testing.T) {
	p := begun(t, Config{Tasks: 2, Preloaded: true}, MachinesConfig{}) // there are no slots
	require.Empty(t, p.book.again, "the engine has all tasks")
	p.Poll(time.Unix(1001, 0), []Attempt{{ID: "a", State: Running}, {ID: "b", Task: 1, State: Running}})
	p.Poll(time.Unix(1002, 0), []Attempt{{ID: "a", State: Failed}, {ID: "b", Task: 1, State: Failed}})
	require.Equal(t, []int{0, 1}, p.book.again)
	p.wait(1, nil)
	assert.Equal(t, []int{0, 1}, p.book.again)
	p.Poll(time.Unix(1003, 0), []Attempt{{ID: "c", Task: 1, State: Running}, {ID: "d", State: Succeeded}})
	p.listWaiting()
	assert.Empty(t, p.book.again)
	p.wait(0, nil)
	assert.Empty(t, p.book.again, "a task that is over does not wait")
}

// A snapshot with parts that contradict each other is refused.
func TestSnapshotWithContradictionsIsRefused(t *testing.T) {
	for name, damage := range map[string]func(p *Phase){
		"":                              func(*Phase) {},
		"does not know, or twice":       func(p *Phase) { p.book.pending = append(p.book.pending, p.book.pending[0]) },
		"over, and waits":               func(p *Phase) { p.book.tasks[2].over = true },
		"rests, and waits":              func(p *Phase) { p.book.tasks[2].resting = true },
		"given up, and not over":        func(p *Phase) { p.book.tasks[0].givenUp = true },
		"live, and not in the tracker":  func(p *Phase) { p.book.attempts["0.0"].number = 1 },
		"in the tracker, and not live":  func(p *Phase) { p.book.attempts["0.0"].ended = true },
		"attempt of a task too many":    func(p *Phase) { p.book.attempts["0.0"].task = 3 },
		"attempt on a machine too many": func(p *Phase) { p.book.attempts["0.0"].machine = 0 },
		"a machine that there is not":   func(p *Phase) { p.book.attempts["0.0"].machine = nowhere - 1 },
		"does not know, or twice: none": func(p *Phase) { p.book.pending[0] = &attempt{id: "none"} },
	} {
		p := begun(t, Config{Tasks: 3, Slots: 2}, MachinesConfig{})
		require.Len(t, p.book.pending, 2)
		if damage(p); name == "attempt of a task too many" { // the writer must know the task that the reader lacks
			p.book.tasks = append(p.book.tasks, task{})
		}
		data, err := p.MarshalBinary()
		if err == nil {
			_, err = Restore(Config{}, Saved{Snapshot: data})
		}
		assert.Equal(t, name == "", err == nil, "%s: %v", name, err)
	}
}

// A restored phase equals the phase that was saved, including its empty lists.
func TestRestoredPhaseKeepsEmptyLists(t *testing.T) {
	p := begun(t, Config{Tasks: 1, Slots: 1}, MachinesConfig{})
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	again, err := Restore(Config{}, Saved{Snapshot: data})
	require.NoError(t, err)
	assert.Nil(t, p.book.attempts["0.0"].avoid)
	assert.Nil(t, again.book.attempts["0.0"].avoid)
}

// An attempt gives a sample of its run time if it was seen to run or its report says when it began.
func TestAttemptThatWasSeenToRunGivesASample(t *testing.T) {
	at := time.Unix(1000, 0)
	for want, of := range map[bool][]Attempt{
		true:  {{State: Running}, {State: Running, Begun: at}, {State: Succeeded, Begun: at}, {State: Lost, Begun: at}},
		false: {{State: Queued}, {State: Queued, Begun: at}, {State: Succeeded}, {State: Failed}},
	} {
		for _, seen := range of {
			assert.Equal(t, want, runs(&seen), "%+v", seen)
		}
	}
}

// If a machine runs attempts and has dated nothing for long, its clock is treated as behind.
func TestClocksAreComparedAtTheFirstCall(t *testing.T) {
	now := time.Unix(1000, 0)
	ago := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	told := []Attempt{
		{ID: "0.0", Task: 0, State: Running, Machine: "fresh", Begun: ago(90), AsOf: now},
		{ID: "1.0", Task: 1, State: Running, Machine: "behind", Begun: ago(100)},
		{ID: "2.0", Task: 2, State: Running, Machine: "nearly", Begun: ago(5)},
		{ID: "3.0", Task: 3, State: Running, Machine: "just", Begun: ago(6)},
		{ID: "4.0", Task: 4, State: Succeeded, Machine: "idle", Begun: ago(200), Ended: ago(100)},
		{ID: "5.0", Task: 5, State: Running, Machine: "silent"},
		{ID: "6.0", Task: 6, State: Queued, Machine: "waits", Begun: ago(100)},
	}
	for reports, want := range map[bool]map[string]time.Duration{
		true:  {"fresh": 0, "behind": -99 * time.Second, "nearly": 0, "just": -5 * time.Second, "idle": 0, "silent": 0},
		false: {"fresh": 0, "behind": 0, "nearly": 0, "just": 0, "idle": 0, "silent": 0},
	} {
		machines, err := NewMachines(MachinesConfig{})
		require.NoError(t, err)
		p, err := New(Config{Tasks: 7, Interval: time.Second, Machines: machines})
		require.NoError(t, err)
		p.ready()
		if told[0].AsOf = now; !reports {
			told[0].AsOf = time.Time{}
		}
		p.compareClocks(now, told)
		for name, offset := range want {
			i, known := p.machines.set.Known(name)
			require.True(t, known, name)
			assert.Equal(t, offset, p.machines.set.Clock(i).Offset(), "%s, reports: %v", name, reports)
		}
	}
}

// Times that a snapshot can contain are not changed. Another time becomes the nearest time that a snapshot can
// contain.
func TestInRangeMovesTimesToTheNearestYear(t *testing.T) {
	last := time.Unix(253402300799, 999)
	assert.Equal(t, last, inRange(last))
	assert.Equal(t, time.Unix(253402300799, 0), inRange(last.Add(time.Second)))
	assert.True(t, inRange(time.Time{}.Add(-1)).IsZero())
	assert.Equal(t, time.Time{}.Add(1), inRange(time.Time{}.Add(1)))
}

// The usual time between polls moves by a quarter of the difference at each poll. One gap is treated as at most
// five times the usual time.
func TestUsualTimeBetweenPolls(t *testing.T) {
	s, now := timing{period: time.Second}, time.Unix(1000, 0)
	for _, c := range []struct{ after, usual time.Duration }{
		{0, time.Second}, {4 * time.Second, 1750 * time.Millisecond}, {time.Second, 1562500 * time.Microsecond},
		{time.Hour, 3125 * time.Millisecond}, {-time.Hour, 2343750 * time.Microsecond},
	} {
		now = now.Add(c.after)
		s.notePoll(now, time.Second)
		assert.Equal(t, c.usual, s.period, "%v later", c.after)
	}
	s = timing{period: math.MaxInt64 / 2}
	s.notePoll(now, time.Second)
	s.notePoll(now.Add(time.Hour), time.Second)
	assert.Positive(t, s.period, "no product overflows")
}

// Missing attempts are looked for once in a quarter of Config.Trace, and not during the pause after an outage.
func TestWhenMissingAttemptsAreLookedFor(t *testing.T) {
	const trace = 40 * time.Second
	for _, c := range []struct {
		since time.Duration
		blind bool
		looks bool
	}{{trace / 4, false, true}, {trace/4 - 1, false, false}, {trace / 4, true, false}, {trace/4 - 1, true, false}} {
		p := begun(t, Config{Tasks: 1, Slots: 1, Trace: trace}, MachinesConfig{})
		p.timing.lastChecked, p.timing.blindUntil = time.Hour, time.Time{}
		if c.blind {
			p.timing.blindUntil = p.time.now.Add(1)
		}
		p.time.clock.Since = time.Hour + c.since
		p.searchMissing()
		assert.Equal(t, c.looks, p.timing.lastChecked != time.Hour, "%+v", c)
	}
}

// An attempt that was seen is treated as missing as soon as lists have left it out for Config.Trace. An attempt
// that was never seen does not: it is requested again first.
func TestAttemptIsMissingAfterTrace(t *testing.T) {
	const trace = 40 * time.Second
	for _, c := range []struct {
		seen, listed time.Duration
		missed       bool
	}{{time.Second, trace + time.Second, true}, {time.Second, trace + time.Second - 1, false}, {never, trace - 1, false}, {never, trace, false}} {
		p := begun(t, Config{Tasks: 1, Slots: 1, Trace: trace}, MachinesConfig{})
		a := p.book.attempts["0.0"]
		a.seen, p.timing.lastListed, p.time.clock.Since = c.seen, c.listed, time.Hour
		p.searchMissing()
		assert.Equal(t, c.missed, a.gone, "%+v", c)
	}
}

// A report that assigns an attempt to another task is counted once as an ignored report.
func TestLineOfAnotherTaskIsIgnoredOnce(t *testing.T) {
	p := begun(t, Config{Tasks: 2}, MachinesConfig{})
	now := time.Unix(1001, 0)
	p.Poll(now, []Attempt{{ID: "x", Task: 0, State: Running, Begun: now}})
	now = now.Add(time.Second)
	p.Poll(now, []Attempt{{ID: "x", Task: 1, State: Running, AsOf: now, Published: true}})
	assert.Equal(t, 1, p.Ledger().Ignored)
	assert.Empty(t, p.scratch.chosen, "no result of the other task counts as published")
}

// The end of an adopted attempt is dated by the clock of its machine, also if the line does not name the
// machine.
func TestEndIsDatedByTheMachinesClock(t *testing.T) {
	var ended time.Time
	p := begun(t, Config{Tasks: 1, OnEvent: func(e tracker.Event, _ tracker.Answer) {
		if e.Kind == tracker.Finished {
			ended = e.Time
		}
	}}, MachinesConfig{})
	wall, machine := time.Unix(1010, 0), time.Unix(1110, 0) // the machine's clock is 100 s ahead
	p.Poll(wall, []Attempt{{ID: "x", State: Running, Machine: "h", Begun: machine}})
	p.Poll(wall.Add(10*time.Second), []Attempt{{ID: "x", State: Succeeded, Ended: machine.Add(5 * time.Second)}})
	assert.Equal(t, 5*time.Second, ended.Sub(wall))
}

// An attempt ended without a result, and its result is published later. The result is used if the task is over and
// was not given up.
func TestResultThatIsPublishedLateCounts(t *testing.T) {
	for name, of := range map[string]struct{ over, givenUp bool }{
		"goes on": {false, false}, "has a result": {true, false}, "was given up": {true, true},
	} {
		p := begun(t, Config{Tasks: 2, Slots: 1, MaxFailures: 1}, MachinesConfig{})
		a := &attempt{id: "late", task: 1, machine: nowhere, ended: true}
		task := &p.book.tasks[1]
		p.book.attempts[a.id], task.over, task.givenUp = a, of.over, of.givenUp
		more := p.noteSeen(a, &Attempt{ID: a.id, Task: 1, State: Succeeded, Published: true})
		assert.Equal(t, !of.over, more, "%s: the result ends the task, if the task still runs", name)
		assert.True(t, a.published, name)
		assert.Equal(t, of.over && !of.givenUp, task.winner == a, name)
	}
}

// A report of a waiting attempt contains events only if the attempt ran on an unknown machine before. A report of an
// attempt that had ended contains events only if the attempt has succeeded all the same.
func TestLineOfAWaitingAttemptHoldsEventsIfItsMachineIsUnknown(t *testing.T) {
	for _, c := range []struct {
		ended, begun bool
		machine      int
		state        State
		more         bool
	}{
		{false, false, nowhere, Running, true}, {false, false, nowhere, Queued, false}, {false, false, 0, Queued, false},
		{false, true, nowhere, Queued, true}, {false, true, 0, Queued, false}, {false, true, 0, Running, true},
		{false, true, 0, Succeeded, true}, {true, true, 0, Succeeded, true}, {true, true, 0, Failed, false},
		{true, true, 0, Running, false}, {true, true, nowhere, Queued, false},
	} {
		p := begun(t, Config{Tasks: 1}, MachinesConfig{Machines: []Machine{{Name: "h"}}})
		a := &attempt{id: "x", machine: c.machine, ended: c.ended, begun: c.begun}
		assert.Equal(t, c.more, p.noteSeen(a, &Attempt{ID: "x", State: c.state}), "%+v", c)
	}
}

// says is a policy that returns a given answer.
type says struct{ answer *restart.Decision }

func (s says) Decide(restart.Task, restart.Phase) restart.Decision { return *s.answer }

// A policy that answers an offered slot by Restart or Kill ends that attempt, as in a sweep.
func TestOfferedSlotMayEndAnAttempt(t *testing.T) {
	for action, attempts := range map[restart.Action]int{restart.Restart: 1, restart.Kill: 2} { // Kill spares the last attempt
		answer := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: 1}
		p := begun(t, Config{Tasks: 1, Slots: attempts, Policy: says{&answer}}, MachinesConfig{})
		list := []Attempt{{ID: "0.0", State: Running, Begun: time.Unix(1001, 0)}}
		p.Poll(time.Unix(1002, 0), list)
		if attempts > 1 {
			list = append(list, Attempt{ID: "0.1", State: Running, Begun: time.Unix(1003, 0)})
		}
		answer = restart.Decision{Reason: restart.NoFreeSlot} // the tracker asks again once a slot is free
		require.Empty(t, p.Poll(time.Unix(1003, 0), list).Actions)
		require.Len(t, p.book.tasks[0].live(nil), attempts)

		answer = restart.Decision{Action: action, Reason: restart.IdleSlot, Gain: 1}
		p.SetSlots(attempts + 1)
		p.tellSlots()
		p.submitCopies()
		require.Len(t, p.scratch.actions, 1, action)
		cancels := p.scratch.actions[0]
		assert.Equal(t, Cancel, cancels.Op)
		assert.Equal(t, action, cancels.Decision.Action)
		assert.True(t, p.book.attempts[cancels.ID].dying)
		assert.Equal(t, attempts, p.told, "an ending attempt holds its slot until its end is seen")
	}
}

// An attempt of a task that the phase lacks is refused.
func TestAttemptOfAnUnknownTaskIsRefused(t *testing.T) {
	of := func(tasks int) *Phase { return begun(t, Config{Tasks: tasks}, MachinesConfig{}) }
	for task, known := range map[int]bool{0: true, 2: true, 3: false} {
		data, err := snapshot.Append(nil, 1, func(c *snapshot.Codec) {
			p := of(4)
			p.book.attempts = map[string]*attempt{"x": {id: "x", task: task, machine: nowhere, ended: true}}
			p.codeAttempts(c)
		})
		require.NoError(t, err)
		err = snapshot.Restore(data, 1, of(3), func(_ *Phase, c *snapshot.Codec) {
			p := of(3)
			p.book = newBook(3, false)
			p.codeAttempts(c)
		})
		assert.Equal(t, known, err == nil, "task %d: %v", task, err)
	}
}

// While no slot is free, Config.Order is not called: many tasks may wait.
func TestOrderIsNotCalledWithoutAFreeSlot(t *testing.T) {
	asked := 0
	p := begun(t, Config{Tasks: 3, Slots: 1, Order: func(time.Time, []int) { asked++ }}, MachinesConfig{})
	assert.Equal(t, 1, asked)
	p.Poll(time.Unix(1001, 0), []Attempt{{ID: p.scratch.actions[0].ID, State: Running}})
	assert.Equal(t, 1, asked)
}

// In a Preloaded phase, a task whose attempt has failed waits to be submitted again. If the host forgets the task, it waits
// no more, and another task that waits still does.
func TestAForgottenTaskIsNotSubmittedAgain(t *testing.T) {
	p := begun(t, Config{Recent: 8, Slots: 2, Preloaded: true, BackOff: func(int, int) time.Duration { return time.Hour }}, MachinesConfig{})
	p.Add(1)
	p.Add(1)
	p.Poll(time.Unix(1001, 0), []Attempt{{ID: "0.0", State: Running}, {ID: "1.0", Task: 1, State: Running}})
	p.Poll(time.Unix(1002, 0), []Attempt{{ID: "0.0", State: Failed}, {ID: "1.0", Task: 1, State: Failed}})
	require.Equal(t, []int{0, 1}, p.book.again)
	p.Forget(0)
	require.Equal(t, []int{0}, p.book.rows.free, "the row of task 0")
	assert.Equal(t, []int{1}, p.book.again)
}

// Of the attempts of a machine a task remembers one that has ended. So a task that fails again and again takes no more
// memory.
func TestATaskRemembersOneAttemptOfAMachine(t *testing.T) {
	p := begun(t, Config{Tasks: 1, Slots: 1, MaxFailures: math.MaxInt}, MachinesConfig{})
	for i, machine := range []string{"a", "b", "a", "a", "b"} {
		p.Poll(time.Unix(int64(1001+i), 0), []Attempt{{ID: fmt.Sprintf("0.%d", i), State: Failed, Machine: machine}})
	}
	n := 0
	for a := p.book.task(0).past; a != nil; a = a.older {
		n++
	}
	assert.Equal(t, 2, n)
}

// A snapshot of a growing phase is refused if the row of a task is called free, also that of the first task, and if a task
// is to be forgotten that there is not, or twice.
func TestSnapshotWithContradictionsOfAGrowingPhaseIsRefused(t *testing.T) {
	p := begun(t, Config{Recent: 8, Slots: 2}, MachinesConfig{})
	p.Add(1)
	p.Add(1)
	p.Poll(time.Unix(1001, 0), nil)
	p.Poll(time.Unix(1002, 0), []Attempt{{ID: "1.0", Task: 1, State: Succeeded}})
	p.Published("1.0")
	p.Poll(time.Unix(1003, 0), []Attempt{{ID: "0.0", State: Running}})
	p.Forget(1)
	require.Equal(t, []int{1}, p.book.rows.free)
	for _, c := range []struct {
		free    int
		leaving []int
		want    string
	}{
		{1, nil, ""}, {0, nil, "has a task in a free row"}, {1, []int{0}, ""},
		{1, []int{0, 0}, "is to forget a task twice"}, {1, []int{1}, "one that it does not have"},
	} {
		p.book.rows.free[0], p.book.rows.leaving = c.free, c.leaving
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		if _, err = Restore(Config{}, Saved{Snapshot: data}); c.want == "" {
			assert.NoError(t, err, "%+v", c)
		} else {
			assert.ErrorContains(t, err, c.want, "%+v", c)
		}
	}
}
