package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// queue is an engine that survives its scheduler. The queue keeps an attempt under its name, runs all tasks at the
// same speed unless slow says otherwise, and lists all attempts that it ever had, dated by the clocks of their
// machines.
type queue struct {
	now       time.Time
	machines  []engine.Machine
	attempts  []*engine.Attempt
	published map[int]string
	took      []time.Duration // by task
	slow      map[string]float64
	skew      map[string]time.Duration
	dies      time.Duration // time from a cancellation to the end
	dying     map[string]time.Time
	submitted map[string]time.Time
	lag       time.Duration
	silent    bool // it does not say which attempt is published
	forgets   bool // it does not list waiting attempts
}

func newQueue(tasks, machines, slots int, took func(task int) time.Duration) *queue {
	q := &queue{
		now: epoch, published: map[int]string{}, slow: map[string]float64{}, skew: map[string]time.Duration{},
		dying: map[string]time.Time{}, submitted: map[string]time.Time{}, dies: 300 * time.Millisecond,
	}
	for i := range machines {
		q.machines = append(q.machines, engine.Machine{Name: fmt.Sprint("h", i), Slots: slots})
	}
	for i := range tasks {
		q.took = append(q.took, took(i))
	}
	return q
}

func (q *queue) carryOut(t *testing.T, a engine.Action) {
	i := slices.IndexFunc(q.attempts, func(x *engine.Attempt) bool { return x.ID == a.ID })
	switch {
	case a.Op == engine.Publish:
		if was, is := q.published[a.Task]; is {
			require.Equal(t, was, a.ID, "a result is published once")
		}
		require.Equal(t, engine.Succeeded, q.attempts[i].State)
		q.published[a.Task] = a.ID
	case a.Op == engine.Submit && i < 0:
		q.attempts = append(q.attempts, &engine.Attempt{ID: a.ID, Task: a.Task, Machine: a.Machine})
		q.submitted[a.ID] = q.now
	case a.Op == engine.Cancel && i >= 0 && q.dying[a.ID].IsZero():
		q.dying[a.ID] = q.now
	}
}

// step lets time pass and runs the attempts.
func (q *queue) step(d time.Duration) {
	q.now = q.now.Add(d)
	for _, a := range q.attempts {
		dated := q.now.Add(q.skew[a.Machine])
		told, isTold := q.dying[a.ID]
		switch {
		case a.State >= engine.Succeeded:
		case a.State == engine.Queued && isTold, isTold && q.now.Sub(told) >= q.dies:
			a.State, a.Ended = engine.Cancelled, dated
		case a.State == engine.Queued && q.now.Sub(q.submitted[a.ID]) >= q.lag && q.room(a.Machine):
			a.State, a.Begun = engine.Running, dated
		case a.State == engine.Running:
			share := q.now.Add(q.skew[a.Machine]).Sub(a.Begun).Seconds() / q.took[a.Task].Seconds() / max(q.slow[a.Machine], 1)
			a.Progress.Done, a.AsOf = min(share, 1), dated
			if share >= 1 {
				a.State, a.Ended = engine.Succeeded, dated
			}
		}
	}
}

func (q *queue) room(machine string) bool {
	n := 0
	for _, a := range q.attempts {
		if a.Machine == machine && a.State == engine.Running {
			n++
		}
	}
	return n < q.machines[slices.IndexFunc(q.machines, func(h engine.Machine) bool { return h.Name == machine })].Slots
}

func (q *queue) list() (all []engine.Attempt) {
	for _, a := range q.attempts {
		if q.forgets && a.State == engine.Queued {
			continue
		}
		seen := *a
		seen.Published = !q.silent && q.published[a.Task] == a.ID
		all = append(all, seen)
	}
	return all
}

// scheduler runs a phase over a queue. The scheduler dies at one point of its run: after a poll, a save or an action.
type scheduler struct {
	t      *testing.T
	q      *queue
	config engine.Config
	phase  *engine.Phase
	left   int // points until it dies; negative: it never dies
	disk   []saved
	polled func([]engine.Action) // is called after each poll; nil: no call
}

