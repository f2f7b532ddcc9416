package tracker_test

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// forever is a Recent that no test outlasts.
const forever = 1000 * time.Hour

// A growing phase that gets all its tasks at the begin and forgets none answers as a phase of a fixed number of tasks,
// for every published policy. Two differences are left out: a growing phase has no first wave, and its trials lose weight,
// so that the comparison ends at the first trial that is won or lost.
func TestAGrowingPhaseThatForgetsNothingAnswersAsAFixedPhase(t *testing.T) {
	policies := []restart.Policy{nil, restart.Mantri{}, restart.Never{}}
	for _, name := range []string{"late", "hadoop", "mapreduce", "dryad", "spark", "flink", "sda", "ese"} {
		policy, err := rules.Parse(name)
		require.NoError(t, err)
		policies = append(policies, policy)
	}
	compared, copies := 0, 0
	for seed := range cases(60, 600) {
		policy := policies[seed%uint64(len(policies))]
		rng := rand.New(rand.NewPCG(seed, 61))
		tasks := 4 + rng.IntN(27)
		work := make([]float64, tasks)
		for i := range work {
			work[i] = 1
			if seed%2 == 1 {
				work[i] = 1 + rng.Float64()
			}
		}
		config := tracker.Config{
			Slots: 4 + rng.IntN(30), Machines: 1 + rng.IntN(10), Interval: time.Second, Policy: policy, Limits: asPublished(policy),
			UnitTimes: estimate.UnitTimesConfig{KeepFirstWave: true, Floor: .1},
		}
		fixed, growing := config, config
		fixed.Work, fixed.Knowledge, fixed.Kind = work, onlyKinds(t), "a"
		growing.Knowledge, growing.Kind = onlyKinds(t), "a"
		growing.Work, growing.Recent = work, forever
		if seed%2 == 0 { // the first tasks decide to which work times are scaled, so that digits differ if works do
			growing.Work = work[:1+rng.IntN(tasks)]
		}
		one, err := tracker.New(fixed)
		require.NoError(t, err)
		two, err := tracker.New(growing)
		require.NoError(t, err)
		for i := len(growing.Work); i < tasks; i++ {
			require.Equal(t, i, two.Add(work[i]))
		}
		w := randomEvents{rng: rng, tracker: one, work: work, machines: config.Machines}
		for i := range 300 {
			if i == 100 && seed%3 == 1 {
				two = restored(t, two, growing)
			}
			if i == 100 && seed%3 == 2 {
				one = restored(t, one, fixed)
				w.tracker = one
			}
			e := w.next()
			a, b := one.Apply(e), two.Apply(e)
			if trials := one.Phase().Trials; trials.Won+trials.Lost > 0 {
				break
			}
			if !equal(a, b) {
				require.Equal(t, digits(t, a), digits(t, b), "seed %d, %v: %v", seed, policy, e)
			}
			compared++
			if a.Action == restart.Copy {
				copies++
			}
		}
	}
	t.Log(compared, "answers are equal,", copies, "of them copies")
	assert.Greater(t, copies, 20)
}

// equal reports whether two answers have the same digits. Of answers that are not equal, digits may be the same.
func equal(a, b tracker.Answer) bool {
	return a.Decision == b.Decision && a.Task == b.Task && a.Ignored == b.Ignored && slices.Equal(a.Overtaken, b.Overtaken) &&
		slices.Equal(a.Waiting, b.Waiting) && slices.EqualFunc(a.Found, b.Found, equal)
}

// digits returns an answer with all its digits.
func digits(t *testing.T, a tracker.Answer) string {
	t.Helper()
	text, err := json.Marshal(a)
	require.NoError(t, err)
	return string(text)
}

// restored returns a tracker that is restored from a snapshot of tr, with its Knowledge restored, too.
func restored(t *testing.T, tr *tracker.Tracker, c tracker.Config) *tracker.Tracker {
	t.Helper()
	if c.Knowledge != nil {
		data, err := c.Knowledge.MarshalBinary()
		require.NoError(t, err)
		c.Knowledge = new(tracker.Knowledge)
		require.NoError(t, c.Knowledge.UnmarshalBinary(data))
	}
	data, err := tr.MarshalBinary()
	require.NoError(t, err)
	again, err := tracker.Restore(c, data)
	require.NoError(t, err)
	return again
}

// randomEvents draws events of a phase.
type randomEvents struct {
	rng      *rand.Rand
	tracker  *tracker.Tracker
	work     []float64
	machines int
	now      time.Duration
}

