package journal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// record returns a tracker and the recorder that watches it.
func record(t testing.TB, c tracker.Config) (*tracker.Tracker, *Recorder) {
	t.Helper()
	r := NewRecorder(c)
	c.OnEvent = r.OnEvent
	tr, err := tracker.New(c)
	require.NoError(t, err)
	return tr, r
}

// driver reports random events to a tracker, some of which make no sense.
type driver struct {
	source *rand.Rand
	now    time.Time
	tasks  int
	acts   bool // the driver carries out the decisions of a sweep
}

func (h *driver) step(t *tracker.Tracker) string {
	r := h.source
	if r.IntN(3) > 0 {
		h.now = h.now.Add(time.Duration(r.Int64N(3e9)))
	} else if r.IntN(40) == 0 {
		h.now = h.now.Add(-time.Duration(r.Int64N(9e9)))
	}
	task, attempt, machine := r.IntN(h.tasks+1)-r.IntN(2), r.IntN(8)/3, r.IntN(7)-1
	switch r.IntN(40) {
	case 0:
		t.SetSlots(r.IntN(12))
	case 1:
		t.SetEligible(task, r.IntN(4) > 0, r.IntN(4) > 0)
	case 2:
		return fmt.Sprint(t.Finish(h.now, task, attempt))
	case 3:
		t.Fail(h.now, task, attempt)
	case 4:
		t.Kill(h.now, task, attempt)
	case 5:
		t.Restart(h.now, task, attempt)
	case 6:
		return fmt.Sprint(t.LoseMachine(h.now, machine*5%7))
	case 7:
		t.LoseOutput(h.now, task)
	case 8:
		return fmt.Sprint(t.Decide(h.now, task))
	case 9:
		return h.sweep(t)
	case 10, 11, 12, 13, 14, 15, 16:
		a := t.Next(h.now, machine)
		if a.Action == restart.Start || a.Action == restart.Copy {
			t.Start(h.now, a.Task, machine)
		}
		return fmt.Sprint(a.Task, a)
	case 17, 18, 19:
		return fmt.Sprint(t.Start(h.now, task, machine))
	case 20:
		return fmt.Sprint(t.Submit(h.now, task, machine))
	case 21, 22:
		t.Begin(h.now, task, attempt, machine)
	case 23:
		if r.IntN(20) == 0 {
			t.Close(h.now)
		}
	default:
		return fmt.Sprint(t.Report(h.now, task, attempt, h.progress()))
	}
	return ""
}

func (h *driver) progress() tracker.Report {
	p := tracker.Report{Done: h.source.Float64() * 1.1}
	switch h.source.IntN(12) {
	case 0:
		p.Score = h.source.Float64()
	case 1:
		p.Remaining = time.Duration(h.source.Int64N(1e11))
	case 3:
		p.Saved = p.Done * h.source.Float64()
	case 2:
		p.Done = [...]float64{math.NaN(), math.Inf(1), -1, 0}[h.source.IntN(4)]
	}
	return p
}

func (h *driver) sweep(t *tracker.Tracker) (said string) {
	t.Sweep(h.now, func(a tracker.Answer) {
		said += fmt.Sprint(a.Task, a)
		if !h.acts {
			return
		}
		switch a.Action {
		case restart.Copy:
			t.Start(h.now, a.Task, h.source.IntN(6))
		case restart.Restart:
			t.Restart(h.now, a.Task, a.Attempt)
		case restart.Kill:
			t.Kill(h.now, a.Task, a.Attempt)
		}
	})
	return said
}

var policyNames = rules.Names()

