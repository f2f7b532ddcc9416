package tracker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
)

func second(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * 1e9)) }

// stage creates the tracker of a phase with ten slots. Its Experience is shared with other phases.
func stage(t testing.TB, x *Experience, tasks int, work ...float64) *Tracker {
	t.Helper()
	c := Config{Tasks: tasks, Work: work, Slots: 10, Interval: 10 * time.Second, Experience: x}
	tr, err := New(c)
	require.NoError(t, err)
	return tr
}

// runs starts each task of a phase at a given time, and ends it after the given number of seconds. Each task has one
// attempt.
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

// asked returns the decision about a task that has run from one given time to another without a report.
func asked(tr *Tracker, from, to float64) restart.Decision {
	tr.Start(second(from), 0, 0)
	return tr.Decide(second(to), 0).Decision
}

// A phase of one task has no run times of its own. The run times of earlier phases of its kind show that the task is
// slow.
func TestAPhaseOfOneTaskUsesItsKind(t *testing.T) {
	x := new(Experience)
	assert.Equal(t, restart.NoEstimate, asked(stage(t, x, 1), 0, 500).Reason, "the kind has no run times yet")
	for i := range 4 {
		runs(stage(t, x, 2), 1000*float64(i), 100, 110)
	}
	assert.Equal(t, restart.NotSlow, asked(stage(t, x, 1), 5000, 5090).Reason)
	slow := stage(t, x, 1)
	d := asked(slow, 5000, 5250)
	assert.Equal(t, restart.Copy, d.Action)
	assert.Equal(t, restart.ByAge, d.Basis)
	assert.Less(t, d.Fresh, 210*time.Second, "the task is long with a probability of one in four")
	assert.Equal(t, restart.NoEstimate, asked(stage(t, nil, 1), 5000, 5250).Reason)
}

// If works are known, run times per unit of work are compared. Run times with known works and with unknown works are
// not mixed.
func TestKnownAndUnknownWorksAreNotMixed(t *testing.T) {
	x := new(Experience)
	for i := range 4 {
		runs(stage(t, x, 0, 10, 20), 1000*float64(i), 100, 200)
	}
	assert.Equal(t, restart.NotSlow, asked(stage(t, x, 0, 60), 5000, 5180).Reason, "a task of this work takes 600 s")
	assert.Equal(t, restart.Copy, asked(stage(t, x, 0, 6), 6000, 6180).Action, "a task of this work takes 60 s")
	assert.Equal(t, restart.NoEstimate, asked(stage(t, x, 1), 7000, 7250).Reason, "run times of known works do not count for a task of unknown work")
}

// The tasks of a phase take longer than the tasks of earlier phases of its kind. After 16 own tasks, the phase's run
// times are the majority. After 32, it uses no others.
func TestOwnRunTimesReplaceThoseOfTheKind(t *testing.T) {
	x := new(Experience)
	for i := range 20 {
		runs(stage(t, x, 2), 300*float64(i), 100, 101)
	}
	tr := stage(t, x, 100)
	median := func() float64 {
		m := &tr.phase.ages
		m.fittedAt = noTime
		tr.phase.refit()
		return m.curve.Quantile(.5)
	}
	assert.InDelta(t, 100, median(), 1)
	tr.Start(second(8000), 50, 0)
	tr.Kill(second(8010), 50, 0)
	require.Len(t, tr.phase.link.runTimes(tr.phase.ages.successes), 32, "no task of the phase has ended, so all run times of the kind count")
	for i := range 40 { // one after another, because the age of a running task would be used as well
		tr.Start(second(9000+300*float64(i)), i, i)
		tr.Finish(second(9300+300*float64(i)), i, 0)
		switch own := i + 1; {
		case own < 16:
			require.Less(t, median(), 102., own)
		case own > 16:
			require.InDelta(t, 300., median(), 1, own)
		}
		require.Len(t, tr.phase.link.runTimes(tr.phase.ages.successes), max(32-i-1, 0))
	}
	assert.Len(t, tr.phase.link.others, 32, "the phase reads none of its own run times")
}

// A phase of many tasks adds the run times of some of its tasks to the Experience. These are spread over all tasks,
// and are not just the first tasks that ended.
func TestAPhaseOfManyTasksAddsSomeRunTimes(t *testing.T) {
	for n, want := range map[int]int{1: 1, 16: 16, 31: 31, 32: 16, 100: 25, 1000: 32, 1024: 16} {
		x := new(Experience)
		runs(stage(t, x, n), 0, slices.Repeat([]float64{5}, n)...)
		assert.Len(t, x.known, want, n)
	}
}

// tries gives a copy to a task without progress, kills the copy after some seconds, and ends the task.
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

// One phase has lost trials. The next phase of the kind may not lose as much again, until the Experience has received
// the run times of many tasks.
func TestLostTrialsCountForTheKind(t *testing.T) {
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

// Phases of a kind that run at the same time may together put as much slot time at risk as a single phase.
func TestPhasesOfAKindShareTheBound(t *testing.T) {
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
	assert.Equal(t, 4, copies, "a fifth trial could lose more than the bound allows")
	assert.Positive(t, x.stakes)
	for _, tr := range open {
		tr.Close(second(6260))
	}
	assert.Zero(t, x.stakes)
}

// Two phases with open trials stop, and one of them is restored. The trials of the other phase no longer burden the
// kind. A phase that is restored with another Experience adds its open trials there.
func TestOpenTrialsCountOnlyInRestoredPhases(t *testing.T) {
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
		assert.Equal(t, risk/2, x.stakes, "the other phase was not restored")
		tr.Close(second(6260))
		assert.Zero(t, x.stakes)
	}
}