// next returns a random event. Most events make sense.
func (w *randomEvents) next() tracker.Event {
	w.now += time.Duration(w.rng.IntN(400)) * time.Millisecond
	task := w.rng.IntN(len(w.work))
	e := tracker.Event{Time: start.Add(w.now), Task: task, Machine: w.rng.IntN(w.machines+1) - 1}
	var runs []tracker.AttemptInfo
	for a := range w.tracker.Attempts(task) {
		runs = append(runs, a)
	}
	if len(runs) == 0 {
		e.Kind = []tracker.EventKind{
			tracker.Started, tracker.Started, tracker.Submitted, tracker.Offered, tracker.OutputLost, tracker.GivenUp, tracker.Retried,
		}[w.rng.IntN(7)]
		return e
	}
	a := runs[w.rng.IntN(len(runs))]
	e.Attempt = a.Attempt
	e.Kind = []tracker.EventKind{
		tracker.Reported, tracker.Reported, tracker.Recorded, tracker.Reported, tracker.Reported, tracker.Offered, tracker.Swept,
		tracker.Asked, tracker.Begun, tracker.Failed, tracker.Killed, tracker.Started,
	}[w.rng.IntN(12)]
	if w.rng.IntN(40) == 0 {
		e.Kind = []tracker.EventKind{tracker.MachineLost, tracker.MachineLeaves, tracker.Restarted, tracker.EligibleSet}[w.rng.IntN(4)]
		e.NoCopy = w.rng.IntN(2) == 0
	}
	if takes := w.work[task] * float64(6+task%3*4+20*(task%7/6)); a.Begun {
		share := a.Age.Seconds() / takes
		if share >= 1 && w.rng.IntN(2) == 0 {
			e.Kind = tracker.Finished
		}
		e.Report.Done = min(share, 1) * w.work[task]
	}
	return e
}

// stream drives a growing phase with random events, and keeps a plain list of its tasks.
type stream struct {
	t       *testing.T
	rng     *rand.Rand
	tracker *tracker.Tracker
	now     time.Duration
	tasks   []streamed // the tasks that are not forgotten
	ends    []taskEnd
	next    int
}

// streamed is a task of a stream. Over says that it has finished.
type streamed struct {
	task int
	work float64
	over bool
}

// taskEnd is the end of a task. Won says that it has finished.
type taskEnd struct {
	at   time.Duration
	task int
	won  bool
}

// step applies a random event to the tracker.
func (s *stream) step() {
	s.now += time.Duration(s.rng.IntN(300)) * time.Millisecond
	tr, now := s.tracker, start.Add(s.now)
	if len(s.tasks) < 8 || len(s.tasks) < 60 && s.rng.IntN(3) == 0 {
		work := float64(1 + s.rng.IntN(3))
		require.Equal(s.t, s.next, tr.Add(work), "an index is never used again")
		s.tasks = append(s.tasks, streamed{task: s.next, work: work})
		s.next++
		return
	}
	i := s.rng.IntN(len(s.tasks))
	task := &s.tasks[i]
	var runs []tracker.AttemptInfo
	for a := range tr.Attempts(task.task) {
		runs = append(runs, a)
	}
	switch k := s.rng.IntN(20); {
	case task.over && k < 6, k == 0 && s.rng.IntN(8) == 0:
		tr.Decide(now, task.task) // a task that has not finished ends at the time of the latest event
		tr.Forget(task.task)
		if !task.over {
			s.ends = append(s.ends, taskEnd{s.now, task.task, false})
		}
		s.tasks = slices.Delete(s.tasks, i, i+1)
	case task.over && k == 6:
		tr.LoseOutput(now, task.task)
		task.over = false
		s.ends = slices.DeleteFunc(s.ends, func(e taskEnd) bool { return e.task == task.task })
	case task.over:
		tr.Sweep(now, func(tracker.Answer) {})
	case len(runs) == 0:
		tr.Start(now, task.task, s.rng.IntN(6))
	case runs[0].Age > time.Duration(task.work*float64(3+task.task%5))*time.Second:
		tr.Finish(now, task.task, runs[s.rng.IntN(len(runs))].Attempt)
		task.over = true
		s.ends = append(s.ends, taskEnd{s.now, task.task, true})
	case k == 7:
		tr.Fail(now, task.task, runs[0].Attempt)
	case k == 8 && len(runs) < 4:
		tr.Start(now, task.task, s.rng.IntN(6))
	case k == 9:
		tr.Kill(now, task.task, runs[0].Attempt)
	case k == 10:
		tr.Next(now, s.rng.IntN(6))
	default:
		tr.Report(now, task.task, runs[0].Attempt, tracker.Report{Done: task.work * min(1, runs[0].Age.Seconds()/(4*task.work))})
	}
}

