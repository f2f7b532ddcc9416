package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// jobs is an engine to which jobs come all the time. Its jobs end in random order. Some attempts fail, some are lost, some
// are slow, some go on after a Cancel, and some are listed again long after their end.
type jobs struct {
	tb       testing.TB
	rng      *rand.Rand
	phase    *engine.Phase
	twin     *engine.Phase // gets the same calls, and must give the same answers; or nil
	now      time.Time
	attempts map[string]*jobAttempt
	order    []string // the attempts, in an order that does not depend on the map
	open     []int    // the tasks that are not over
	over     []int    // the tasks that are over, and not forgotten
	added    int
	results  map[int]bool
	late     []engine.Attempt // to be listed again
	zombies  int              // cancels of attempts whose task was forgotten
	slowest  time.Duration    // the longest call
}

type jobAttempt struct {
	of          engine.Attempt
	takes       time.Duration
	fails, deaf bool
}

// newJobs returns an engine without jobs.
func newJobs(tb testing.TB, c engine.Config, seed uint64) *jobs {
	tb.Helper()
	j := &jobs{tb: tb, rng: rand.New(rand.NewPCG(seed, 64)), now: time.Unix(1e9, 0), attempts: map[string]*jobAttempt{}, results: map[int]bool{}}
	var err error
	j.phase, err = engine.New(c)
	require.NoError(tb, err)
	return j
}

// round adds jobs until the given number is open, polls once, and forgets the jobs that are over, most of them at once.
func (j *jobs) round(open int) {
	j.now = j.now.Add(time.Second)
	for len(j.open) < open {
		task := -1
		j.timed(func() { task = j.phase.Add(1) })
		if j.twin != nil {
			require.Equal(j.tb, task, j.twin.Add(1))
		}
		j.open = append(j.open, task)
		j.added++
	}
	list := j.list()
	var turn engine.Turn
	j.timed(func() { turn = j.phase.Poll(j.now, list) })
	if j.twin != nil {
		if twins := j.twin.Poll(j.now, list); !reflect.DeepEqual(turn, twins) {
			require.Equal(j.tb, fmt.Sprintf("%+v", turn), fmt.Sprintf("%+v", twins))
		}
	}
	for _, a := range turn.Actions {
		j.act(a)
	}
	for _, task := range turn.GivenUp {
		j.results[task] = true
	}
	j.open = slices.DeleteFunc(j.open, func(task int) bool {
		if !j.results[task] {
			return false
		}
		delete(j.results, task)
		j.over = append(j.over, task)
		return true
	})
	j.over = slices.DeleteFunc(j.over, func(task int) bool {
		if j.rng.IntN(3) == 0 {
			return false
		}
		j.forget(task)
		return true
	})
	if j.rng.IntN(20) == 0 { // a job is deleted
		i := j.rng.IntN(len(j.open))
		j.forget(j.open[i])
		j.open = slices.Delete(j.open, i, i+1)
	}
}

// forget forgets a task.
func (j *jobs) forget(task int) {
	j.timed(func() { j.phase.Forget(task) })
	if j.twin != nil {
		j.twin.Forget(task)
	}
}

// timed measures a call.
func (j *jobs) timed(call func()) {
	before := time.Now()
	call()
	j.slowest = max(j.slowest, time.Since(before))
}

// list returns the attempts that run or have ended since the last list, and some that have ended long ago.
func (j *jobs) list() (list []engine.Attempt) {
	j.order = slices.DeleteFunc(j.order, func(id string) bool {
		a := j.attempts[id]
		if a.of.State == engine.Queued {
			a.of.State, a.of.Begun = engine.Running, j.now
		}
		if ran := j.now.Sub(a.of.Begun); ran >= a.takes {
			a.of.State, a.of.Ended = engine.Succeeded, j.now
			if a.fails {
				a.of.State = engine.Failed
				if j.rng.IntN(4) == 0 {
					a.of.State = engine.Lost
				}
			}
		} else {
			a.of.Progress, a.of.AsOf = tracker.Report{Done: min(.999, ran.Seconds()/a.takes.Seconds())}, j.now
		}
		list = append(list, a.of)
		if a.of.State == engine.Running {
			return false
		}
		delete(j.attempts, id)
		if j.rng.IntN(30) == 0 {
			j.late = append(j.late, a.of)
		}
		return true
	})
	for len(j.late) > 0 && (len(j.late) > 50 || j.rng.IntN(3) > 0) { // its task may be forgotten by now; some of them seem to run
		a := j.late[0]
		j.late = j.late[1:]
		if j.rng.IntN(2) == 0 {
			a.State = engine.Running
		}
		list = append(list, a)
	}
	return list
}

