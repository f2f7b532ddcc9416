package tracker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
)

func second(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * 1e9)) }

// stage opens a phase of a kind, on ten slots.
func stage(t testing.TB, x *Experience, tasks int, work ...float64) *Tracker {
	t.Helper()
	c := Config{Tasks: tasks, Work: work, Slots: 10, Interval: 10 * time.Second, Experience: x}
	tr, err := New(c)
	require.NoError(t, err)
	return tr
}

// runs lets each task of a phase run for so many seconds from an instant on, one copy each.
func runs(tr *Tracker, from float64, takes ...float64) {
	for i := range takes {
		tr.Start(second(from), i, i)
	}
	order := make([]int, len(takes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(takes[a] - takes[b]) })
	for _, i := range order {
		tr.Finish(second(from+takes[i]), i, 0)
	}
	tr.Close(second(from + takes[order[len(order)-1]]))
}

// asked returns what is decided about a task that has run from an instant to another and tells nothing.
func asked(tr *Tracker, from, to float64) restart.Decision {
	tr.Start(second(from), 0, 0)
	return tr.Decide(second(to), 0).Decision
}

// A phase of one task knows nothing by itself: what others of its kind took is all that makes it slow.
func TestOneTaskKnowsItsKind(t *testing.T) {
	x := new(Experience)
	assert.Equal(t, restart.NoProgress, asked(stage(t, x, 1), 0, 500).Reason, "the kind knows nothing either")
	for i := range 4 {
		runs(stage(t, x, 2), 1000*float64(i), 100, 110)
	}
	assert.Equal(t, restart.NotSlow, asked(stage(t, x, 1), 5000, 5090).Reason)
	slow := stage(t, x, 1)
	d := asked(slow, 5000, 5250)
	assert.Equal(t, restart.Copy, d.Action)
	assert.Equal(t, restart.ByAge, d.Basis)
	assert.Less(t, d.Fresh, 210*time.Second, "one chance in four that it is the task")
	assert.Equal(t, restart.NoProgress, asked(stage(t, nil, 1), 5000, 5250).Reason)
}

// Where works are known, a task is held against the time that a unit of work takes; and units are not mixed up.
func TestKindsOfWorks(t *testing.T) {
	x := new(Experience)
	for i := range 4 {
		runs(stage(t, x, 0, 10, 20), 1000*float64(i), 100, 200)
	}
	assert.Equal(t, restart.NotSlow, asked(stage(t, x, 0, 60), 5000, 5180).Reason, "600 s are usual")
	assert.Equal(t, restart.Copy, asked(stage(t, x, 0, 6), 6000, 6180).Action, "60 s are")
	assert.Equal(t, restart.NoProgress, asked(stage(t, x, 1), 7000, 7250).Reason, "nothing is known of what has no work")
}

// A phase whose tasks take longer than the kind's trusts its own: from 16 on they outweigh, from 32 on they stand alone.
func TestOwnTimesOutweighTheKinds(t *testing.T) {
	x := new(Experience)
	for i := range 20 {
		runs(stage(t, x, 2), 300*float64(i), 100, 101)
	}
	tr := stage(t, x, 100)
	median := func() float64 {
		m := &tr.phase.forecast.ages
		m.fitted = noTime
		tr.phase.forecast.refresh()
		return m.curve.Quantile(.5)
	}
	assert.InDelta(t, 100, median(), 1)
	tr.Start(second(8000), 50, 0)
	tr.Kill(second(8010), 50, 0)
	require.Len(t, tr.phase.forecast.pupil.lives(&tr.phase.forecast.ages), 32, "no task has ended")
	for i := range 40 { // one after the other: what runs for long would tell as well
		tr.Start(second(9000+300*float64(i)), i, i)
		tr.Finish(second(9300+300*float64(i)), i, 0)
		switch own := i + 1; {
		case own < 16:
			require.Less(t, median(), 102., own)
		case own > 16:
			require.InDelta(t, 300., median(), 1, own)
		}
		require.Len(t, tr.phase.forecast.pupil.lives(&tr.phase.forecast.ages), max(32-i-1, 0))
	}
	assert.Len(t, tr.phase.forecast.pupil.kin, 32, "it has heard nothing of its own")
}

