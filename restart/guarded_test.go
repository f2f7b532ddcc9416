package restart_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// late is a task that has run for 2 min and needs as long as left has it, among others that take 50 to 150 s.
func late(left estimate.Distribution, more ...time.Duration) restart.Task {
	t := restart.Task{Fresh: estimate.Fresh{UnitTime: distuv.Uniform{Min: 50, Max: 150}, Work: 1}}
	for i, elapsed := range append([]time.Duration{2 * time.Minute}, more...) {
		remaining := time.Duration(left.Mean()*1e9) + time.Duration(i)*time.Second
		c := restart.Copy{Machine: i, Elapsed: elapsed, Remaining: remaining, Left: left, Basis: restart.ByAge}
		t.Copies = append(t.Copies, c)
	}
	return t
}

var lastWave = restart.Phase{Interval: 10 * time.Second, Tasks: 20, Finished: 15, Slots: 20, FreeSlots: 15}

// Where t_rem is certain and nothing was tried, Guarded is Mantri.
func TestGuardedIsMantriWhereAllIsCertain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	acted := 0
	for range 5000 {
		task, phase := late(distuv.Uniform{Min: 1, Max: 2}), lastWave
		for range rng.IntN(3) {
			task.Copies = append(task.Copies, restart.Copy{Machine: 9})
		}
		for i := range task.Copies {
			c := &task.Copies[i]
			c.Left, c.Basis = nil, restart.NoBasis
			c.Elapsed, c.Remaining = time.Duration(rng.IntN(300))*time.Second, time.Duration(rng.IntN(400)-1)*time.Second
			c.Done = rng.Float64()
		}
		phase.Waiting, phase.FreeSlots = rng.IntN(2)*5, rng.IntN(3)
		task.Restarts, task.Duplicates, task.NoDuplicate = rng.IntN(4), rng.IntN(9), rng.IntN(5) == 0
		want := restart.Mantri{}.Decide(task, phase)
		assert.Equal(t, want, restart.Guarded{}.Decide(task, phase))
		if want.Action != restart.Keep {
			acted++
		}
	}
	assert.Greater(t, acted, 500)
}

// In the last wave a copy is made as soon as it saves more time than slot time; a phase that has no last wave goes by
// Mantri's rule, which wants a chance of one in four.
func TestGuardedInTheLastWave(t *testing.T) {
	task := late(distuv.Uniform{Min: 0, Max: 420})
	d := restart.Guarded{}.Decide(task, lastWave)
	assert.Equal(t, restart.Duplicate, d.Action)
	assert.Equal(t, restart.IdleSlot, d.Reason)
	// E(t_rem) = 210, and E(min) = 100 - E((t_new - t_rem)+) = 100 - E(t_new^2)/840 = 100 - (100^2+100^2/12)/840.
	together := 100 - (1e4+1e4/12)/840
	assert.InDelta(t, 210-together, d.Value, 1.5)
	assert.InDelta(t, 20, d.Threshold, 1e-9, "the slot time falls: two periods")
	// Most end soon, and a few late: by less than one chance in four it needs over E(t_new) + 3 periods.
	task = late(distuv.LogNormal{Mu: math.Log(30), Sigma: 1.6})
	assert.Equal(t, restart.Keep, restart.Mantri{}.Decide(task, lastWave).Action)
	assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, lastWave).Action)
	stream := lastWave
	stream.Stream = true
	assert.Equal(t, restart.Keep, restart.Guarded{}.Decide(task, stream).Action)
	stream.Stream, stream.Tasks, stream.Finished = false, 0, 0
	assert.Equal(t, restart.Keep, restart.Guarded{}.Decide(task, stream).Action)
	d = restart.Guarded{}.Decide(late(distuv.Uniform{Min: 0, Max: 260}), lastWave)
	assert.Equal(t, restart.Duplicate, d.Action)
	saved := (160*160 + 1e4/12) / 520. // E((t_rem - t_new)+) = E((260 - t_new)^2)/520, nearly
	assert.InDelta(t, saved, d.Value, 1.5)
	assert.InDelta(t, 2*(130-saved)-130, d.Threshold, 3, "the slot time that it adds")
	d = restart.Guarded{}.Decide(late(distuv.Uniform{Min: 0, Max: 160}), lastWave)
	assert.Equal(t, restart.NotSlow, d.Reason)
	saved = (60*60 + 1e4/12) / 320.
	assert.LessOrEqual(t, d.Value, d.Threshold)
	assert.Less(t, d.Value, saved, "as far as it had to look")
}