// check compares what the tracker says with the plain list.
func (s *stream) check(recent time.Duration) {
	t, tr := s.t, s.tracker
	facts := tr.Phase()
	ended := slices.DeleteFunc(slices.Clone(s.ends), func(e taskEnd) bool { return e.at < s.now-recent })
	won := slices.DeleteFunc(slices.Clone(ended), func(e taskEnd) bool { return !e.won })
	open, waiting := 0, []streamed{}
	for _, task := range s.tasks {
		info := tr.Task(task.task)
		require.Equal(t, task.over, info.Finished)
		if !task.over {
			open++
		}
		if info.Waits {
			waiting = append(waiting, task)
		}
	}
	require.Equal(t, open+len(ended), facts.Tasks)
	require.Equal(t, len(won), facts.Finished)
	slices.SortFunc(waiting, func(a, b streamed) int {
		return cmp.Or(cmp.Compare(b.work, a.work), cmp.Compare(a.task, b.task))
	})
	i := 0
	for task := range tr.Waiting() {
		require.Equal(t, waiting[i].task, task)
		i++
	}
	require.Equal(t, i, len(waiting))
}

// A growing phase knows its open tasks, counts the tasks that ended lately, and ignores events of forgotten tasks. The
// waiting tasks have the same order as in a phase of a fixed number of tasks: of equal tasks, the older comes first. Its
// journal replays to the same answers, and it gives the same answers when it is restored.
func TestAGrowingPhaseAddsAndForgetsTasks(t *testing.T) {
	t.Parallel()
	for seed := range cases(8, 200) {
		names := []string{"", "mantri", "late", "hadoop", "dryad", "spark", "flink", "mapreduce"}
		config := tracker.Config{
			Recent: time.Duration(5+seed%3*20) * time.Second, Slots: 30, Machines: 6, Interval: time.Second, Clones: 1 + int(seed%5)/4,
		}
		if name := names[seed%8]; name != "" {
			policy, err := rules.Parse(name)
			require.NoError(t, err)
			config.Policy, config.Limits = policy, asPublished(policy)
		}
		record := journal.NewRecorder(config)
		twinConfig, twin := config, (*tracker.Tracker)(nil)
		config.OnEvent = func(e tracker.Event, a tracker.Answer) {
			record.OnEvent(e, a)
			if twin != nil {
				if b := twin.Apply(e); !equal(a, b) {
					require.Equal(t, digits(t, a), digits(t, b), "the restored tracker gives another answer")
				}
			}
		}
		tr, err := tracker.New(config)
		require.NoError(t, err)
		s := stream{t: t, rng: rand.New(rand.NewPCG(seed, 62)), tracker: tr}
		for i := range cases(800, 1500) {
			if s.step(); i%150 == 0 {
				twin = restored(t, tr, twinConfig)
			}
			if i%10 == 0 {
				tr.Sweep(start.Add(s.now), func(tracker.Answer) {})
				s.check(config.Recent)
			}
		}
		ignored := tr.Ledger().Ignored
		require.True(t, tr.Apply(tracker.Event{Kind: tracker.Started, Time: start.Add(s.now), Task: s.next}).Ignored)
		for task := range s.next {
			if slices.ContainsFunc(s.tasks, func(known streamed) bool { return known.task == task }) {
				continue
			}
			for kind := tracker.Started; int(kind) <= tracker.EventKinds; kind++ {
				if kind.Has("task") && kind != tracker.Asked {
					require.True(t, tr.Apply(tracker.Event{Kind: kind, Time: start.Add(s.now), Task: task}).Ignored, "%v", kind)
					ignored++
				}
			}
			require.Zero(t, tr.Task(task))
		}
		require.Equal(t, ignored+1, tr.Ledger().Ignored)
		again, err := journal.Replay(record.Bytes(), journal.Options{})
		require.NoError(t, err)
		require.Equal(t, string(record.Bytes()), string(again))
	}
}

// The works of a growing phase that began without tasks are known if that of the first task is.
func TestTheFirstTaskSaysWhetherWorksAreKnown(t *testing.T) {
	for _, known := range []bool{false, true} {
		tr, err := tracker.New(tracker.Config{Recent: time.Hour, Slots: 4, Interval: time.Second, Policy: restart.Mantri{}})
		require.NoError(t, err)
		require.Zero(t, tr.Phase().Tasks)
		first := -1.
		if known {
			first = 10
		}
		tr.Add(first)
		tr.Add(1000)
		tr.Add(math.NaN())
		tr.Start(start, 1, 0)
		ledger := tr.Ledger()
		tr.Report(start.Add(time.Second), 1, 0, tracker.Report{Done: 500})
		assert.Equal(t, known, tr.Ledger().BadUnits == ledger.BadUnits, "500 of 1000 units, or of 1")
	}
	fixed, err := tracker.New(tracker.Config{Tasks: 1, Slots: 1, Interval: time.Second})
	require.NoError(t, err)
	assert.Equal(t, -1, fixed.Add(1))
	fixed.Forget(0)
	assert.Equal(t, 2, fixed.Ledger().Ignored)
	assert.False(t, fixed.Task(0).Finished)
	_, err = tracker.New(tracker.Config{Recent: -1, Interval: time.Second})
	assert.ErrorContains(t, err, "Config.Recent is -1ns, want a positive duration")
}

