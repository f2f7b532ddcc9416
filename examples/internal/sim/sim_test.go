package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

func policies() []sim.Options {
	return []sim.Options{
		{Policy: restart.Never{}}, {Policy: restart.Mantri{}, LargestFirst: true}, {Policy: rules.LATE{}},
		{Policy: rules.LATE{Early: true}}, {Policy: rules.Hadoop{}}, {Policy: rules.MapReduce{}},
		{Policy: rules.Dryad{}}, {Policy: rules.Spark{}}, {Policy: rules.Flink{}},
	}
}

// A work-conserving schedule takes at most the mean load of a slot plus the longest task [Mantri §3.1], and at least
// either of them.
func TestWithoutActionKeepsTheBound(t *testing.T) {
	for _, p := range workload.Generate(200, 3) {
		r, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
		require.NoError(t, err)
		var sum, longest time.Duration
		for _, task := range p.Tasks {
			sum += task.Attempts[0].Duration
			longest = max(longest, task.Attempts[0].Duration)
		}
		mean := sum / time.Duration(len(p.Slots))
		assert.LessOrEqual(t, r.Time, mean+longest, p.Name)
		assert.GreaterOrEqual(t, r.Time, max(mean, longest), p.Name)
		assert.Equal(t, sum, r.Used, "%s: every task runs once", p.Name)
		assert.Zero(t, r.Wasted)
		assert.Zero(t, r.Copies+r.Restarts+r.Won)
	}
}

func TestSameSeedSameResult(t *testing.T) {
	phases := 15 // or 40 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		phases = 40
	}
	for i, p := range workload.Generate(phases, 5) {
		for _, o := range policies() {
			o.Seed = uint64(i)
			first, err := sim.Run(p, o)
			require.NoError(t, err)
			again, err := sim.Run(p, o)
			require.NoError(t, err)
			assert.Equal(t, first, again, "%s under %T", p.Name, o.Policy)
		}
	}
}

// The slot time is the wasted slot time plus the slot time of attempts that ended tasks. Only copies and restarts can
// win.
func TestResultsAddUp(t *testing.T) {
	phases := 25 // or 60 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		phases = 60
	}
	for i, p := range workload.Generate(phases, 7) {
		for _, o := range policies() {
			o.Seed = uint64(i)
			r, err := sim.Run(p, o)
			require.NoError(t, err)
			name := fmt.Sprintf("%s under %T: %+v", p.Name, o.Policy, r)
			assert.Equal(t, len(p.Tasks), r.Tasks, name)
			assert.Less(t, r.Wasted, r.Used, name)
			assert.LessOrEqual(t, r.Used, r.Time*time.Duration(len(p.Slots)), "%s: slots run one copy at a time", name)
			assert.LessOrEqual(t, r.Won, r.Copies+r.Restarts, name)
			assert.LessOrEqual(t, r.Restarts, 3*r.Tasks, "%s: at most gamma restarts a task", name)
			if _, mantri := o.Policy.(restart.Mantri); !mantri {
				assert.Zero(t, r.Restarts, name)
				assert.LessOrEqual(t, r.Copies, r.Tasks, "%s: one copy a task", name)
			}
		}
	}
}

// two tasks of 10 s, one of which is 100 s by accident: its copy takes 10 s like the rest.
func outlierPhase() *sim.Phase {
	p := &sim.Phase{Name: "outlier", Interval: time.Second, Machines: 4}
	for i := range 9 {
		d := 10 * time.Second
		if i == 4 {
			d = 100 * time.Second
		}
		p.Tasks = append(p.Tasks, sim.Task{Work: 1, Attempts: []sim.Attempt{{Duration: d}}})
		p.Order = append(p.Order, int32(i))
	}
	for i := range 4 {
		p.Slots = append(p.Slots, sim.Slot{Machine: i})
	}
	p.Draw = constant(10 * time.Second)
	return p
}

func TestMantriRestartsAnOutlierEarly(t *testing.T) {
	p := outlierPhase()
	none, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
	require.NoError(t, err)
	assert.Equal(t, 110*time.Second, none.Time)

	var log []string
	with, err := sim.Run(p, sim.Options{Policy: restart.Mantri{}, WatchTask: 4, Watch: func(at time.Duration, attempt int, what string) {
		log = append(log, fmt.Sprintf("%v #%d %s", at, attempt, what))
	}})
	require.NoError(t, err)
	assert.LessOrEqual(t, with.Time, 40*time.Second, "%v", log)
	assert.Less(t, with.Used, none.Used)
	require.NotEmpty(t, log)
	assert.Contains(t, log[0], "started")
	assert.Contains(t, log[len(log)-1], "finished", "the original is killed when it is restarted: %v", log)
}