// Where sizes are unknown, what a copy may cost, with what was lost and what may be, is at most four times that.
func TestGuardedBoundsWhatIsAtRisk(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 150, Max: 250}), lastWave
	acts := func() bool {
		d := restart.Guarded{}.Decide(task, phase)
		assert.Equal(t, phase.Won, d.Won)
		assert.Equal(t, phase.Tried, d.Tried)
		if d.Action == restart.Keep {
			assert.Equal(t, restart.Unproven, d.Reason)
		}
		return d.Action == restart.Duplicate
	}
	cost := 120 * time.Second // one and a half times what three in ten take
	phase.Won, phase.Tried, phase.AtRisk = 1, 3, 3*cost
	assert.True(t, acts())
	phase.AtRisk++
	assert.False(t, acts())
	phase.Tasks = 605 // of which 80 s each, in all, a hundredth is 484 s
	assert.True(t, acts())
	phase.Tasks, phase.AtRisk = 1000, 680*time.Second
	assert.True(t, acts())
	phase.AtRisk++
	assert.False(t, acts())
	task.Behind, phase.Won, phase.Tried = true, 1, 2
	assert.True(t, acts(), "it is the machine")
	phase.Tried = 3
	assert.False(t, acts(), "unless more were lost than won")
	phase.AtRisk, phase.Tasks, task.Behind, task.Fresh.Lag = 435*time.Second, 20, false, 10*time.Second
	assert.True(t, acts(), "of which 10 s are in what is usual, too")
	phase.AtRisk++
	assert.False(t, acts())
	task.Fresh.Lag, phase.Sized = 0, true
	assert.True(t, acts())
	phase.Sized = false
	task.Copies[0].Left, task.Copies[0].Remaining = distuv.Uniform{Min: 2000, Max: 6000}, 4000*time.Second
	assert.True(t, acts(), "a quarter of what is left")
	task.Copies[0].Left, task.Copies[0].Remaining = distuv.Uniform{Min: 150, Max: 250}, 200*time.Second
	task.Copies[0].Basis = restart.ByProgress
	phase.AtRisk = 90 * time.Second
	assert.True(t, acts(), "a copy that reports costs three periods")
	phase.AtRisk++
	assert.False(t, acts())
	phase.AtRisk, task.Trying = 0, time.Second
	assert.True(t, acts())
	task.Copies[0].Basis = restart.ByAge
	assert.False(t, acts(), "it has one of its own")
	task.Trying = cost
	assert.True(t, acts())
}

// Before trials have saved what it throws away, a restart is a copy; where none may run, it is bounded as one.
func TestGuardedCopiesBeforeItRestarts(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 400, Max: 500}), lastWave
	task.Copies[0].Basis, phase.Waiting = restart.ByProgress, 5
	d := restart.Guarded{}.Decide(task, phase)
	assert.Equal(t, restart.Duplicate, d.Action)
	assert.Equal(t, restart.Unproven, d.Reason)
	phase.AtRisk = -2 * time.Minute
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action)
	phase.AtRisk++
	assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, phase).Action)
	phase.AtRisk = -time.Hour
	task.Copies[0].Left, task.Copies[0].Remaining = distuv.Uniform{Min: 150, Max: 168}, 160*time.Second-1
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, "less than twice what is usual")
	task.Copies[0].Remaining++
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action)
	task.Copies[0].Left, task.Copies[0].Remaining = distuv.Uniform{Min: 400, Max: 500}, 450*time.Second
	task.NoDuplicate, phase.AtRisk = true, 0
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action, "what can't be copied, by what it throws away")
	phase.AtRisk++ // four times three periods are the 120 s that it has run
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason)
	phase.Sized = true
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action)
}

