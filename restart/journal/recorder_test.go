package journal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tracker is what a host may be told to use: the thing itself, or one that records.
type tracker interface {
	SetSlots(int)
	SetEligible(task int, duplicate, restart bool)
	Start(now time.Time, task, machine int) int
	Submit(now time.Time, task, machine int) int
	Begin(now time.Time, task, attempt, machine int)
	Report(now time.Time, task, attempt int, p restart.Progress) restart.Decision
	Decide(now time.Time, task int) restart.Decision
	Next(now time.Time, machine int) (int, restart.Decision)
	Sweep(now time.Time, visit func(int, restart.Decision))
	Finish(now time.Time, task, attempt int, dst []int) []int
	Fail(now time.Time, task, attempt int)
	Kill(now time.Time, task, attempt int)
	Restart(now time.Time, task, attempt int)
	LoseMachine(now time.Time, machine int, dst []int) []int
	LoseOutput(now time.Time, task int)
	Ledger() restart.Ledger
	Phase() restart.Phase
}

// A Recorder takes a Tracker's place: a method that is added to the tracker fails here until it is recorded.
func TestRecorderHasTheMethodsOfTracker(t *testing.T) {
	own, other := reflect.TypeFor[*Recorder](), reflect.TypeFor[*restart.Tracker]()
	for i := range other.NumMethod() {
		want := other.Method(i)
		got, ok := own.MethodByName(want.Name)
		require.True(t, ok, "Recorder has no method %s", want.Name)
		require.Equal(t, want.Type.NumIn(), got.Type.NumIn(), want.Name)
		for j := 1; j < want.Type.NumIn(); j++ {
			assert.Equal(t, want.Type.In(j), got.Type.In(j), want.Name)
		}
		for j := range want.Type.NumOut() {
			assert.Equal(t, want.Type.Out(j), got.Type.Out(j), want.Name)
		}
	}
}

// driver is a host that behaves badly: it tells the tracker sense and nonsense at random.
type driver struct {
	source *rand.Rand
	now    time.Time
	tasks  int
	acts   bool // carries out what a sweep finds
}

func (h *driver) step(t tracker) string {
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
		return fmt.Sprint(t.Finish(h.now, task, attempt, []int{77}))
	case 3:
		t.Fail(h.now, task, attempt)
	case 4:
		t.Kill(h.now, task, attempt)
	case 5:
		t.Restart(h.now, task, attempt)
	case 6:
		return fmt.Sprint(t.LoseMachine(h.now, machine*5%7, []int{77}))
	case 7:
		t.LoseOutput(h.now, task)
	case 8:
		return fmt.Sprint(t.Decide(h.now, task))
	case 9:
		return h.sweep(t)
	case 10, 11, 12, 13, 14, 15, 16:
		task, d := t.Next(h.now, machine)
		if d.Action == restart.Start || d.Action == restart.Duplicate {
			t.Start(h.now, task, machine)
		}
		return fmt.Sprint(task, d)
	case 17, 18, 19:
		return fmt.Sprint(t.Start(h.now, task, machine))
	case 20:
		return fmt.Sprint(t.Submit(h.now, task, machine))
	case 21, 22:
		t.Begin(h.now, task, attempt, machine)
	default:
		return fmt.Sprint(t.Report(h.now, task, attempt, h.progress()))
	}
	return ""
}

func (h *driver) progress() restart.Progress {
	p := restart.Progress{Done: h.source.Float64() * 1.1}
	switch h.source.IntN(12) {
	case 0:
		p.Score = h.source.Float64()
	case 1:
		p.Remaining = time.Duration(h.source.Int64N(1e11))
	case 2:
		p.Done = [...]float64{math.NaN(), math.Inf(1), -1, 0}[h.source.IntN(4)]
	}
	return p
}

func (h *driver) sweep(t tracker) (said string) {
	t.Sweep(h.now, func(task int, d restart.Decision) {
		said += fmt.Sprint(task, d)
		if !h.acts {
			return
		}
		switch d.Action {
		case restart.Duplicate:
			t.Start(h.now, task, h.source.IntN(6))
		case restart.Restart:
			t.Restart(h.now, task, d.Copy)
		case restart.Kill:
			t.Kill(h.now, task, d.Copy)
		}
	})
	return said
}

func randomConfig(source *rand.Rand) restart.Config {
	c := restart.Config{
		Tasks: 1 + source.IntN(30), Slots: source.IntN(12), Machines: source.IntN(6), Lag: time.Duration(source.Int64N(1e9)),
		Interval: time.Duration(source.Int64N(2e9)),
	}
	if source.IntN(2) == 0 {
		c.Work = make([]float64, c.Tasks)
		for i := range c.Work {
			c.Work[i] = source.ExpFloat64()
		}
	}
	c.Policy = policies[source.IntN(len(policies))].zero
	switch p := c.Policy.(type) { // so that they act within the test's few seconds
	case restart.LATE:
		p.MinAge, p.Early = restart.Off, true
		c.Policy = p
	case restart.Hadoop:
		p.MinAge = restart.Off
		c.Policy = p
	case restart.Flink:
		p.LowerBound, p.Ratio = restart.Off, 0.1
		c.Policy = p
	}
	if source.IntN(3) == 0 {
		c.Budget, _ = restart.NewBudget(restart.BudgetConfig{Slots: 1 + source.IntN(50), Rate: 0.25})
	}
	return c
}

