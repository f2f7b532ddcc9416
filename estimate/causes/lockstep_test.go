package causes_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

// The rules were chosen on jobs with the seeds 0 to 199. Here they are judged on other jobs: 20 of each kind, or
// STRAGGLER_JOBS. In clear jobs at least 97 % of the reasons are right, and at most 3 % are open. In no kind more than
// 1 % of the jobs have a machine or worker that is named wrongly.
func TestLockstepFindsThePlantedReason(t *testing.T) {
	t.Parallel()
	jobs := 20
	if n, err := strconv.Atoi(os.Getenv("STRAGGLER_JOBS")); err == nil {
		jobs = n
	} else if testing.Short() {
		jobs = 5
	}
	for _, clear := range []bool{true, false} {
		wrongs := 0
		for _, cause := range []causes.Reason{causes.Luck, causes.SlowMachine, causes.SlowWorker, causes.SlowPlace, causes.UnevenWork} {
			rights, opens, blames := 0, 0, 0
			for i := range uint64(jobs) {
				w := newLockstepWorld(1000+i, cause, clear)
				right, open, wrong := w.verdict(w.play())
				rights, opens, blames = rights+one(right), opens+one(open), blames+one(wrong)
				if clear && !right && !open || wrong {
					t.Logf("%v: %+v", cause, w)
				}
			}
			t.Logf("%v, clear %v: right %d, open %d, wrong %d of %d", cause, clear, rights, opens, blames, jobs)
			wrongs += blames
			few := int(math.Ceil(.03 * float64(jobs)))
			if clear {
				assert.GreaterOrEqual(t, rights, jobs-few, "%v", cause)
				assert.LessOrEqual(t, opens, few, "%v", cause)
			}
		}
		assert.LessOrEqual(t, wrongs, jobs*5/100, "clear %v", clear)
	}
}

// Two causes at once are both named: two workers, or a worker and a slow stage or uneven work. The rule was chosen on the
// seeds 0 to 39.
func TestLockstepFindsTwoReasons(t *testing.T) {
	t.Parallel()
	jobs := 20
	if n, err := strconv.Atoi(os.Getenv("STRAGGLER_JOBS")); err == nil {
		jobs = n
	} else if testing.Short() {
		jobs = 5
	}
	for _, also := range []causes.Reason{causes.SlowWorker, causes.SlowPlace, causes.UnevenWork} {
		found, wrongs := 0, 0
		for i := range uint64(jobs) {
			w := newLockstepPair(2000+i, also)
			got := w.play()
			both, wrong := w.finds(got)
			found, wrongs = found+one(both), wrongs+one(wrong)
			if !both || wrong {
				t.Logf("%+v: %+v", w, got.Findings)
			}
		}
		t.Logf("a worker and %v: both %d, wrong %d of %d", also, found, wrongs, jobs)
		assert.GreaterOrEqual(t, found, jobs-int(math.Ceil(.03*float64(jobs))), "%v", also)
		assert.LessOrEqual(t, wrongs, jobs/100, "%v", also)
	}
}

// Two workers are equally slow: either alone saves little, and both together save what they cost. A count of one worker
// is the share of its finding.
func TestTogether(t *testing.T) {
	play := func(slow ...int) (w causes.Waiting, steps [][]causes.Member) {
		r := rand.New(rand.NewPCG(9, 9))
		var l causes.Lockstep
		for range 200 {
			step := []causes.Member{{Took: -1}}
			for i := range 10 {
				took := math.Exp(.01 * r.NormFloat64())
				if slices.Contains(slow, i) {
					took *= 1.2
				}
				step = append(step, causes.Member{Machine: i, Replica: i, Took: time.Duration(took * 1e9)})
			}
			steps = append(steps, step)
			l.Add(step)
		}
		return l.Waiting(), steps
	}
	count := func(w causes.Waiting, steps [][]causes.Member) (share, err float64, ok bool) {
		together, ok := w.Together()
		for _, step := range steps {
			together.Add(step)
		}
		together.Add(steps[0][:1])
		share, err = together.Share()
		return share, err, ok
	}
	w, steps := play(3, 7)
	require.Len(t, w.Findings, 2)
	share, err, ok := count(w, steps)
	assert.True(t, ok)
	assert.Less(t, w.Findings[0].Share+w.Findings[1].Share, .03)
	assert.InDelta(t, .16, share, .01)
	assert.Less(t, err, .002)
	w, steps = play(3)
	share, err, ok = count(w, steps)
	assert.False(t, ok)
	assert.Equal(t, w.Findings[0].Share, share)
	assert.Equal(t, w.Findings[0].Error, err)
	for i := range steps { // the machines are not known
		for k := range steps[i] {
			steps[i][k].Machine = -1
		}
	}
	w.Findings[0].Machine, w.Findings[0].Stage, w.Findings[0].Replica = -1, 0, 3
	share, _, _ = count(w, steps)
	assert.Equal(t, w.Findings[0].Share, share)
}