// A task that is stuck is restarted, however much is lost, if no copy can be made of it, and progress does not say that
// it ends sooner.
func TestGuardedRestartsWhatIsStuck(t *testing.T) {
	decide := func(change func(t *restart.Task, p *restart.Phase)) restart.Decision {
		task, phase := late(distuv.Uniform{Min: 0, Max: 60}), lastWave
		task.Stuck, phase.AtRisk, phase.Waiting, phase.FreeSlots = true, time.Hour, 5, 0
		change(&task, &phase)
		return restart.Guarded{}.Decide(task, phase)
	}
	unknown := func(t *restart.Task) {
		t.Copies[0].Left, t.Copies[0].Remaining, t.Copies[0].Basis = nil, estimate.Unknown, restart.NoBasis
	}
	for name, change := range map[string]func(t *restart.Task, p *restart.Phase){
		"no slot":           func(*restart.Task, *restart.Phase) {},
		"nothing is known":  func(t *restart.Task, _ *restart.Phase) { unknown(t) },
		"of a copy neither": func(t *restart.Task, _ *restart.Phase) { unknown(t); t.Fresh = estimate.Fresh{} },
		"no copy may be":    func(t *restart.Task, p *restart.Phase) { t.NoDuplicate, p.FreeSlots = true, 9 },
		"one is on trial":   func(t *restart.Task, _ *restart.Phase) { t.Trying = time.Second },
		"a copy was worth its while": func(t *restart.Task, _ *restart.Phase) {
			*t = late(distuv.Uniform{Min: 4e3, Max: 5e3})
			t.Stuck = true
		},
		"it is slow by its progress": func(t *restart.Task, _ *restart.Phase) {
			*t = late(distuv.Uniform{Min: 4e3, Max: 5e3})
			t.Stuck, t.Copies[0].Basis = true, restart.ByProgress
		},
	} {
		d := decide(change)
		assert.Equal(t, [2]any{restart.Restart, restart.Held}, [2]any{d.Action, d.Reason}, name)
		assert.Equal(t, 1, d.Avoid.Len(), name)
	}
	for name, change := range map[string]func(t *restart.Task, p *restart.Phase){
		"it is not":            func(t *restart.Task, _ *restart.Phase) { t.Stuck = false },
		"a slot is free":       func(_ *restart.Task, p *restart.Phase) { p.FreeSlots = 1 },
		"it is not slow":       func(t *restart.Task, _ *restart.Phase) { t.Copies[0].Basis = restart.ByProgress },
		"when it ends is sure": func(t *restart.Task, _ *restart.Phase) { t.Copies[0].Left, t.Copies[0].Basis = nil, 0 },
		"as soon as another": func(t *restart.Task, _ *restart.Phase) {
			t.Copies[0].Basis, t.Copies[0].Remaining = restart.ByProgress, 100*time.Second
		},
		"it may not be":   func(t *restart.Task, _ *restart.Phase) { t.NoRestart = true },
		"it was so often": func(t *restart.Task, _ *restart.Phase) { t.Restarts = 3 },
	} {
		assert.Equal(t, restart.Keep, decide(change).Action, name)
	}
	d := decide(func(t *restart.Task, p *restart.Phase) {
		*t = late(distuv.Uniform{Min: 300, Max: 500}, 200*time.Second)
		t.Stuck, t.Copies[0].Elapsed = true, 900*time.Second
	})
	assert.Equal(t, restart.Kill, d.Action, "what is in vain goes first")
}