// act carries out an action.
func (j *jobs) act(a engine.Action) {
	switch a.Op {
	case engine.Submit:
		if j.attempts[a.ID] == nil {
			takes := time.Duration(5+j.rng.IntN(20)) * time.Second
			if j.rng.IntN(50) == 0 {
				takes *= 8
			}
			j.attempts[a.ID] = &jobAttempt{
				of: engine.Attempt{ID: a.ID, Task: a.Task, Machine: a.Machine}, takes: takes, fails: j.rng.IntN(20) == 0,
				deaf: j.rng.IntN(5) == 0,
			}
			j.order = append(j.order, a.ID)
		}
	case engine.Cancel:
		run := j.attempts[a.ID]
		if a.Attempt == 0 && run == nil {
			j.zombies++
		}
		if run != nil && !run.deaf {
			run.of.State, run.of.Ended, run.takes = engine.Cancelled, j.now, 0
			j.late = append(j.late, run.of)
			delete(j.attempts, a.ID)
			j.order = slices.DeleteFunc(j.order, func(id string) bool { return id == a.ID })
		}
	case engine.Publish:
		j.phase.Published(a.ID)
		if j.twin != nil {
			j.twin.Published(a.ID)
		}
		j.results[a.Task] = true
	}
}

// heapNow returns the size of the objects that are in use.
func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cluster returns machines with ten slots each.
func tenSlots(tb testing.TB, n int) *engine.Machines {
	tb.Helper()
	list := make([]engine.Machine, n)
	for i := range list {
		list[i] = engine.Machine{Name: fmt.Sprint("n", i), Slots: 10}
	}
	m, err := engine.NewMachines(engine.MachinesConfig{Machines: list})
	require.NoError(tb, err)
	return m
}

// Jobs come all the time, and end in random order. The second half of the jobs needs no more memory than the first, within a
// twentieth. If STRAGGLER_LIVES is set, a million jobs come, ten thousand of which are open at once.
func TestAStreamOfJobsTakesTheMemoryOfItsOpenJobs(t *testing.T) {
	all, open, machines := 10_000, 500, 10
	if os.Getenv("STRAGGLER_LIVES") != "" {
		all, open, machines = 1_000_000, 10_000, 100
	}
	j := newJobs(t, engine.Config{
		Recent: 2 * time.Minute, Interval: time.Second, Machines: tenSlots(t, machines), Stream: true, Journal: true,
	}, 1)
	var heaps []uint64
	for tenth := 1; tenth <= 10; tenth++ {
		for j.added < all/10*tenth {
			j.round(open)
			j.phase.TakeJournal()
		}
		least := uint64(math.MaxUint64) // of 4 rounds, since the heap also has the lists of the simulated engine
		for range 4 {
			j.round(open)
			j.phase.TakeJournal()
			least = min(least, heapNow())
		}
		heaps = append(heaps, least)
	}
	t.Logf("%d jobs, heap in MB after each tenth: %.1f", j.added, mega(heaps))
	t.Logf("longest call %v, %d late cancels, %v", j.slowest, j.zombies, j.phase.Ledger())
	first, last := 0., 0. // a single tenth may need a fifth more or less than another
	for i := range 5 {
		first, last = first+float64(heaps[i]), last+float64(heaps[5+i])
	}
	assert.Less(t, last, 1.05*first, "the second half of the jobs needs more memory than the first")
	assert.Positive(t, j.zombies, "no attempt of a forgotten task was shown")
	l := j.phase.Ledger()
	for name, n := range map[string]int{"copies": l.Copies, "won": l.Won, "failed": l.Failed} {
		assert.Positive(t, n, name)
	}
	assert.Less(t, j.phase.Facts().Tasks, 2*open+machines*10*120/5)
	runtime.KeepAlive(j)
}