// A restart that takes longer than the attempt that it replaced has not won.
func TestRestartThatDoesNotPay(t *testing.T) {
	p := outlierPhase()
	p.Draw = constant(200 * time.Second)
	r, err := sim.Run(p, sim.Options{Policy: restart.Mantri{}})
	require.NoError(t, err)
	assert.Positive(t, r.Restarts)
	assert.Zero(t, r.Won)
	assert.Greater(t, r.Time, 110*time.Second)
}

// An attempt that fails reports half the progress of one that succeeds.
func TestProgressBeforeFailure(t *testing.T) {
	const s = time.Second
	p := outlierPhase()
	p.Tasks[0].Attempts = []sim.Attempt{{Duration: 10 * s}, {Duration: 10 * s}}
	p.Order = append(p.Order, 0)
	var log []string
	_, err := sim.Run(p, sim.Options{Policy: restart.Never{}, Watch: func(_ time.Duration, _ int, what string) {
		log = append(log, what)
	}})
	require.NoError(t, err)
	i := slices.Index(log, "failed, as it did in the log")
	require.Positive(t, i)
	assert.Contains(t, log[i-1], " 45.0%")
}

// Policies are compared on the same luck: a task's n-th copy draws the same under each, and another seed draws other.
func TestCommonRandomNumbers(t *testing.T) {
	draws := func(o sim.Options) map[int][]uint64 {
		p, seen := outlierPhase(), map[int][]uint64{}
		p.Draw = func(r *rand.Rand, task, _ int, _ bool) time.Duration {
			seen[task] = append(seen[task], r.Uint64())
			return 10 * time.Second
		}
		_, err := sim.Run(p, o)
		require.NoError(t, err)
		return seen
	}
	mantri := draws(sim.Options{Policy: restart.Mantri{}, Seed: 1})
	require.NotEmpty(t, mantri[4])
	dryad := draws(sim.Options{Policy: rules.Dryad{}, Seed: 1})
	cloned := draws(sim.Options{Policy: restart.Never{}, Clones: 2, Seed: 1})
	require.NotEmpty(t, dryad[4])
	assert.Equal(t, mantri[4][0], dryad[4][0])
	assert.Equal(t, mantri[4][0], cloned[4][0])
	assert.NotEqual(t, cloned[4][0], cloned[5][0])
	assert.NotEqual(t, mantri[4][0], draws(sim.Options{Policy: restart.Mantri{}, Seed: 2})[4][0])
}

// Tasks wait for slots that open late, slots rest, close, and failed attempts are run again when they were.
func TestRecordedScheduleComesBack(t *testing.T) {
	const s = time.Second
	p := &sim.Phase{
		Name: "recorded", Interval: s, Machines: 2,
		Slots: []sim.Slot{
			{Machine: 0, Rests: []time.Duration{2 * s}}, // runs 0 at 0-10, 2 at 12-17, then idle
			{Machine: 1, Opens: 3 * s, Closes: 8 * s},   // runs 1 at 3-8, which fails, and is lost: 2 and 3 wait
			{Machine: 1, Opens: 14 * s},                 // runs 3 at 14-15; 1 is back at 20 and runs 20-25 on the first slot
		},
		Tasks: []sim.Task{
			{Attempts: []sim.Attempt{{Duration: 10 * s}}},
			{Attempts: []sim.Attempt{{Duration: 5 * s}, {Duration: 5 * s, Wait: 12 * s}}},
			{Attempts: []sim.Attempt{{Duration: 5 * s}}},
			{Attempts: []sim.Attempt{{Duration: 1 * s}}},
		},
		Order: []int32{0, 1, 2, 3, 1},
		Draw:  constant(s),
	}
	r, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
	require.NoError(t, err)
	assert.Equal(t, 25*s, r.Time)
	assert.Equal(t, 26*s, r.Used)
	assert.Equal(t, 5*s, r.Wasted)
}