// saved is the content of the disk after a save.
type saved struct{ phase, machines []byte }

func (s *scheduler) start(state saved) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: s.q.machines})
	require.NoError(s.t, err)
	config := s.config
	config.Machines = machines
	if state.phase == nil {
		s.phase, err = engine.New(config)
	} else {
		require.NoError(s.t, machines.UnmarshalBinary(state.machines))
		s.phase, err = engine.Restore(config, engine.Saved{Snapshot: state.phase})
	}
	require.NoError(s.t, err)
	if s.config.Machines = machines; state.phase == nil {
		s.save()
	}
}

// dies reports whether the scheduler dies here.
func (s *scheduler) dies() bool {
	s.left--
	return s.left == -1
}

// save writes a snapshot. A scheduler that never dies again needs none.
func (s *scheduler) save() {
	if s.left < 0 {
		return
	}
	phase, err := s.phase.MarshalBinary()
	require.NoError(s.t, err)
	machines, err := s.config.Machines.MarshalBinary()
	require.NoError(s.t, err)
	s.disk = append(s.disk, saved{phase, machines})
}

// run polls until the phase is done. The result is false if the scheduler died before.
func (s *scheduler) run(saveFirst bool) bool {
	for !s.phase.Done() {
		actions := slices.Clone(s.phase.Poll(s.q.now, s.q.list()).Actions)
		if s.polled != nil {
			s.polled(actions)
		}
		if s.dies() {
			return false
		}
		if saveFirst {
			s.save()
			if s.dies() {
				return false
			}
		}
		for _, a := range actions {
			s.q.carryOut(s.t, a)
			if a.Op == engine.Publish && s.q.silent {
				s.phase.Published(a.ID)
			}
			if s.dies() {
				return false
			}
		}
		if !saveFirst {
			s.save()
			if s.dies() {
				return false
			}
		}
		for range 5 {
			s.q.step(200 * time.Millisecond)
		}
		require.Less(s.t, s.q.now.Sub(epoch), time.Hour, "the phase must end, and waits for: %v", s.phase.Outstanding())
	}
	return true
}

// crash draws a queue, runs a phase over it to the end, and lets its scheduler die up to three times. It returns how
// often the scheduler died.
func (s *scheduler) crash(seed uint64) (crashes int) {
	rng := rand.New(rand.NewPCG(seed, 11))
	q := newQueue(4+rng.IntN(20), 1+rng.IntN(4), 1+rng.IntN(3), func(int) time.Duration { return 8 * time.Second })
	q.lag = time.Duration(rng.IntN(3)) * 700 * time.Millisecond
	q.silent, q.forgets = rng.IntN(2) == 0, rng.IntN(2) == 0
	if seed%3 == 0 { // with copies, restarts and races
		q.slow["h0"] = 10
	}
	s.q, s.config.Tasks, s.config.Interval = q, len(q.took), time.Second
	saveFirst := rng.IntN(2) == 0
	s.left = rng.IntN(120)
	s.start(saved{})
	for ; !s.run(saveFirst); crashes++ {
		for range rng.IntN(4) * rng.IntN(20) { // the scheduler is away for a while
			q.step(200 * time.Millisecond)
		}
		s.left = -1
		if crashes < 2 {
			s.left = rng.IntN(120)
		}
		switch state := rng.IntN(3); {
		case state == 0 && len(s.disk) > 0:
			s.start(s.disk[len(s.disk)-1])
		case state == 1 && len(s.disk) > 0:
			s.start(s.disk[rng.IntN(len(s.disk))]) // an old snapshot
		default:
			s.disk = nil
			s.start(saved{})
		}
	}
	return crashes
}