// One member takes a tenth less than the others. Of three or four members the others may be the slow ones, and of more
// members it is the one that differs.
func TestLockstepOfOneFastMember(t *testing.T) {
	for _, c := range []struct {
		members int
		faster  float64
		want    causes.Reason
	}{{3, .01, causes.Luck}, {3, .1, causes.NotEnough}, {4, .1, causes.NotEnough}, {5, .1, causes.Luck}} {
		r := rand.New(rand.NewPCG(6, 6))
		var l causes.Lockstep
		for range 300 {
			step := make([]causes.Member, c.members)
			for i := range step {
				took := math.Exp(.02 * r.NormFloat64())
				if i == 1 {
					took *= 1 - c.faster
				}
				step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(took * 1e9)}
			}
			l.Add(step)
		}
		assert.Equal(t, c.want, l.Waiting().Findings[0].Reason, "%+v", c)
	}
}

// A worker that is slow in a stage for which nobody waits costs nothing, and is not named.
func TestLockstepOfASlowWorkerThatNobodyWaitsFor(t *testing.T) {
	for _, longer := range []float64{1, 2} { // x the time of the first stage
		r := rand.New(rand.NewPCG(8, 8))
		var l causes.Lockstep
		for range 100 {
			step := make([]causes.Member, 10)
			for i := range step {
				took := math.Exp(.01 * r.NormFloat64())
				switch {
				case i == 2:
					took *= 1.3
				case i >= 5:
					took *= longer
				}
				step[i] = causes.Member{Machine: i, Stage: i / 5, Replica: i % 5, Took: time.Duration(took * 1e9)}
			}
			l.Add(step)
		}
		names := slices.ContainsFunc(l.Waiting().Findings, func(f causes.Finding) bool { return f.Machine == 2 })
		assert.Equal(t, longer == 1, names)
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// tenWorkers plays a job of ten workers with a noise of 2 %, of which worker 5 takes 1.15 times as long in some steps.
func tenWorkers(steps int, slow func(step int) bool) causes.Waiting {
	r := rand.New(rand.NewPCG(7, 7))
	var l causes.Lockstep
	step := make([]causes.Member, 10)
	for s := range steps {
		for i := range step {
			took := math.Exp(.02 * r.NormFloat64())
			if i == 5 && slow(s) {
				took *= 1.15
			}
			step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(took * 1e9)}
		}
		l.Add(step)
	}
	return l.Waiting()
}

// One worker of ten is always 1.15 times slower, which no threshold of 1.5 medians sees.
func TestLockstepNamesASlowWorker(t *testing.T) {
	w := tenWorkers(250, func(int) bool { return true })
	assert.InDelta(t, .13, w.Wait, .005)
	require.Len(t, w.Findings, 1)
	f := w.Findings[0]
	assert.Equal(t, causes.SlowWorker, f.Reason)
	assert.Equal(t, 5, f.Machine)
	assert.InDelta(t, .104, f.Share, .005)
	assert.InDelta(t, 1.15, f.Times, .01)
	assert.Less(t, f.Error, .005)
	assert.Equal(t, [2]int{0, 249}, [2]int{f.From, f.To})
	assert.False(t, f.Ended)
	assert.Equal(t, 5, w.Lags[0].Machine)
	assert.Equal(t, 250, w.Lags[0].Last)
	assert.InDelta(t, 25, w.Lags[0].Chance, 1e-9)
}

// A worker that was slow for a while is named with the steps, and that it has ended.
func TestLockstepTellsWhenItEnded(t *testing.T) {
	w := tenWorkers(250, func(s int) bool { return s >= 100 && s < 130 })
	require.Len(t, w.Findings, 1)
	f := w.Findings[0]
	assert.Equal(t, 5, f.Machine)
	assert.True(t, f.Ended)
	assert.InDelta(t, 100, f.From, 2)
	assert.InDelta(t, 129, f.To, 2)
	assert.InDelta(t, .104, f.While, .015, "saved in these steps")
	assert.InDelta(t, .0125, f.Share, .003, "of all steps")
	w = tenWorkers(250, func(s int) bool { return s >= 200 })
	assert.False(t, w.Findings[0].Ended)
}

// Without a slow worker the reason is luck, or too few steps. One step in which a worker hangs names nobody.
func TestLockstepNamesNobody(t *testing.T) {
	none := func(int) bool { return false }
	assert.Equal(t, causes.Luck, tenWorkers(250, none).Findings[0].Reason)
	assert.Equal(t, causes.NotEnough, tenWorkers(3, none).Findings[0].Reason)
	var l causes.Lockstep
	assert.Equal(t, causes.NotEnough, l.Waiting().Findings[0].Reason)
	for s := range 100 {
		step := make([]causes.Member, 4)
		for i := range step {
			step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(100+(s*7+i*3)%5) * time.Millisecond}
		}
		if s == 50 {
			step[2].Took = time.Hour
		}
		l.Add(step)
	}
	got := l.Waiting()
	require.Len(t, got.Findings, 1)
	assert.Equal(t, causes.Luck, got.Findings[0].Reason)
}