// What a phase of many tasks teaches are the lives of some of them, and not of the first that ended.
func TestManyTasksTeachAFew(t *testing.T) {
	for n, want := range map[int]int{1: 1, 16: 16, 31: 31, 32: 16, 100: 25, 1000: 32, 1024: 16} {
		x := new(Experience)
		runs(stage(t, x, n), 0, slices.Repeat([]float64{5}, n)...)
		assert.Len(t, x.known, want, n)
	}
}

// tries lets a task without progress get a copy, which is killed after so long, the task ending after all.
func tries(t *testing.T, x *Experience, from, killed float64) {
	t.Helper()
	tr := stage(t, x, 1)
	require.Equal(t, restart.Copy, asked(tr, from, from+250).Action)
	tr.Start(second(from+250), 0, 1)
	require.Positive(t, x.stakes)
	tr.Kill(second(from+250+killed), 0, 1)
	tr.Finish(second(from+900), 0, 0)
	tr.Close(second(from + 900))
	require.Zero(t, x.stakes)
}

// What trials of one phase have lost, the next may not lose again, until the kind has seen many tasks.
func TestTrialsOfAKind(t *testing.T) {
	x := new(Experience)
	for i := range 16 {
		runs(stage(t, x, 2), 300*float64(i), 100, 110)
	}
	fresh := long(stage(t, x, 1))
	tries(t, x, 6000, 250)
	doubt := func() float64 {
		tr := stage(t, x, 1)
		asked(tr, 9000, 9001)
		return long(tr)
	}
	once := doubt()
	assert.Greater(t, once, fresh+.03)
	assert.InDelta(t, 250, x.cost.Seconds(), 10)
	tries(t, x, 7000, 250)
	assert.Greater(t, doubt(), once)
	tr := stage(t, x, 1)
	d := asked(tr, 9000, 9300)
	assert.Equal(t, restart.Keep, d.Action, "%v", d)
	for i := range 80 {
		runs(stage(t, x, 2), 10000+300*float64(i), 100, 110)
	}
	assert.Less(t, doubt(), fresh+.05)
	assert.Less(t, x.cost.Seconds(), 100.)
	assert.Equal(t, restart.Copy, asked(stage(t, x, 1), 40000, 40300).Action)
}

// Phases that run at once risk together what one may.
func TestPhasesRiskTogether(t *testing.T) {
	x := new(Experience)
	for i := range 16 {
		runs(stage(t, x, 2), 300*float64(i), 100, 110)
	}
	var open []*Tracker
	for range 10 {
		tr := stage(t, x, 1)
		if asked(tr, 6000, 6250).Action == restart.Copy {
			tr.Start(second(6250), 0, 1)
		}
		open = append(open, tr)
	}
	copies := 0
	for _, tr := range open {
		copies += tr.Ledger().Copies
	}
	assert.Equal(t, 3, copies, "a fourth could cost more than four times what one usually may")
	assert.Positive(t, x.stakes)
	for _, tr := range open {
		tr.Close(second(6260))
	}
	assert.Zero(t, x.stakes)
}