// What is recorded replays to the letter: every decision, every number of every decision.
func TestRecordingsReplayToTheLetter(t *testing.T) {
	actions := map[restart.Action]int{}
	for seed := range uint64(300) {
		source := rand.New(rand.NewPCG(seed, 5))
		c := randomConfig(source)
		r, err := NewRecorder(c)
		require.NoError(t, err)
		host := driver{source: source, now: time.Unix(1e9, 123), tasks: c.Tasks, acts: true}
		var recorded []byte
		for range 150 {
			host.step(r)
			if source.IntN(20) == 0 { // the host writes its file
				recorded = append(recorded, r.Bytes()...)
				r.Reset()
			}
		}
		recorded = append(recorded, r.Bytes()...)
		replayed, err := Replay(recorded, Options{Observe: func(_ int, _ restart.Task, _ restart.Phase, d restart.Decision) {
			actions[d.Action]++
		}})
		require.NoError(t, err)
		require.Equal(t, string(recorded), string(replayed), "seed %d", seed)
	}
	for _, a := range []restart.Action{restart.Duplicate, restart.Restart, restart.Kill} {
		assert.Greater(t, actions[a], 20, "the test has seen too little of %s", a)
	}
}

// To record changes no answer.
func TestRecorderAnswersAsTracker(t *testing.T) {
	for seed := range uint64(200) {
		c := randomConfig(rand.New(rand.NewPCG(seed, 6)))
		plain, err := restart.NewTracker(c)
		require.NoError(t, err)
		c = randomConfig(rand.New(rand.NewPCG(seed, 6))) // with a budget of its own
		recorder, err := NewRecorder(c)
		require.NoError(t, err)
		one := driver{source: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(0, 0), tasks: c.Tasks}
		two := driver{source: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(0, 0), tasks: c.Tasks}
		for range 200 {
			require.Equal(t, one.step(plain), two.step(recorder), "seed %d", seed)
		}
		require.Equal(t, plain.Ledger(), recorder.Ledger())
		require.Equal(t, plain.Phase().Waiting, recorder.Phase().Waiting)
		require.Equal(t, plain.Config(), recorder.Config())
		require.Equal(t, plain.Rates().Samples(), recorder.Rates().Samples())
	}
}

// A sweep visits after it has recorded; what visit tells counts for the tasks that follow.
func TestRecorderSweep(t *testing.T) {
	r, err := NewRecorder(restart.Config{
		Tasks: 3, Slots: 4, Interval: time.Second, Policy: restart.Dryad{MinFinished: 1},
	})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for task := range 3 {
		r.Start(now, task, -1)
	}
	now = now.Add(time.Second)
	r.Finish(now, 0, 0, nil)
	r.Reset()
	now = now.Add(time.Second)
	var visited []int
	r.Sweep(now, func(task int, d restart.Decision) {
		visited = append(visited, task)
		r.Start(now, task, -1)
		r.SetSlots(3) // no slot is left for the second
	})
	assert.Equal(t, []int{1}, visited)
	assert.Equal(t, `2s sweep
    task=1 duplicate beyond-peers value=2 threshold=1 gain=1s
    task=2 duplicate beyond-peers value=2 threshold=1 gain=1s
2s start task=1
    attempt=1
slots 3
2s decide task=2
    keep no-free-slot value=2 threshold=1
`, string(r.Bytes()))

	// A visit that tells nothing sees what the sweep saw.
	r.SetSlots(4)
	visited = nil
	r.Reset()
	r.Sweep(now, func(task int, d restart.Decision) { visited = append(visited, task) })
	assert.Equal(t, []int{2}, visited)
	assert.Equal(t, "2s sweep\n    task=2 duplicate beyond-peers value=2 threshold=1 gain=1s\n", string(r.Bytes()))
}

func TestRecorderOfABadConfig(t *testing.T) {
	_, err := NewRecorder(restart.Config{Tasks: -1})
	assert.ErrorContains(t, err, "restart: Config.Tasks is -1")
}

// Nothing is allocated for an event but the text of the decision that follows it: one string.
func TestRecorderAllocations(t *testing.T) {
	r, err := NewRecorder(restart.Config{Tasks: 4, Slots: 4, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for task := range 4 {
		r.Start(now, task, task)
	}
	done := 0.1
	cycle := func() {
		now, done = now.Add(time.Millisecond), done+1e-6
		r.Report(now, 0, 0, restart.Progress{Done: done})
		r.Reset()
	}
	cycle()
	assert.LessOrEqual(t, testing.AllocsPerRun(200, cycle), 1.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		r.Decide(now, 0)
		r.Next(now, 3)
		r.Reset()
	}), 2.0)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		r.SetSlots(3)
		r.SetEligible(1, true, false)
		r.Fail(now, 3, 9)
		r.Reset()
	}))
}