// A worker that differs by less than 1 % for good is healthy, however many steps show it. A worker that takes 2 % longer
// costs less than 3 % of the time, and is not named.
func TestLockstepForgivesOnePercent(t *testing.T) {
	for more, want := range map[float64]causes.Reason{.009: causes.Luck, .02: causes.Luck, .05: causes.SlowWorker} {
		r := rand.New(rand.NewPCG(3, 3))
		var l causes.Lockstep
		for range 20_000 {
			step := make([]causes.Member, 4)
			for i := range step {
				took := math.Exp(.1 * r.NormFloat64())
				if i == 2 {
					took *= 1 + more
				}
				step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(took * 1e9)}
			}
			l.Add(step)
		}
		assert.Equal(t, want, l.Waiting().Findings[0].Reason, "%v more", more)
	}
}

// If a worker is slow until its machine moves, machine and position have not parted while it was slow: there is not
// enough evidence.
func TestLockstepOfAMachineThatMovedTooLate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var l causes.Lockstep
	for s := range 200 {
		step := make([]causes.Member, 6)
		for i := range step {
			machine, took := i, math.Exp(.01*r.NormFloat64())
			if s >= 100 && i < 2 {
				machine = 1 - i
			}
			if s < 100 && i == 0 {
				took *= 1.3
			}
			step[i] = causes.Member{Machine: machine, Replica: i, Took: time.Duration(took * 1e9)}
		}
		l.Add(step)
	}
	assert.Equal(t, causes.NotEnough, l.Waiting().Findings[0].Reason)
}

// Of two members it does not show which is slow.
func TestLockstepOfTwo(t *testing.T) {
	var l causes.Lockstep
	for range 200 {
		l.Add([]causes.Member{{Machine: 0, Took: time.Second}, {Machine: 1, Replica: 1, Took: 2 * time.Second}})
	}
	w := l.Waiting()
	assert.Equal(t, causes.NotEnough, w.Findings[0].Reason)
	assert.Equal(t, causes.Lag{Machine: 1, Replica: 1, Steps: 200, Last: 200, Chance: 100, Saved: .5}, w.Lags[0])
	assert.Equal(t, [2]float64{.5, .5}, [2]float64{w.Wait, w.Second}, "the one equal is the next slowest")
}