// A scheduler dies at any point. The test starts it again with its last snapshot, with an old one, or with none.
// Every task ends, each result is published once, and no crash costs more than one needless attempt. The test
// makes 100 runs, or STRAGGLER_LIVES.
func TestCrashMatrix(t *testing.T) {
	t.Parallel()
	runs := 100
	if n, err := strconv.Atoi(os.Getenv("STRAGGLER_LIVES")); err == nil {
		runs = n
	}
	most, needless := 0, 0
	for seed := range uint64(runs) {
		s := &scheduler{t: t}
		crashes := s.crash(seed)
		q := s.q
		for task := range q.took {
			require.NotEmpty(t, q.published[task], "seed %d, task %d", seed, task)
			id, won := s.phase.Winner(task)
			require.True(t, won)
			require.Equal(t, q.published[task], id, "seed %d, task %d", seed, task)
		}
		extra := len(q.attempts) - len(q.took)
		if seed%3 == 0 {
			continue
		}
		require.LessOrEqual(t, extra, crashes, "seed %d: %d crashes, silent %t, forgets %t", seed, crashes, q.silent, q.forgets)
		most, needless = max(most, extra), needless+extra
	}
	t.Logf("at most %d crashes a run: %d needless attempts in %d runs, at most %d in one run", 3, needless, runs, most)
}

// A scheduler without a snapshot takes over a healthy run with linear progress, at any moment. This scheduler
// kills nothing and copies nothing.
func TestSchedulerWithoutASnapshotTakesOverAtAnyMoment(t *testing.T) {
	for half := range 80 {
		q := newQueue(48, 3, 8, func(int) time.Duration { return 8 * time.Second })
		first := &scheduler{t: t, q: q, config: engine.Config{Tasks: 48, Interval: time.Second}, left: -1}
		first.start(saved{})
		for q.now.Before(at(float64(half)/2)) && !first.phase.Done() {
			for _, a := range first.phase.Poll(q.now, q.list()).Actions {
				q.carryOut(t, a)
			}
			q.step(500 * time.Millisecond)
		}
		second := &scheduler{t: t, q: q, config: first.config, left: -1}
		second.start(saved{})
		require.True(t, second.run(true))
		assert.Len(t, q.attempts, 48, "attached after %d s", half/2)
		assert.Zero(t, second.phase.Ledger().Restarts+second.phase.Ledger().Copies)
		if mean := second.phase.UnitTimes().Mean(); half > 20 {
			assert.InDelta(t, 8, mean, 0.3, "the run times before the take-over are known")
		}
	}
}

// To take over is harmless also if a clock is off: a machine whose clock is behind does not look silent.
func TestTakingOverIsHarmlessIfClocksAreOff(t *testing.T) {
	for _, skew := range []time.Duration{3 * time.Second, -3 * time.Second, time.Minute, -time.Minute} {
		for _, moment := range []float64{3, 9, 20, 31} {
			q := newQueue(200, 4, 8, func(int) time.Duration { return 8 * time.Second })
			q.skew["h1"] = skew
			first := &scheduler{t: t, q: q, config: engine.Config{Tasks: 200, Interval: time.Second}, left: -1}
			first.start(saved{})
			for q.now.Before(at(moment)) {
				for _, a := range first.phase.Poll(q.now, q.list()).Actions {
					q.carryOut(t, a)
				}
				q.step(500 * time.Millisecond)
			}
			second := &scheduler{t: t, q: q, config: first.config, left: -1}
			second.start(saved{})
			require.True(t, second.run(true))
			assert.LessOrEqual(t, len(q.attempts), 201, "%v, attached after %v s: %v", skew, moment, second.phase.Ledger())
		}
	}
}