// The memory of a growing phase is that of its open tasks and of the newest attempts that have ended, for every policy. No
// event allocates once the phase is as large as it gets.
func TestAGrowingPhaseDoesNotGrowForEver(t *testing.T) {
	for _, name := range []string{"", "mantri", "late", "spark", "flink"} {
		config := tracker.Config{Recent: time.Minute, Slots: 100, Machines: 20, Interval: time.Second, Stream: true}
		if name != "" {
			policy, err := rules.Parse(name)
			require.NoError(t, err)
			config.Policy, config.Limits = policy, asPublished(policy)
		}
		tr, err := tracker.New(config)
		require.NoError(t, err)
		rng, now := rand.New(rand.NewPCG(9, 63)), start
		type job struct{ task, attempt int }
		var jobs []job
		turn := func() {
			now = now.Add(50 * time.Millisecond)
			task := tr.Add(1 + rng.Float64())
			jobs = append(jobs, job{task, tr.Start(now, task, rng.IntN(20))})
			one := jobs[rng.IntN(len(jobs))]
			tr.Report(now, one.task, one.attempt, tracker.Report{Done: rng.Float64()})
			for len(jobs) > 90 {
				i := rng.IntN(len(jobs))
				one := jobs[i]
				jobs[i] = jobs[len(jobs)-1]
				jobs = jobs[:len(jobs)-1]
				if rng.IntN(10) > 0 {
					tr.Finish(now, one.task, one.attempt)
				}
				tr.Forget(one.task)
			}
		}
		for range cases(5000, 10_000) {
			turn()
		}
		jobs = slices.Grow(jobs, 1)
		allocated := testing.AllocsPerRun(1000, turn)
		assert.Zero(t, allocated, name)
		facts := tr.Phase()
		assert.InDelta(t, 90+60*20, facts.Tasks, 2, name)
	}
}

// What a growing phase has learnt from an attempt is forgotten when the attempt has ended longer than Recent ago, or when
// 4096 others have ended since.
func TestAGrowingPhaseForgetsWhatIsOld(t *testing.T) {
	tr, err := tracker.New(tracker.Config{Recent: time.Minute, Slots: 10, Interval: time.Second, Policy: restart.Mantri{}})
	require.NoError(t, err)
	now := start
	end := func(takes time.Duration) {
		task := tr.Add(-1)
		tr.Start(now, task, 0)
		now = now.Add(takes)
		tr.Finish(now, task, 0)
		tr.Forget(task)
	}
	for range 20 {
		end(time.Second)
	}
	tr.Sweep(start.Add(time.Minute), nil)
	assert.InDelta(t, 1, tr.UnitTimes().Mean(), 1e-9)
	assert.Equal(t, 20, tr.Phase().Finished)
	tr.Sweep(start.Add(81*time.Second), nil)
	assert.False(t, tr.UnitTimes().Known())
	assert.Zero(t, tr.Phase().Finished)
	now = start.Add(100 * time.Second)
	for range 5000 {
		end(time.Millisecond)
	}
	tr.Sweep(now, nil)
	assert.InDelta(t, 4096, tr.UnitTimes().Samples(), 1)
	assert.Equal(t, 5000, tr.Phase().Finished)
}

// A growing phase forgets the progress of a machine with the attempts that have ended there. Machine 0 has ended ten
// tasks, and machine 1 has done half a task. So LATE gives machine 0 the copy of this task. Later than Config.Recent,
// machine 0 has done nothing, is the slower one, and gets no copy.
func TestAGrowingPhaseForgetsTheProgressOfMachines(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Recent: time.Minute, Slots: 10, Interval: time.Second,
		Policy: rules.LATE{SlowTask: restart.Off, MinAge: restart.Off, SpeculativeCap: 1, SlowNode: .75},
	})
	for range 10 {
		task := tr.Add(1)
		tr.Start(at(0), task, 0)
		tr.Finish(at(1), task, 0)
	}
	slow := tr.Add(1)
	tr.Start(at(1), slow, 1)
	tr.Report(at(20), slow, 0, tracker.Report{Score: .5})
	assert.Equal(t, restart.Copy, tr.Next(at(30), 0).Action)
	tr.Report(at(100), slow, 0, tracker.Report{Score: .5})
	assert.Equal(t, restart.SlowMachine, tr.Next(at(110), 0).Reason)
}