// Steps in which several members are last together count for none of them. The findings need no last member: of two
// workers that are equally slow both are named.
func TestLockstepOfTies(t *testing.T) {
	play := func(steps int, times ...float64) (causes.Waiting, *causes.Together) {
		var l causes.Lockstep
		var all [][]causes.Member
		for s := range steps {
			var step []causes.Member
			for i, seconds := range times {
				if s%10 == 0 && i == 1 {
					seconds = 3 // alone
				}
				step = append(step, causes.Member{Machine: i, Stage: i / 5, Replica: i % 5, Took: time.Duration(seconds * 1e9)})
			}
			all = append(all, step)
			l.Add(step)
		}
		w := l.Waiting()
		together, _ := w.Together()
		for _, step := range all {
			together.Add(step)
		}
		return w, together
	}
	w, _ := play(9, 1, 1, 1, 1)
	assert.Equal(t, 8, w.Tied)
	require.Len(t, w.Lags, 1, "no member is last in a tie")
	assert.Equal(t, causes.Lag{Machine: 1, Replica: 1, Steps: 9, Last: 1, Chance: .25, Saved: 2. / 11, Error: w.Lags[0].Error}, w.Lags[0])
	assert.InDelta(t, 2./11, w.Wait, 1e-12)
	assert.InDelta(t, 2./11, w.Second, 1e-12)

	w, together := play(40, 1, 2, 1, 2, 1)
	assert.Equal(t, 36, w.Tied)
	require.Len(t, w.Findings, 2)
	assert.ElementsMatch(t, []int{1, 3}, []int{w.Findings[0].Machine, w.Findings[1].Machine})
	share, _ := together.Share()
	assert.InDelta(t, 44./84, share, 1e-12)

	// Members of two stages are last together: neither stage is the one for which the others wait.
	w, _ = play(40, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2)
	assert.Equal(t, 36, w.Tied)
	assert.Equal(t, 4, w.Lags[0].Last)
	w, _ = play(40, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2)
	require.NotEmpty(t, w.Findings)
	assert.Equal(t, causes.SlowPlace, w.Findings[0].Reason, "members of one stage are last together")
	assert.Equal(t, 36, w.Findings[0].Last)
}

// The equals of a member are the others of its stage. The test finds their median again for two to six members.
func TestLockstepComparesWithTheOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		var l causes.Lockstep
		wait, whole := 0.0, 0.0
		for range 3 {
			step := make([]causes.Member, 2+r.IntN(5))
			var seconds []float64
			for i := range step {
				seconds = append(seconds, float64(1+r.IntN(50)))
				step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(seconds[i] * 1e9)}
			}
			l.Add(step)
			slices.Sort(seconds)
			slowest := seconds[len(seconds)-1]
			wait += slowest - causes.Median(seconds[:len(seconds)-1])
			whole += slowest
		}
		require.InDelta(t, wait/whole, l.Waiting().Wait, 1e-12)
	}
}

// Members without a time or a place are left out, and so is a step of one member.
func TestLockstepLeavesOut(t *testing.T) {
	var l causes.Lockstep
	l.Add([]causes.Member{{Took: -1}, {Took: 1e9, Stage: -1}, {Took: 1e9, Replica: -1}, {Took: 1e9}})
	l.Add([]causes.Member{{Took: math.MaxInt64}, {Took: 1, Replica: 1, Size: math.NaN()}, {Took: 1, Replica: 2, Size: math.Inf(1)}})
	w := l.Waiting()
	assert.Equal(t, 1, w.Steps)
	assert.Equal(t, 4, w.LeftOut)
	for _, x := range []float64{w.Wait, w.Second, w.Lags[0].Saved, w.Lags[0].Error, w.Findings[0].Share} {
		assert.False(t, math.IsNaN(x) || math.IsInf(x, 0))
	}
}

func TestLockstepDoesNotAllocate(t *testing.T) {
	var l causes.Lockstep
	step := make([]causes.Member, 64)
	for i := range step {
		step[i] = causes.Member{Machine: i, Stage: i / 16, Replica: i % 16, Took: time.Duration(1000 + i*37%11), Size: 1}
	}
	l.Add(step)
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.Add(step) }))
}

func TestReasonText(t *testing.T) {
	for r := causes.NotEnough; r <= causes.UnevenWork; r++ {
		text, err := r.MarshalText()
		require.NoError(t, err)
		var back causes.Reason
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, r, back)
		assert.Equal(t, string(text), r.String())
	}
	_, err := causes.Reason(99).MarshalText()
	assert.Error(t, err)
}

func BenchmarkLockstep(b *testing.B) {
	var l causes.Lockstep
	step := make([]causes.Member, 100)
	for i := range step {
		step[i] = causes.Member{Machine: i, Replica: i, Took: time.Duration(1000 + i*37%101)}
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Add(step)
	}
}
