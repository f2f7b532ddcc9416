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

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
)

// daily is the kind of the phases of the tests.
const daily = "daily"

// kindsOnly returns a Knowledge that remembers no machine, because the numbers of machines mean nothing in these tests.
// Keep is its KnowledgeConfig.Keep.
func kindsOnly(keep time.Duration) *Knowledge {
	return &Knowledge{config: KnowledgeConfig{Keep: keep, Machines: machines.Config{MaxMachines: restart.Off}}}
}

func second(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * 1e9)) }

// stage creates the tracker of a phase with ten slots. Its Knowledge is shared with other phases of its kind.
func stage(t testing.TB, x *Knowledge, tasks int, work ...float64) *Tracker {
	t.Helper()
	c := Config{Tasks: tasks, Work: work, Slots: 10, Interval: 10 * time.Second, Knowledge: x, Kind: daily}
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
	x := kindsOnly(0)
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
	x := kindsOnly(0)
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
	x := kindsOnly(0)
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

// A phase of many tasks adds the run times of some of its tasks to its kind. These are spread over all tasks,
// and are not just the first tasks that ended.
func TestAPhaseOfManyTasksAddsSomeRunTimes(t *testing.T) {
	for n, want := range map[int]int{1: 1, 16: 16, 31: 31, 32: 16, 100: 25, 1000: 32, 1024: 16} {
		x := kindsOnly(0)
		runs(stage(t, x, n), 0, slices.Repeat([]float64{5}, n)...)
		assert.Len(t, x.kind(daily).known, want, n)
	}
}

// tries gives a copy to a task without progress, kills the copy after some seconds, and ends the task.
func tries(t *testing.T, x *Knowledge, from, killed float64) {
	t.Helper()
	tr := stage(t, x, 1)
	require.Equal(t, restart.Copy, asked(tr, from, from+250).Action)
	tr.Start(second(from+250), 0, 1)
	require.Positive(t, x.kind(daily).stakes)
	tr.Kill(second(from+250+killed), 0, 1)
	tr.Finish(second(from+900), 0, 0)
	tr.Close(second(from + 900))
	require.Zero(t, x.kind(daily).stakes)
}

// One phase has lost trials. The next phase of the kind may not lose as much again, until the kind has received
// the run times of many tasks.
func TestLostTrialsCountForTheKind(t *testing.T) {
	x := kindsOnly(0)
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
	assert.InDelta(t, 250, x.kind(daily).cost.Seconds(), 10)
	tries(t, x, 7000, 250)
	assert.Greater(t, doubt(), once)
	tr := stage(t, x, 1)
	d := asked(tr, 9000, 9300)
	assert.Equal(t, restart.Keep, d.Action, "%v", d)
	for i := range 80 {
		runs(stage(t, x, 2), 10000+300*float64(i), 100, 110)
	}
	assert.Less(t, doubt(), fresh+.05)
	assert.Less(t, x.kind(daily).cost.Seconds(), 100.)
	assert.Equal(t, restart.Copy, asked(stage(t, x, 1), 40000, 40300).Action)
}

// Phases of a kind that run at the same time may together put as much slot time at risk as a single phase.
func TestPhasesOfAKindShareTheBound(t *testing.T) {
	x := kindsOnly(0)
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
	assert.Positive(t, x.kind(daily).stakes)
	for _, tr := range open {
		tr.Close(second(6260))
	}
	assert.Zero(t, x.kind(daily).stakes)
}

// Two phases with open trials stop, and one of them is restored. The trials of the other phase no longer burden the
// kind. A phase that is restored with another Knowledge adds its open trials there.
func TestOpenTrialsCountOnlyInRestoredPhases(t *testing.T) {
	learned := func() *Knowledge {
		x := kindsOnly(0)
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
	risk := x.kind(daily).stakes
	require.Positive(t, risk)
	for _, x := range []*Knowledge{snapshottest.Through[Knowledge](t, x), learned()} {
		require.Zero(t, x.kind(daily).stakes)
		cut := append([]byte(nil), open[0]...)
		cut[len(cut)-1]++
		_, err := Restore(Config{Knowledge: x, Kind: daily}, cut)
		require.Error(t, err)
		require.Zero(t, x.kind(daily).stakes)
		tr, err := Restore(Config{Knowledge: x, Kind: daily}, open[0])
		require.NoError(t, err)
		assert.Equal(t, risk/2, x.kind(daily).stakes, "the other phase was not restored")
		tr.Close(second(6260))
		assert.Zero(t, x.kind(daily).stakes)
	}
}

// Phases share a Knowledge, and get the same events in the same order. They give the same answers, even if the
// phases and the Knowledge were restored from snapshots in between. The Knowledge can be restored in every state.
func TestPhasesOfASharedKnowledgeAreReplayed(t *testing.T) {
	t.Parallel()
	actions := map[restart.Action]int{}
	seeds := uint64(5)
	if os.Getenv("STRAGGLER_LIVES") != "" {
		seeds = 30
	}
	for seed := range seeds {
		play := func(restores bool) (answers []Answer, end []byte) {
			source, cut := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			x, now := kindsOnly(0), 0.
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
					text, err := x.MarshalBinary()
					require.NoError(t, err)
					x = new(Knowledge)
					require.NoError(t, x.UnmarshalBinary(text))
					for j := range open {
						text, err := open[j].MarshalBinary()
						require.NoError(t, err)
						open[j], err = Restore(Config{Knowledge: x, Kind: daily}, text)
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

// processOf returns the Knowledge of a process. It remembers no machine.
func processOf(t testing.TB, process int) *Knowledge {
	x, err := NewKnowledge(KnowledgeConfig{
		Keep: time.Hour, Machines: machines.Config{Origin: mergetest.Name(process), MaxMachines: restart.Off},
	})
	require.NoError(t, err)
	return x
}

// withMachines returns the Knowledge of a process that names three machines.
func withMachines(t testing.TB, process int) *Knowledge {
	x, err := NewKnowledge(KnowledgeConfig{
		Keep: time.Hour, Machines: machines.Config{Origin: mergetest.Name(process), HalfLife: time.Minute},
	})
	require.NoError(t, err)
	for machine := range 3 {
		require.True(t, x.Machines().SetName(machine, fmt.Sprint("m", (machine+process)%3)))
	}
	return x
}

// All processes with the same observations of machines and of two kinds give equal answers.
func TestKnowledgeKeepsTheLawsOfMerge(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Knowledge]{
		New: func(process int) *Knowledge { return withMachines(t, process) },
		See: func(x *Knowledge, _ int, now time.Time, source *rand.Rand) {
			k := x.kind([]string{daily, "hourly"}[source.IntN(2)])
			switch source.IntN(4) {
			case 0:
				a := machines.Attempt{Ran: time.Duration(source.IntN(100)) * time.Second, Usual: 20 * time.Second}
				x.Machines().End(now, source.IntN(3), 0, a, machines.Finished)
			case 1:
				x.add(now, k, entry{seconds: source.NormFloat64(), lost: source.Float64(), won: source.Float64()})
			default:
				x.add(now, k, entry{about: ofRunTime | about(source.IntN(4)<<1), seconds: source.ExpFloat64(), work: 1 + source.Float64()})
			}
		},
		Answer: func(x *Knowledge, now time.Time) (text string) {
			for _, k := range []*kind{x.kind(daily), x.kind("hourly")} {
				k.sum(x, x.at(now))
				text += fmt.Sprintln(k.lost, k.won, k.cost, k.appendRunTimes(nil, mostOthers, false), k.appendRunTimes(nil, mostOthers, true))
			}
			answers := map[string]float64{} // by the name of the machine, which has another number in each process
			for machine := range 3 {
				for process := range 9 {
					if name := fmt.Sprint("m", (machine+process)%3); x.Machines().SetName(machine, name) {
						answers[name] = x.Machines().Factor(machine)
					}
				}
			}
			return text + fmt.Sprint(answers)
		},
	})
	a, b := processOf(t, 0), processOf(t, 1)
	for i := range 4 {
		runs(stage(t, a, 2), 300*float64(i), 100, 110)
	}
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, b.Merge(second(2000), delta))
	assert.Equal(t, restart.Copy, asked(stage(t, b, 1), 2000, 2250).Action, "the run times of the other process count")
	assert.Less(t, len(delta), 60+8*22)
	mergetest.Refuses(t, b, second(2000), delta)
	_, err = NewKnowledge(KnowledgeConfig{Keep: -2})
	assert.ErrorContains(t, err, "restart/tracker: KnowledgeConfig.Keep is -2ns, want a positive duration, 0 for the default, or Off")
	_, err = NewKnowledge(KnowledgeConfig{Machines: machines.Config{MaxSkew: -1}})
	assert.ErrorContains(t, err, "estimate/machines: Config.MaxSkew is -1ns")
	assert.ErrorContains(t, kindsOnly(0).Merge(second(2000), delta), "Origin")
	y, err := NewKnowledge(KnowledgeConfig{Machines: machines.Config{Origin: "y"}})
	require.NoError(t, err)
	require.NoError(t, y.Merge(second(2000), delta), "a Keep of 0 means 30 days")
	assert.ErrorContains(t, y.Merge(second(930), delta), "delta of scheduler-0 is", "a MaxSkew of 0 means a minute")
}

// A clock goes back by fifty seconds twice, and each time by less than MaxSkew. The first observation is then from the
// future. It is forgotten, and comes back from the other process as soon as it is not.
func TestAClockThatGoesBackLittleByLittleLosesNoObservation(t *testing.T) {
	a, b := processOf(t, 0), processOf(t, 1)
	pull := func(to, from *Knowledge, now float64) {
		delta, err := from.AppendDelta(nil, to.AppendVersion(nil))
		require.NoError(t, err)
		require.NoError(t, to.Merge(second(now), delta))
	}
	for i, now := range []float64{300, 250, 200} {
		a.add(second(now), a.kind(daily), entry{about: ofRunTime | ended, seconds: float64(1 + i)})
		pull(b, a, 300)
	}
	assert.Len(t, a.kind(daily).known, 1, "two are from the future")
	pull(b, a, 400)
	pull(a, b, 400)
	assert.Len(t, a.kind(daily).known, 3)
	assert.Len(t, b.kind(daily).known, 3)
}

func FuzzMerge(f *testing.F) {
	a := processOf(f, 0)
	a.add(second(0), a.kind(daily), entry{seconds: -3, won: 1})
	a.add(second(0), a.kind(daily), entry{about: ofRunTime | ended | sized, seconds: 20, work: 2})
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(snapshottest.Body(delta))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := processOf(t, 1)
		if b.Merge(second(100), snapshottest.Sealed(data)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, processOf(t, 2).Merge(second(100), again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Knowledge).UnmarshalBinary(saved))
		require.LessOrEqual(t, len(b.kind(daily).known), mostEntries)
	})
}

// Every release reads the snapshots of the releases before it. The delta must be read, too, or refused because of its
// first byte.
func TestCommittedSnapshotsAndDeltasOfKnowledgeAreRead(t *testing.T) {
	x := withMachines(t, 0)
	x.add(second(0), x.kind(daily), entry{seconds: -3, won: 1})
	x.add(second(1), x.kind(daily), entry{about: ofRunTime | ended | sized, seconds: 20, work: 2})
	x.Machines().End(second(1), 2, 0, machines.Attempt{Ran: 40 * time.Second, Usual: 10 * time.Second}, machines.Finished)
	mergetest.Kept(t, "knowledge", x, withMachines(t, 1), second(1),
		"6b2f6d0100026d32010b7363686564756c65722d3080b1d0ba070080b1d0ba0701c098a8dd030a80808084040021c654b65a"+
			"780100056461696c79010b7363686564756c65722d3080a8d6b9070080b1d0ba07028094ebdc030000000000000008c00000"+
			"000000000000000000000000f03f00c0843d0e000000000000344000000000000000400078beeceb8bead5b8")
}

// 400 damaged snapshots, or 40,000 with STRAGGLER_LIVES, are refused, or give a Knowledge that is saved and restored.
func TestDamagedKnowledgeKeepsTheLaws(t *testing.T) {
	x := withMachines(t, 0)
	x.Machines().End(second(1), 2, 0, machines.Attempt{Ran: 40 * time.Second, Usual: 10 * time.Second}, machines.Finished)
	for i, name := range []string{daily, "hourly"} {
		x.add(second(0), x.kind(name), entry{seconds: -3, won: 1})
		tr, err := New(Config{Tasks: 3, Slots: 3, Interval: time.Second, Knowledge: x, Kind: name})
		require.NoError(t, err)
		for task := range 3 {
			tr.Start(second(1), task, task)
			tr.Report(second(5), task, 0, Report{Done: .4})
			tr.Finish(second(10+float64(task+i)), task, 0)
		}
	}
	data, err := x.MarshalBinary()
	require.NoError(t, err)
	times := 400
	if os.Getenv("STRAGGLER_LIVES") != "" {
		times = 40_000
	}
	accepted := snapshottest.Damage(t, rand.New(rand.NewPCG(9, 47)), times, data, func(bad []byte) error {
		one := new(Knowledge)
		if err := one.UnmarshalBinary(bad); err != nil {
			return err
		}
		again, err := one.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, new(Knowledge).UnmarshalBinary(again))
		for _, name := range one.Kinds() {
			seconds, attempts := one.Longest(name, 1)
			require.True(t, seconds >= 0 && attempts >= 0)
		}
		runs(stage(t, one, 3), 100, 10, 11, 12)
		require.NoError(t, one.Config().Validate())
		return nil
	})
	assert.Greater(t, accepted, times/20, "some damages are accepted, or the test shows nothing")
}