// The first lists leave out half of the running attempts. This gives no wrong run times and kills nothing.
func TestAttemptsThatAppearLateDoNoHarm(t *testing.T) {
	q := newQueue(32, 2, 8, func(int) time.Duration { return 8 * time.Second })
	for i := range 16 {
		q.carryOut(t, engine.Action{Op: engine.Submit, Task: i, ID: fmt.Sprint("x", i), Machine: q.machines[i%2].Name})
	}
	for range 20 {
		q.step(200 * time.Millisecond)
	}
	s := &scheduler{t: t, q: q, config: engine.Config{Tasks: 32, Interval: time.Second, Preloaded: true, Journal: true}, left: -1}
	s.start(saved{})
	for k := 0; !s.phase.Done() && k < 100; k++ {
		if u := s.phase.UnitTimes(); u.Known() {
			require.InDelta(t, 8, u.Mean(), 0.7, "poll %d", k)
		}
		list := q.list()
		if k < 3 {
			list = list[:8]
		}
		for _, a := range s.phase.Poll(q.now, list).Actions {
			assert.Equal(t, engine.Publish, a.Op, "%v", a)
			s.phase.Published(a.ID)
		}
		if k == 9 { // the engine runs the second half of its array
			for i := 16; i < 32; i++ {
				q.carryOut(t, engine.Action{Op: engine.Submit, Task: i, ID: fmt.Sprint("x", i), Machine: q.machines[i%2].Name})
			}
		}
		for range 5 {
			q.step(200 * time.Millisecond)
		}
	}
	assert.True(t, s.phase.Done())
}

// If the clocks of machines are off, by seconds or by a minute, no healthy task becomes a straggler.
func TestClocksThatAreOff(t *testing.T) {
	for _, skew := range []time.Duration{0, 3 * time.Second, -3 * time.Second, time.Minute, -time.Minute} {
		for _, seed := range []uint64{1, 2, 3} {
			rng := rand.New(rand.NewPCG(seed, 12))
			q := newQueue(200, 4, 8, func(int) time.Duration { return time.Duration(500+rng.IntN(1500)) * time.Millisecond })
			q.skew["h1"], q.skew["h2"] = skew, -skew/2
			work := make([]float64, 200)
			for i := range work {
				work[i] = q.took[i].Seconds()
			}
			machines, err := engine.NewMachines(engine.MachinesConfig{Machines: q.machines})
			require.NoError(t, err)
			p, err := engine.New(engine.Config{Work: work, Interval: 200 * time.Millisecond, Machines: machines})
			require.NoError(t, err)
			for !p.Done() {
				list := q.list()
				for i := range list {
					list[i].Progress.Done *= work[list[i].Task]
				}
				for _, a := range p.Poll(q.now, list).Actions {
					q.carryOut(t, a)
				}
				for range 4 {
					q.step(50 * time.Millisecond)
				}
			}
			l := p.Ledger()
			assert.LessOrEqual(t, l.Restarts+l.Copies, 1, "off by %v, seed %d: %v", skew, seed, l)
			assert.InDelta(t, skew.Seconds(), machines.ClockOffset("h1").Seconds(), 0.25, "off by %v, seed %d", skew, seed)
			assert.Zero(t, machines.ClockOffset("h0"))
		}
	}
}

// A lost cancel is requested again, ever more rarely, with the attempt's machine.
func TestLostCancelIsRepeated(t *testing.T) {
	q := newQueue(8, 3, 2, func(int) time.Duration { return 8 * time.Second })
	q.slow["h2"] = 20
	s := &scheduler{t: t, q: q, config: engine.Config{Tasks: 8, Interval: time.Second}, left: -1}
	s.start(saved{})
	asked := map[string]int{}
	for range 60 {
		for _, a := range s.phase.Poll(q.now, q.list()).Actions {
			if a.Op == engine.Cancel {
				asked[a.ID]++
				assert.Equal(t, "h2", a.Machine)
				continue // lost
			}
			q.carryOut(t, a)
		}
		q.step(time.Second)
	}
	require.NotEmpty(t, asked)
	for id, n := range asked {
		assert.True(t, n >= 3 && n <= 6, "%s: %d times in a minute", id, n)
	}
	for _, r := range s.phase.Outstanding() {
		assert.Equal(t, engine.Cancel, r.Op)
	}
}

// However short Trace is, a submit is requested three times before the attempt is treated as lost.
func TestSubmitIsRequestedThreeTimes(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1, Policy: restart.Never{}, Trace: time.Millisecond},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
	var all []string
	for s := range 8 {
		for _, line := range lines(p.Poll(at(float64(s)), nil).Actions) {
			all = append(all, fmt.Sprint(s, " ", line))
		}
	}
	want := []string{"0 submit 0.0 on a", "2 submit 0.0 on a", "6 submit 0.0 on a", "7 cancel 0.0 on a", "7 submit 0.1 on b not on a"}
	assert.Equal(t, want, all)
}