// mega returns sizes in MB.
func mega(sizes []uint64) []float64 {
	list := make([]float64, len(sizes))
	for i, size := range sizes {
		list[i] = float64(size) / 1e6
	}
	return list
}

// A growing phase that is restored asks for the same as if it had never stopped, whatever it is about to forget.
func TestAGrowingPhaseIsRestored(t *testing.T) {
	for seed := range uint64(6) {
		c := engine.Config{Recent: time.Minute, Interval: time.Second, Slots: 20}
		if seed%2 == 1 {
			c.Slots, c.Machines = 0, tenSlots(t, 2)
		}
		if seed%3 == 2 {
			c.BackOff = func(_, failures int) time.Duration { return time.Duration(failures) * 3 * time.Second }
		}
		j := newJobs(t, c, seed)
		for i := range 300 {
			if i%20 == 0 {
				again := c
				again.Machines = new(engine.Machines)
				if c.Machines != nil {
					data, err := c.Machines.MarshalBinary()
					require.NoError(t, err)
					require.NoError(t, again.Machines.UnmarshalBinary(data))
				}
				data, err := j.phase.MarshalBinary()
				require.NoError(t, err)
				j.twin, err = engine.Restore(again, engine.Saved{Snapshot: data})
				require.NoError(t, err)
			}
			j.round(40)
		}
		assert.Equal(t, j.phase.Ledger(), j.twin.Ledger())
		assert.Greater(t, j.added, 200)
	}
}

// The parts of a journal that were taken, one after another, are the whole journal: it replays to the same answers.
func TestTakenPartsOfAJournalAreTheJournal(t *testing.T) {
	j := newJobs(t, engine.Config{Recent: time.Minute, Interval: time.Second, Slots: 20, Journal: true}, 2)
	var text []byte
	for i := range 200 {
		j.round(40)
		if i%7 == 0 {
			text = append(text, j.phase.TakeJournal()...)
		}
	}
	text = append(text, j.phase.Journal()...)
	again, err := journal.Replay(text, journal.Options{})
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
	assert.Nil(t, newJobs(t, engine.Config{Recent: time.Minute, Interval: time.Second}, 3).phase.TakeJournal())
}

// A phase keeps nothing of the list that Poll and Push get. Otherwise a stream of jobs would hold its longest lists for ever.
func TestAPhaseKeepsNoListOfTheHost(t *testing.T) {
	phase, err := engine.New(engine.Config{Tasks: 2, Interval: time.Second, Machines: tenSlots(t, 1)})
	require.NoError(t, err)
	now := time.Unix(1e9, 0)
	for name, call := range map[string]func(time.Time, []engine.Attempt) engine.Turn{"Poll": phase.Poll, "Push": phase.Push} {
		list := make([]engine.Attempt, 100)
		for i := range list {
			list[i] = engine.Attempt{ID: fmt.Sprint(i), Task: i % 2, Machine: "n0", State: engine.Running, Begun: now}
		}
		kept := weak.Make(&list[0])
		call(now.Add(time.Second), list)
		list = nil
		runtime.GC()
		assert.Nil(t, kept.Value(), name)
	}
	runtime.KeepAlive(phase)
}

// Forget changes nothing if there is no such task, if the phase has a fixed number of tasks, or if it is called twice.
func TestForgetOfNoTaskChangesNothing(t *testing.T) {
	unchanged := func(p *engine.Phase, task int) {
		before, err := p.MarshalBinary()
		require.NoError(t, err)
		p.Forget(task)
		after, err := p.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, before, after, "task %d", task)
	}
	fixed, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 1}, engine.MachinesConfig{})
	fixed.Poll(epoch, nil)
	unchanged(fixed, 0)
	growing, _ := newPhase(t, engine.Config{Recent: 8, Slots: 1}, engine.MachinesConfig{})
	growing.Add(1)
	growing.Poll(epoch, nil)
	unchanged(growing, -1)
	unchanged(growing, 1)
	growing.Forget(0) // its attempt is to be cancelled first
	unchanged(growing, 0)
}