// In the recording, task 0 takes 10 s on a slot that then leaves, although task 1 waits. If task 0 takes less, task 1 still starts
// on its own slot, at 60 s. The policy kills the only attempt of task 0: its slot takes the new attempt.
func TestASlotThatLeavesTakesNoOtherTask(t *testing.T) {
	const s = time.Second
	phase := func(takes time.Duration) *sim.Phase {
		return &sim.Phase{
			Name: "leaves", Interval: s, Machines: 2,
			Slots: []sim.Slot{{Machine: 0, Closes: 10 * s, Declines: true}, {Machine: 1, Opens: 60 * s}},
			Tasks: []sim.Task{{Attempts: []sim.Attempt{{Duration: takes}}}, {Attempts: []sim.Attempt{{Duration: s}}}},
			Order: []int32{0, 1}, Draw: constant(3 * s),
		}
	}
	for _, takes := range []time.Duration{10 * s, 8 * s, s, 30 * s} {
		r, err := sim.Run(phase(takes), sim.Options{Policy: restart.Never{}})
		require.NoError(t, err)
		assert.Equal(t, 61*s, r.Time, "%v", takes)
	}
	var log []string
	r, err := sim.Run(phase(100*s), sim.Options{Policy: &killsOnce{}, Watch: func(at time.Duration, attempt int, what string) {
		log = append(log, fmt.Sprintf("%v #%d %s", at, attempt, what))
	}})
	require.NoError(t, err)
	assert.Equal(t, 1, r.Restarts)
	assert.Equal(t, "4s #1 finished", log[len(log)-1], log)
}

// killsOnce restarts the first task that reports.
type killsOnce struct{ done bool }

func (k *killsOnce) Decide(restart.Task, restart.Phase) restart.Decision {
	if k.done {
		return restart.Decision{}
	}
	k.done = true
	return restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner}
}

// A slot runs three tasks in the recording, and then leaves, although task 4 waits. The last of the three starts at 4 s. Until then
// the slot takes what waits, also a fourth task. Later it only takes a third one.
func TestASlotThatLeavesWorksUntilItsLastTask(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		takes, want time.Duration // of tasks 0 and 2; of the phase
	}{
		{2 * s, 14 * s},           // as recorded: task 4 runs on the other slot, from 10 s on
		{s, 10 * s},               // task 3 runs from 2 to 4 s, and task 4 on the same slot from 4 to 8 s
		{1500 * s / 1000, 14 * s}, // task 3 ends at 5 s
		{2500 * s / 1000, 14 * s}, // task 3 starts at 5 s
	} {
		p := &sim.Phase{
			Name: "leaves", Interval: s, Machines: 2,
			Slots: []sim.Slot{
				{Machine: 0, Rests: make([]time.Duration, 2), Closes: 6 * s, Declines: true, Last: 4 * s},
				{Machine: 1, Rests: make([]time.Duration, 1)},
			},
			Order: []int32{0, 1, 2, 3, 4}, Draw: constant(s),
		}
		for _, takes := range []time.Duration{c.takes, 10 * s, c.takes, 2 * s, 4 * s} {
			p.Tasks = append(p.Tasks, sim.Task{Attempts: []sim.Attempt{{Duration: takes}}})
		}
		r, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
		require.NoError(t, err)
		assert.Equal(t, c.want, r.Time, "%v", c.takes)
	}
}

func TestPhaseThatCannotEnd(t *testing.T) {
	p := outlierPhase()
	p.Slots = nil
	_, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
	assert.ErrorContains(t, err, "9 tasks were never started")
}

func TestInterval(t *testing.T) {
	assert.Equal(t, 10*time.Second, sim.Interval(time.Hour, time.Hour, time.Hour, 1))
	assert.Equal(t, 2*time.Second, sim.Interval(20*time.Second, time.Minute, time.Minute, 1))
	assert.Equal(t, time.Millisecond, sim.Interval(0, 0, 0, 0))
	assert.Equal(t, 360*time.Millisecond, sim.Interval(2*time.Millisecond, time.Hour, time.Hour, 1), "at most 10,000 reports")
	const days = 11 * 24 * time.Hour
	interval := sim.Interval(days, days, 5000*days, 5000)
	assert.InDelta(t, 1<<20, (5000 * days / interval), 10, "about a million reports a phase")
	assert.Equal(t, 50*time.Second, sim.Interval(1000*time.Second, 1000*time.Second, 1000*time.Second*1e6, 1e6), "but twenty a task")
}