// With each trial of a task that was lost, up to three, the next one is given twice the time.
func TestGuardedIsPatient(t *testing.T) {
	for lost, patience := range []time.Duration{120, 240, 480, 960, 960} {
		patience *= time.Second
		task, phase := late(distuv.Uniform{Min: 8000, Max: 9000}), lastWave
		task.Restarts, task.Duplicates, task.Trying = min(lost, 1), max(lost-1, 0)+1, patience-1
		assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, lost)
		task.Trying++
		assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, phase).Action, lost)
		most := 8500 * time.Second / 4 // of what is left
		phase.AtRisk, task.Trying, task.Duplicates = most-patience, 0, task.Duplicates-1
		assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, phase).Action, lost)
		phase.AtRisk++
		assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, lost)

		task = late(distuv.Uniform{Min: 8000, Max: 9000}, patience-1)
		task.Copies[0].Elapsed, task.Duplicates, task.Trying = time.Hour, lost+1, patience-1
		assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, lastWave).Action, lost)
		task.Copies[1].Elapsed++
		assert.Equal(t, restart.Kill, restart.Guarded{}.Decide(task, lastWave).Action, lost)
	}
}

// A copy that shows nothing is killed after one and a half usual times, and one that hardly ends first by the progress of
// both if it takes no less in all; the oldest never, nor where sizes are known.
func TestGuardedEndsWhatIsInVain(t *testing.T) {
	phase := lastWave
	task := late(distuv.Uniform{Min: 300, Max: 500}, 120*time.Second-1)
	task.Copies[0].Elapsed = 400 * time.Second
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action)
	task.Copies[1].Elapsed++
	d := restart.Guarded{}.Decide(task, phase)
	assert.Equal(t, restart.Decision{Action: restart.Kill, Reason: restart.SlowerCopy, Copy: 1}, d)
	assert.Equal(t, d, restart.Limits{}.Hold(d, task))
	phase.Sized = true
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action)

	phase.Sized = false
	for i, left := range []distuv.Uniform{{Min: 100, Max: 120}, {Min: 115, Max: 365}} {
		c := &task.Copies[i]
		c.Elapsed = []time.Duration{2 * time.Minute, 70 * time.Second}[i]
		c.Left, c.Remaining, c.Basis = left, time.Duration(left.Mean()*1e9), restart.ByProgress
	}
	assert.Equal(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action)
	task.Copies[1].Left = distuv.Uniform{Min: 50, Max: 150}
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "three in five times it is first")
	task.Copies[1].Left, task.Copies[0].Elapsed = distuv.Uniform{Min: 90, Max: 130}, 2*time.Minute
	task.Copies[1].Remaining, task.Copies[1].Elapsed = 111*time.Second, 30*time.Second-1
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "half of the times it is first")
	task.Copies[1].Elapsed++
	assert.Equal(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "it has had three periods to show more")
	task.Copies[1].Left, task.Copies[1].Remaining = distuv.Uniform{Min: 115, Max: 365}, 240*time.Second
	task.Copies[0].Elapsed, task.Copies[1].Elapsed = 520*time.Second, 70*time.Second
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "it takes less than half of the other")
}

// A copy that is ahead is held against the other, and not against itself: it is kept, also where it does not take far
// less in all; while tasks wait it must.
func TestGuardedKeepsTheCopyThatIsAhead(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 180, Max: 220}, 30*time.Second), lastWave
	task.Copies[1].Left, task.Copies[1].Remaining = distuv.Uniform{Min: 140, Max: 160}, 150*time.Second
	task.Copies[0].Basis, task.Copies[1].Basis = restart.ByProgress, restart.ByProgress
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action)
	phase.Waiting = 1
	assert.Equal(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "180 s in all in the place of 320")
	task.Copies[1].Elapsed--
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "before three periods it has not shown it")
	task.Copies[1].Elapsed, task.Copies[0].Elapsed = 30*time.Second, 161*time.Second
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "less than half of 361 s")
	task.Copies[0].Left, task.Copies[1].Elapsed = nil, 3*time.Minute
	task.Copies[0].Elapsed = 4 * time.Minute
	assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, phase).Action, "nothing to hold it against")
}