// Phases share an Experience, and get the same events in the same order. They give the same answers, even if the
// phases and the Experience were restored from snapshots in between. The Experience can be restored in every state.
func TestPhasesOfASharedExperienceAreReplayed(t *testing.T) {
	actions := map[restart.Action]int{}
	seeds := uint64(15)
	if os.Getenv("STRAGGLER_LIVES") != "" {
		seeds = 30
	}
	for seed := range seeds {
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
	assert.Greater(t, actions[restart.Copy], int(seeds)*2/3)
}

// next returns a random next event of a phase.
func next(source *rand.Rand, tr *Tracker, now float64) Event {
	task := source.IntN(tr.Phase().Tasks)
	e := Event{Time: second(now), Task: task, Machine: source.IntN(10)}
	s := &tr.phase.book.tasks[task]
	if s.newest == none {
		e.Kind, e.Task = Started, task
		return e
	}
	a := &tr.phase.book.attempts.all[s.newest]
	e.Attempt = int(a.attempt)
	age := tr.phase.book.age(a).Seconds()
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
	x, err := NewExperience(ExperienceConfig{Keep: time.Hour, Origin: mergetest.Name(process)})
	require.NoError(t, err)
	return x
}

func TestExperienceKeepsTheLawsOfMerge(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Experience]{
		New: func(process int) *Experience { return processExperience(t, process) },
		See: func(x *Experience, _ int, now time.Time, source *rand.Rand) {
			if source.IntN(3) == 0 {
				x.add(now, entry{seconds: source.NormFloat64(), lost: source.Float64(), won: source.Float64()})
				return
			}
			x.add(now, entry{about: ofRunTime | about(source.IntN(4)<<1), seconds: source.ExpFloat64(), work: 1 + source.Float64()})
		},
		Answer: func(x *Experience, now time.Time) string {
			x.sum(x.choices().At(&x.clock, now))
			return fmt.Sprint(x.lost, x.won, x.cost, x.appendRunTimes(nil, mostOthers, false), x.appendRunTimes(nil, mostOthers, true))
		},
	})
	a, b := processExperience(t, 0), processExperience(t, 1)
	for i := range 4 {
		runs(stage(t, a, 2), 300*float64(i), 100, 110)
	}
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, b.Merge(second(2000), delta))
	assert.Equal(t, restart.Copy, asked(stage(t, b, 1), 2000, 2250).Action, "the run times of the other process count")
	assert.Less(t, len(delta), 60+8*22)
	mergetest.Refuses(t, b, second(2000), delta)
	_, err = NewExperience(ExperienceConfig{Keep: -1})
	assert.ErrorContains(t, err, "restart/tracker: ExperienceConfig.Keep is -1ns, want a positive duration, or 0 for the default")
	_, err = NewExperience(ExperienceConfig{MaxSkew: -1})
	assert.ErrorContains(t, err, "restart/tracker: ExperienceConfig.MaxSkew is -1ns")
	assert.ErrorContains(t, new(Experience).Merge(second(2000), delta), "Origin")
	y, err := NewExperience(ExperienceConfig{Origin: "y"})
	require.NoError(t, err)
	require.NoError(t, y.Merge(second(2000), delta), "a Keep of 0 means 30 days")
	assert.ErrorContains(t, y.Merge(second(930), delta), "delta of scheduler-0 is", "a MaxSkew of 0 means a minute")
}

func FuzzMerge(f *testing.F) {
	a := processExperience(f, 0)
	a.add(second(0), entry{seconds: -3, won: 1})
	a.add(second(0), entry{about: ofRunTime | ended | sized, seconds: 20, work: 2})
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(snapshottest.Body(delta))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := processExperience(t, 1)
		if b.Merge(second(100), snapshot.Seal(data, 0)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, processExperience(t, 2).Merge(second(100), again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Experience).UnmarshalBinary(saved))
		require.LessOrEqual(t, len(b.known), mostEntries)
	})
}

// Every release reads the snapshots of the releases before it. The delta must be read, too, or refused because of its
// first byte.
func TestCommittedSnapshotsAndDeltasOfAnExperienceAreRead(t *testing.T) {
	x := processExperience(t, 0)
	x.add(second(0), entry{seconds: -3, won: 1})
	x.add(second(1), entry{about: ofRunTime | ended | sized, seconds: 20, work: 2})
	mergetest.Kept(t, "experience", x, processExperience(t, 1), second(1),
		"7800010b7363686564756c65722d3080a8d6b9070080b1d0ba07028094ebdc030000000000000008c0000000000000000000"+
			"0000000000f03fc0843d0e00000000000034400000000000000040c58ed3fa")
}

func TestAnExperienceIsRestored(t *testing.T) {
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

// A full Experience does not allocate, with or without merging.
func TestAFullExperienceDoesNotAllocate(t *testing.T) {
	for _, x := range []*Experience{new(Experience), processExperience(t, 1)} {
		testExperienceDoesNotAllocate(t, x)
	}
}

func testExperienceDoesNotAllocate(t *testing.T, x *Experience) {
	runs(stage(t, x, 400), 0, slices.Repeat([]float64{100}, 400)...)
	for i := range mostEntries {
		x.add(second(float64(i)), entry{about: ofRunTime | ended, seconds: 100, work: 1})
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

// If Config.Stream is set, the phase has no last wave, even if few of its tasks are left.
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
		price := map[bool]float64{false: 3, true: .5}[stream]
		assert.InDelta(t, (1+price)*d.Remaining.Seconds(), d.Value, 1, "a second of time costs less in a stream: %v", d)
	}
}

// long returns the probability that a slow task is long by itself, as a tracker estimates it.
func long(t *Tracker) float64 { return t.phase.trials.Long(0) }