func randomConfig(source *rand.Rand) tracker.Config {
	c := tracker.Config{
		Tasks: 1 + source.IntN(30), Slots: source.IntN(12), Machines: source.IntN(6), Lag: time.Duration(source.Int64N(1e9)),
		Interval: time.Duration(source.Int64N(2e9)),
	}
	if source.IntN(2) == 0 {
		c.Work = make([]float64, c.Tasks)
		for i := range c.Work {
			c.Work[i] = source.ExpFloat64()
		}
	}
	c.Policy, _ = rules.Parse(policyNames[source.IntN(len(policyNames))])
	switch p := c.Policy.(type) { // thresholds that the test's few seconds reach
	case rules.LATE:
		p.MinAge, p.Early = restart.Off, true
		c.Policy = p
	case rules.Hadoop:
		p.MinAge = restart.Off
		c.Policy = p
	case rules.Flink:
		p.LowerBound, p.Ratio = restart.Off, 0.1
		c.Policy = p
	}
	if source.IntN(3) == 0 {
		if b, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 1 + source.IntN(50), Rate: 0.25}); err == nil {
			c.Budget = b
		}
	}
	return c
}

// restore replays a journal, and returns the tracker of its last phase.
func restore(data []byte, o Options) (*tracker.Tracker, error) {
	p := player{options: o}
	err := p.play(data)
	return p.tracker, err
}

// A recording replays exactly: each decision and each number.
func TestRecordingsReplayExactly(t *testing.T) {
	actions := map[restart.Action]int{}
	for seed := range uint64(300) {
		source := rand.New(rand.NewPCG(seed, 5))
		c := randomConfig(source)
		tr, r := record(t, c)
		program := driver{source: source, now: time.Unix(1e9, 123), tasks: c.Tasks, acts: true}
		var recorded []byte
		for range 150 {
			program.step(tr)
			if source.IntN(20) == 0 { // the program writes its file
				recorded = append(recorded, r.Bytes()...)
				r.Reset()
			}
		}
		recorded = append(recorded, r.Bytes()...)
		replayed, err := Replay(recorded, Options{OnDecision: func(_ int, _ restart.Task, _ restart.Phase, d restart.Decision) {
			actions[d.Action]++
		}})
		require.NoError(t, err)
		require.Equal(t, string(recorded), string(replayed), "seed %d", seed)

		restored, err := restore(recorded, Options{})
		require.NoError(t, err)
		want, err := tr.MarshalBinary()
		require.NoError(t, err)
		got, err := restored.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d: the two trackers must have one state", seed)
	}
	for _, a := range []restart.Action{restart.Copy, restart.Restart, restart.Kill} {
		assert.Greater(t, actions[a], 20, "the test needs more decisions to %s", a)
	}
}

// Recording changes no answer.
func TestRecorderChangesNoAnswer(t *testing.T) {
	for seed := range uint64(200) {
		c := randomConfig(rand.New(rand.NewPCG(seed, 6)))
		plain, err := tracker.New(c)
		require.NoError(t, err)
		c = randomConfig(rand.New(rand.NewPCG(seed, 6))) // the second tracker has another budget
		recorded, _ := record(t, c)
		one := driver{source: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(0, 0), tasks: c.Tasks}
		two := driver{source: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(0, 0), tasks: c.Tasks}
		for range 200 {
			require.Equal(t, one.step(plain), two.step(recorded), "seed %d", seed)
		}
		require.Equal(t, plain.Ledger(), recorded.Ledger())
		require.Equal(t, plain.Phase().Waiting, recorded.Phase().Waiting)
		require.Equal(t, plain.UnitTimes().Samples(), recorded.UnitTimes().Samples())
	}
}