// A task that takes less than twice what is usual is restarted while its copy has hardly run, within the bound.
func TestGuardedRestartsWhatHasHardlyRun(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 155, Max: 159}), lastWave
	task.Fresh.UnitTime = distuv.Uniform{Min: 73, Max: 96 + 1./3} // three in ten take 80 s
	phase.Interval, phase.Waiting = time.Second, 5
	c := &task.Copies[0]
	c.Basis, c.Elapsed = restart.ByProgress, 4*time.Second
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action)
	c.Elapsed++
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, "over a twentieth of 80 s")
	c.Elapsed--
	phase.AtRisk = 157*time.Second/4 - 4*time.Second
	assert.Equal(t, restart.Restart, restart.Guarded{}.Decide(task, phase).Action)
	phase.AtRisk++
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, "over a quarter of what is left")
	c.Basis, phase.AtRisk = restart.ByAge, 0
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason, "no progress shows it")
}

// No copy is in vain before it could have reported, however short tasks usually are.
func TestGuardedKeepsCopiesUntilTheyReport(t *testing.T) {
	for _, usual := range []float64{1e-12, 2} {
		task := late(distuv.Uniform{Min: 300, Max: 500}, 10*time.Second-1)
		task.Fresh.UnitTime = distuv.Uniform{Min: 0, Max: usual}
		assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, lastWave).Action)
		task.Copies[1].Elapsed++
		assert.Equal(t, restart.Kill, restart.Guarded{}.Decide(task, lastWave).Action)
	}
}

// What is tried waits for what it comes to where sizes are known, too.
func TestGuardedWaitsForTrialsOfKnownSizes(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 150, Max: 250}), lastWave
	phase.Sized, task.Trying = true, 120*time.Second-1
	assert.Equal(t, restart.Unproven, restart.Guarded{}.Decide(task, phase).Reason)
	task.Trying++
	assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, phase).Action)
}

// What is turned off stays off.
func TestGuardedOff(t *testing.T) {
	task, phase := late(distuv.Uniform{Min: 400, Max: 500}), lastWave
	assert.Equal(t, restart.Duplicate, restart.Guarded{}.Decide(task, phase).Action)
	d := restart.Guarded{IdleGain: restart.Off}.Decide(task, phase)
	assert.Equal(t, [2]any{restart.Keep, restart.Disabled}, [2]any{d.Action, d.Reason})
	phase.AtRisk = -time.Hour
	d = restart.Guarded{MaxDuplicates: restart.Off}.Decide(task, phase)
	assert.Equal(t, restart.Restart, d.Action, "without copies no slot is of use")
	task.Duplicates = 8
	assert.Equal(t, restart.EnoughCopies, restart.Guarded{}.Decide(task, phase).Reason)
}

// huge is a certain time of which the mean is not as far off.
type huge float64

func (huge) Mean() float64              { return 60 }
func (x huge) Quantile(float64) float64 { return float64(x) }
func (x huge) CDF(t float64) (p float64) {
	if t >= float64(x) {
		p = 1
	}
	return p
}

// In the last wave a copy must save more than the bar, and what is beyond numbers is no gain. A copy that ends last is
// ended early where copies report, and otherwise taken to run on.
func TestGuardedLastWaveBar(t *testing.T) {
	exactly := func(x float64) distuv.Uniform { return distuv.Uniform{Min: x, Max: x} }
	task := late(exactly(60))
	task.Fresh.UnitTime = exactly(40)
	d := restart.Guarded{}.Decide(task, lastWave)
	assert.Equal(t, [2]any{restart.Keep, restart.NotSlow}, [2]any{d.Action, d.Reason}, "20 s are not more than two periods")
	for _, of := range [][2]estimate.Distribution{
		{exactly(1.7e308), exactly(0.85e308)},    // the time saved is infinite, and the slot time is not
		{huge(1e308), huge(1e308 * (1 - 1e-10))}, // the other way round
	} {
		task := late(exactly(60))
		task.Copies[0].Left, task.Fresh.UnitTime = of[0], of[1]
		d := restart.Guarded{}.Decide(task, lastWave)
		assert.Equal(t, [4]any{restart.Keep, restart.NotSlow, 0., 0.}, [4]any{d.Action, d.Reason, d.Value, d.Threshold})
	}
	task, phase := late(distuv.Uniform{Min: 0, Max: 900}), lastWave
	task.Fresh.UnitTime = distuv.Uniform{Min: 0, Max: 1000}
	silent := restart.Guarded{}.Decide(task, phase).Threshold
	phase.Sized = true
	assert.Equal(t, restart.Guarded{}.Decide(task, phase).Threshold, silent)
	phase.Sized, task.Copies[0].Basis = false, restart.ByProgress
	assert.Less(t, restart.Guarded{}.Decide(task, phase).Threshold, silent-100)
}