// What was open in phases that never come back is not held against the kind, nor does one that comes back to another
// experience let that risk more.
func TestOpenTrialsComeBackWithTheirPhases(t *testing.T) {
	learned := func() *Experience {
		x := new(Experience)
		for i := range 16 {
			runs(stage(t, x, 2), 300*float64(i), 100, 110)
		}
		return x
	}
	x := learned()
	var open [2][]byte
	for i := range open {
		tr := stage(t, x, 1)
		require.Equal(t, restart.Copy, asked(tr, 6000, 6250).Action)
		tr.Start(second(6250), 0, 1)
		var err error
		open[i], err = tr.MarshalBinary()
		require.NoError(t, err)
	}
	risk := x.stakes
	require.Positive(t, risk)
	for _, x := range []*Experience{snapshottest.Through[Experience](t, x), learned()} {
		require.Zero(t, x.stakes)
		cut := append([]byte(nil), open[0]...)
		cut[len(cut)-1]++
		_, err := Restore(Config{Experience: x}, cut)
		require.Error(t, err)
		require.Zero(t, x.stakes)
		tr, err := Restore(Config{Experience: x}, open[0])
		require.NoError(t, err)
		assert.Equal(t, risk/2, x.stakes, "the other phase has not come back")
		tr.Close(second(6260))
		assert.Zero(t, x.stakes)
	}
}

// Any phases that share an experience and are told the same in the same order answer alike, wherever they were
// restored from their snapshots and the experience from its own; and it comes back from any state.
func TestSharedExperienceIsReplayed(t *testing.T) {
	actions := map[restart.Action]int{}
	for seed := range uint64(30) {
		play := func(restores bool) (answers []Answer, end []byte) {
			source, cut := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			x, now := new(Experience), 0.
			open := make([]*Tracker, 3)
			for i := range open {
				open[i] = stage(t, x, 1+source.IntN(4))
			}
			for range 400 {
				now += 5 * source.Float64()
				i := source.IntN(len(open))
				tr := open[i]
				if tr.Phase().Finished == tr.Phase().Tasks {
					tr.Close(second(now))
					tr = stage(t, x, 1+source.IntN(4))
					open[i] = tr
				}
				event := next(source, tr, now)
				a := tr.Apply(event)
				actions[a.Action]++
				a.Overtaken = append([]int(nil), a.Overtaken...)
				answers = append(answers, a)
				if restores && cut.IntN(20) == 0 {
					x = snapshottest.Through[Experience](t, x)
					for j := range open {
						text, err := open[j].MarshalBinary()
						require.NoError(t, err)
						open[j], err = Restore(Config{Experience: x}, text)
						require.NoError(t, err)
					}
				}
			}
			end, err := x.MarshalBinary()
			require.NoError(t, err)
			return answers, end
		}
		want, end := play(false)
		again, same := play(false)
		require.Equal(t, want, again)
		require.Equal(t, end, same)
		restored, other := play(true)
		require.Equal(t, want, restored, "seed %d", seed)
		require.Equal(t, end, other)
	}
	assert.Greater(t, actions[restart.Copy], 20)
}

// next is what may happen to a phase next.
func next(source *rand.Rand, tr *Tracker, now float64) Event {
	task := source.IntN(tr.Phase().Tasks)
	e := Event{Time: second(now), Task: task, Machine: source.IntN(10)}
	s := &tr.phase.book.tasks[task]
	if s.copies == none {
		e.Kind, e.Task = Started, task
		return e
	}
	c := &tr.phase.book.copies.all[s.copies]
	e.Attempt = int(c.attempt)
	age := tr.phase.book.age(c).Seconds()
	switch k := source.IntN(12); {
	case k == 0 && age > 20, age > 60 && task > 0:
		e.Kind = Finished
	case k == 1 && tr.phase.book.several(s):
		e.Kind = Killed
	case k < 4:
		e.Kind = Started
	case k < 6:
		e.Kind, e.Report = Reported, Report{Done: min(age/100, 1)}
	case k < 10:
		e.Kind = Asked
	default:
		e.Kind = Offered
	}
	return e
}

func processExperience(t testing.TB, process int) *Experience {
	x, err := NewExperience(survival.WindowConfig{Keep: time.Hour, Origin: mergetest.Name(process)})
	require.NoError(t, err)
	return x
}