// An attempt that is not listed for the time Trace leaves its slot to a Submit of the same call. If it appears after all,
// it is cancelled again.
func TestSubmitUsesTheSlotOfAMissingAttempt(t *testing.T) {
	config := engine.Config{Tasks: 1, Policy: restart.Never{}, Trace: 10 * time.Second}
	p, _ := newPhase(t, config, engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}}})
	assert.Equal(t, []string{"submit 0.0 on a"}, lines(p.Poll(at(0), nil).Actions))
	var last []string
	for s := 1; s < 11; s++ {
		last = lines(p.Poll(at(float64(s)), nil).Actions)
	}
	assert.Equal(t, []string{"cancel 0.0 on a", "submit 0.1 on a"}, last)
	both := []engine.Attempt{{ID: "0.0", State: engine.Running, Machine: "a"}, {ID: "0.1", Machine: "a"}}
	assert.Equal(t, []string{"cancel 0.0 on a"}, lines(p.Poll(at(12), both).Actions))
}

// A scheduler saves its phase and its machines after a poll, and dies before it carries the actions out. The
// restored scheduler requests them again, and the phase ends.
func TestRestoredPhaseRepeatsActionsThatWereNotCarriedOut(t *testing.T) {
	q := newQueue(2, 2, 2, func(int) time.Duration { return 5 * time.Second })
	config, machines := engine.Config{Tasks: 2}, engine.MachinesConfig{Machines: q.machines}
	p, was := newPhase(t, config, machines)
	require.Len(t, p.Poll(q.now, nil).Actions, 2)
	saved, err := p.MarshalBinary()
	require.NoError(t, err)
	savedMachines, err := was.MarshalBinary()
	require.NoError(t, err)

	config.Interval, config.Machines = time.Second, new(engine.Machines)
	require.NoError(t, config.Machines.UnmarshalBinary(savedMachines))
	p, err = engine.Restore(config, engine.Saved{Snapshot: saved})
	require.NoError(t, err)
	for range 60 {
		q.step(time.Second)
		for _, a := range p.Poll(q.now, q.list()).Actions {
			q.carryOut(t, a)
		}
	}
	assert.True(t, p.Done())
	assert.Len(t, q.published, 2)
	assert.Len(t, q.attempts, 2, "no task runs twice")
}

// A submit that the engine never shows is requested again. Then the task is submitted elsewhere under another
// ID. If the missing attempt appears after all, it is cancelled.
func TestTaskOfAMissingAttemptIsSubmittedElsewhere(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1, Policy: restart.Never{}, Trace: 10 * time.Second},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
	var all []string
	for s := range 14 {
		all = append(all, lines(p.Poll(at(float64(s)), nil).Actions)...)
	}
	assert.Equal(t, []string{"submit 0.0 on a", "submit 0.0 on a", "submit 0.0 on a", "cancel 0.0 on a", "submit 0.1 on b not on a", "submit 0.1 on b not on a"}, all)
	open := p.Outstanding()
	require.Len(t, open, 1)
	assert.Equal(t, engine.Action{Op: engine.Submit, Attempt: 1, ID: "0.1", Machine: "b", Avoid: []string{"a"}}, open[0])
	actions := p.Poll(at(15), []engine.Attempt{
		{ID: "0.0", State: engine.Running, Machine: "a"}, {ID: "0.1", State: engine.Running, Machine: "b"},
	}).Actions
	assert.Equal(t, []string{"cancel 0.0 on a"}, lines(actions))
	p.Poll(at(16), []engine.Attempt{{ID: "0.0", State: engine.Succeeded, Machine: "a"}})
	id, won := p.Winner(0)
	assert.True(t, won)
	assert.Equal(t, "0.0", id, "a cancelled attempt that succeeds first wins")
}