// A sweep is recorded before visit is called. An event that visit reports has an effect on the tasks that follow in
// the sweep.
func TestSweepIsRecordedBeforeItsVisits(t *testing.T) {
	tr, r := record(t, tracker.Config{
		Tasks: 3, Slots: 4, Interval: time.Second, Policy: rules.Dryad{MinFinished: 1},
	})
	now := time.Unix(0, 0)
	for task := range 3 {
		tr.Start(now, task, -1)
	}
	now = now.Add(time.Second)
	tr.Finish(now, 0, 0)
	r.Reset()
	now = now.Add(time.Second)
	var visited []int
	tr.Sweep(now, func(a tracker.Answer) {
		visited = append(visited, a.Task)
		tr.Start(now, a.Task, -1)
		tr.SetSlots(3) // no slot is left for the second
	})
	assert.Equal(t, []int{1}, visited)
	assert.Equal(t, `since 1970-01-01T00:00:00Z
2s sweep
    task=1 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=2 copy beyond-peers run-seconds=2 threshold=1 gain=1s
2s start task=1
    attempt=1
slots 3
2s decide task=2
    keep no-free-slot
`, string(r.Bytes()))

	// A visit that reports no event receives the decisions of the sweep.
	tr.SetSlots(4)
	visited = nil
	r.Reset()
	tr.Sweep(now, func(a tracker.Answer) { visited = append(visited, a.Task) })
	assert.Equal(t, []int{2}, visited)
	assert.Equal(t, "since 1970-01-01T00:00:00Z\n2s sweep\n    task=2 copy beyond-peers run-seconds=2 threshold=1 gain=1s\n", string(r.Bytes()))
}

// An event allocates nothing, except one piece for the text of its decision.
func TestRecorderAllocatesOnlyForDecisions(t *testing.T) {
	tr, r := record(t, tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second})
	now := time.Unix(0, 0)
	for task := range 4 {
		tr.Start(now, task, task)
	}
	done := 0.1
	cycle := func() {
		now, done = now.Add(time.Millisecond), done+1e-6
		tr.Report(now, 0, 0, tracker.Report{Done: done})
		r.Reset()
	}
	cycle()
	assert.LessOrEqual(t, testing.AllocsPerRun(200, cycle), 1.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		tr.Decide(now, 0)
		tr.Next(now, 3)
		r.Reset()
	}), 2.0)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		tr.SetSlots(3)
		tr.SetEligible(1, true, false)
		tr.Fail(now, 3, 9)
		r.Reset()
	}))
}

// A program that has not read a clock passes the zero time. Then no time passes until its first real time, also in
// the journal.
func TestRecordingMayBeginAtTheZeroTime(t *testing.T) {
	tr, r := record(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	tr.Start(time.Time{}, 0, 1)
	now := time.Unix(1e9, 0)
	tr.Start(now, 1, 2)
	tr.Report(now.Add(2*time.Second), 1, 0, tracker.Report{Done: 0.1})
	tr.Report(time.Time{}, 1, 0, tracker.Report{Done: 0.2})
	assert.Equal(t, 2, tr.Ledger().ClockSteps)
	assert.Contains(t, string(r.Bytes()), "since 2001-09-09T01:46:40Z\n0s start task=1 machine=2\n2s report")
	assert.Equal(t, string(r.Bytes()), replay(t, string(r.Bytes()), Options{}))
}

// After a snapshot the journal before it is dropped. The snapshot and the journal after it give the tracker
// back.
func TestResumeGoesOnAfterASnapshot(t *testing.T) {
	for seed := range uint64(50) {
		source := rand.New(rand.NewPCG(seed, 8))
		c := randomConfig(source)
		c.Budget = nil // a restored tracker would share the budget
		tr, r := record(t, c)
		program := driver{source: source, now: time.Unix(1e9, 123), tasks: c.Tasks, acts: true}
		for range source.IntN(150) {
			program.step(tr)
		}
		snapshot, err := tr.MarshalBinary()
		require.NoError(t, err)
		r.Reset()
		for range source.IntN(150) {
			program.step(tr)
		}
		restored, err := tracker.Restore(tracker.Config{}, snapshot)
		require.NoError(t, err)
		require.NoError(t, Resume(restored, r.Bytes()))
		want, err := tr.MarshalBinary()
		require.NoError(t, err)
		got, err := restored.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d", seed)
	}
	tr, _ := record(t, tracker.Config{Tasks: 1, Interval: 1e9})
	assert.ErrorContains(t, Resume(tr, []byte("0s sweep\nphase tasks=1\n")), "line 2: got a phase, want only events")
	assert.ErrorContains(t, Resume(tr, []byte("0s swep\n")), "line 1: ")
	assert.ErrorContains(t, Resume(tr, []byte("since noon\n")), `line 1: since is "noon", want a time such as`)
}