func TestLawsOfMerge(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Experience]{
		New: func(process int) *Experience { return processExperience(t, process) },
		See: func(x *Experience, _ int, now time.Time, source *rand.Rand) {
			if source.IntN(3) == 0 {
				x.learn(now, lesson{seconds: source.NormFloat64(), lost: source.Float64(), won: source.Float64()})
				return
			}
			x.learn(now, lesson{about: ofLife | about(source.IntN(4)<<1), seconds: source.ExpFloat64(), work: 1 + source.Float64()})
		},
		Answer: func(x *Experience, now time.Time) string {
			x.sum(x.choices().At(&x.clock, now))
			return fmt.Sprint(x.lost, x.won, x.cost, x.appendKin(nil, false), x.appendKin(nil, true))
		},
	})
	a, b := processExperience(t, 0), processExperience(t, 1)
	for i := range 4 {
		runs(stage(t, a, 2), 300*float64(i), 100, 110)
	}
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, b.Merge(second(2000), delta))
	assert.Equal(t, restart.Copy, asked(stage(t, b, 1), 2000, 2250).Action, "the other process has seen it")
	assert.Less(t, len(delta), 60+8*22)
	mergetest.Refuses(t, b, second(2000), delta)
	_, err = NewExperience(survival.WindowConfig{})
	assert.ErrorContains(t, err, "Keep is 0")
}

func TestExperienceIsRestored(t *testing.T) {
	x := new(Experience)
	text, err := x.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, x.UnmarshalBinary(text))
	for i := range 4 {
		runs(stage(t, x, 2), 300*float64(i), 100, 110)
	}
	text, err = x.MarshalBinary()
	require.NoError(t, err)
	snapshottest.Flips(t, text, new(Experience).UnmarshalBinary)
	for _, x := range []*Experience{x, processExperience(t, 3)} {
		y := snapshottest.Through[Experience](t, x)
		assert.Equal(t, x.choices(), y.choices())
		assert.Equal(t, append(y.known[:0:0], x.known...), append(y.known[:0:0], y.known...))
	}
}

// What it costs: nothing is allocated once it is full, whether it is passed on or not.
func TestExperienceDoesNotAllocate(t *testing.T) {
	for _, x := range []*Experience{new(Experience), processExperience(t, 1)} {
		testExperienceDoesNotAllocate(t, x)
	}
}

func testExperienceDoesNotAllocate(t *testing.T, x *Experience) {
	runs(stage(t, x, 400), 0, slices.Repeat([]float64{100}, 400)...)
	for i := range mostLessons {
		x.learn(second(float64(i)), lesson{about: ofLife | ended, seconds: 100, work: 1})
	}
	tr := stage(t, x, 400)
	for i := range 400 {
		tr.Start(second(1000), i, i)
	}
	task, now := 0, 1300.
	tr.Decide(second(now), 0)
	tr.Finish(second(now), 399, 0)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		now++
		tr.Decide(second(now), task)
		tr.Finish(second(now), task, 0)
		task++
	}))
}

// A stream has no last wave, however few of the phase's own tasks are left.
func TestAStreamHasNoLastWave(t *testing.T) {
	for _, stream := range []bool{false, true} {
		x := new(Experience)
		for i := range 16 {
			runs(stage(t, x, 2), 300*float64(i), 100, 700)
		}
		tr, err := New(Config{Tasks: 1, Slots: 10, Interval: 10 * time.Second, Experience: x, Stream: stream})
		require.NoError(t, err)
		d := asked(tr, 9000, 9110)
		assert.Equal(t, stream, tr.Phase().Stream)
		price := map[bool]float64{false: 2, true: .5}[stream]
		assert.InDelta(t, (1+price)*d.Remaining.Seconds(), d.Value, 1, "a second of time is worth less in a stream: %v", d)
	}
}

// long is how probable a tracker holds it that a slow task is long.
func long(t *Tracker) float64 { return t.judge.trials.Long(0, 0) }