// Which copy is in vain, and which is not.
func TestGuardedInVain(t *testing.T) {
	type copies = []restart.Copy
	second := time.Second
	copyOf := func(elapsed, remaining time.Duration, basis restart.Basis, left distuv.Uniform) restart.Copy {
		return restart.Copy{Elapsed: elapsed, Remaining: remaining, Left: left, Basis: basis}
	}
	old := copyOf(400*second, 100*second, restart.ByAge, distuv.Uniform{Min: 100, Max: 101})
	reports, silent := restart.ByProgress, restart.ByAge
	reporting := old
	reporting.Basis = reports
	slow := reporting
	slow.Elapsed = 1000 * second
	long := distuv.Uniform{Min: 150, Max: 250}
	// soon is what is left of a copy that ends before old with a probability.
	soon := func(p float64) distuv.Uniform { return distuv.Uniform{Min: 50, Max: 50 + 50.5/p} }
	aged := func(s time.Duration) restart.Copy { return copyOf(s*second, 200*second, silent, long) }
	further, unknown := aged(130), restart.Copy{Elapsed: 15 * second, Remaining: estimate.Unknown}
	further.Done = 1
	for name, of := range map[string]struct {
		copies copies
		kills  int // 0: none
	}{
		"the newest is too young":            {copies{old, aged(60), aged(130)}, 0},
		"the newest of three":                {copies{old, aged(130), aged(125)}, 2},
		"it has done most":                   {copies{old, further}, 0},
		"it is about to end first":           {copies{old, copyOf(130*second, 90*second, reports, soon(.9))}, 0},
		"as soon":                            {copies{old, copyOf(130*second, 100*second, reports, soon(.9))}, 0},
		"it is not":                          {copies{old, copyOf(130*second, 110*second, reports, soon(.9))}, 1},
		"by its age nobody knows":            {copies{old, copyOf(130*second, 90*second, silent, soon(.9))}, 1},
		"the other's age shows little":       {copies{old, copyOf(40*second, 300*second, reports, long)}, 0},
		"it hardly ends first":               {copies{reporting, copyOf(20*second, 300*second, reports, soon(.34))}, 1},
		"it may":                             {copies{reporting, copyOf(20*second, 300*second, reports, soon(.37))}, 0},
		"it was given too little time":       {copies{reporting, copyOf(20*second-1, 300*second, reports, soon(.34))}, 0},
		"it ends first in half of cases":     {copies{reporting, copyOf(30*second, 300*second, reports, soon(.49))}, 1},
		"in more":                            {copies{reporting, copyOf(30*second, 300*second, reports, soon(.53))}, 0},
		"it takes half in all":               {copies{slow, copyOf(50*second, 500*second, reports, soon(.3))}, 1},
		"less than that":                     {copies{slow, copyOf(50*second, 500*second-1, reports, soon(.3))}, 0},
		"than of those of which it is known": {copies{slow, copyOf(50*second, 500*second-1, reports, soon(.3)), unknown}, 0},
	} {
		task := late(long)
		task.Copies = of.copies
		d := restart.Guarded{}.Decide(task, lastWave)
		assert.Equal(t, of.kills > 0, d.Action == restart.Kill, "%s: %v", name, d)
		assert.Equal(t, of.kills, d.Copy, name)
		task.Clones = 3
		assert.NotEqual(t, restart.Kill, restart.Guarded{}.Decide(task, lastWave).Action, name)
	}
}