// A kind whose observations are all too old is not saved. A kind that has seen nothing but the shape of progress is.
func TestOldKindsAreNotSaved(t *testing.T) {
	x := kindsOnly(time.Hour)
	first := stage(t, x, 1)
	first.Start(second(0), 0, 0)
	first.Report(second(50), 0, 0, Report{Done: .9}) // a shape alone does not keep a kind whose observations are too old
	first.Finish(second(100), 0, 0)
	x.add(second(1e4), x.kind("hourly"), entry{about: ofRunTime, seconds: 1, work: 1})
	x.kind("empty")
	y := snapshottest.Through[Knowledge](t, x)
	assert.Equal(t, []string{"hourly"}, y.Kinds())
	shapes := kindsOnly(restart.Off)
	tr := stage(t, shapes, 1)
	tr.Start(second(0), 0, 0)
	tr.Report(second(50), 0, 0, Report{Done: .9})
	tr.Finish(second(100), 0, 0)
	assert.Equal(t, []string{daily}, snapshottest.Through[Knowledge](t, shapes).Kinds())
}

func TestKnowledgeIsRestored(t *testing.T) {
	x := kindsOnly(0)
	text, err := x.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, x.UnmarshalBinary(text))
	for i := range 4 {
		runs(stage(t, x, 2), 300*float64(i), 100, 110)
	}
	text, err = x.MarshalBinary()
	require.NoError(t, err)
	snapshottest.Flips(t, text, new(Knowledge).UnmarshalBinary)
	for _, x := range []*Knowledge{x, processOf(t, 3)} {
		y := snapshottest.Through[Knowledge](t, x)
		assert.Equal(t, x.Config(), y.Config())
		assert.Equal(t, append(y.kind(daily).known[:0:0], x.kind(daily).known...), append(y.kind(daily).known[:0:0], y.kind(daily).known...))
	}
}

// A full kind does not allocate, with or without merging.
func TestAFullKindDoesNotAllocate(t *testing.T) {
	for _, x := range []*Knowledge{kindsOnly(0), processOf(t, 1)} {
		testAFullKindDoesNotAllocate(t, x)
	}
}

func testAFullKindDoesNotAllocate(t *testing.T, x *Knowledge) {
	runs(stage(t, x, 400), 0, slices.Repeat([]float64{100}, 400)...)
	for i := range mostEntries {
		x.add(second(float64(i)), x.kind(daily), entry{about: ofRunTime | ended, seconds: 100, work: 1})
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
		x := kindsOnly(0)
		for i := range 16 {
			runs(stage(t, x, 2), 300*float64(i), 100, 700)
		}
		tr, err := New(Config{Tasks: 1, Slots: 10, Interval: 10 * time.Second, Knowledge: x, Kind: daily, Stream: stream})
		require.NoError(t, err)
		d := asked(tr, 9000, 9110)
		assert.Equal(t, stream, tr.Phase().Stream)
		price := map[bool]float64{false: 3, true: .5}[stream]
		assert.InDelta(t, (1+price)*d.Remaining.Seconds(), d.Value, 1, "a second of time costs less in a stream: %v", d)
	}
}

// long returns the probability that a slow task is long by itself, as a tracker estimates it.
func long(t *Tracker) float64 { return t.phase.trials.Long(0) }
