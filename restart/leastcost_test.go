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

const second = time.Second

// alike is a task of a phase in which attempts take 90 to 110 s. Its attempt has run for ran seconds; by its
// progress, t_rem is left seconds, to within a tenth.
func alike(ran, left float64) restart.Task {
	return restart.Task{
		Fresh:    estimate.Fresh{UnitTime: distuv.Uniform{Min: 90, Max: 110}, Work: 1},
		Attempts: []restart.Attempt{attempt(0, ran, left)},
	}
}

// attempt is an attempt that has run for ran seconds, with a t_rem of about left seconds.
func attempt(machine int, ran, left float64) restart.Attempt {
	return restart.Attempt{
		Machine: machine, Elapsed: time.Duration(ran * 1e9), Remaining: time.Duration(left * 1e9), Done: ran / (ran + left),
		Left: distuv.Uniform{Min: left * .9, Max: left * 1.1}, Basis: restart.ByProgress,
	}
}

var (
	// In waiting, tasks wait for slots, and a slot is free. In lastWave, no task waits.
	waiting  = restart.Phase{Interval: 10 * second, Tasks: 60, Waiting: 20, Slots: 20, FreeSlots: 1}
	lastWave = restart.Phase{Interval: 10 * second, Tasks: 60, Finished: 50, Slots: 20, FreeSlots: 10}
)

// proven is an account of three won trials and no lost trial.
var proven = restart.Trials{Won: 3}

func decide(task restart.Task, phase restart.Phase) restart.Decision {
	return restart.LeastCost{}.Decide(task, phase)
}

// The example of LeastCost's page: the attempt has run for 100 s, and has done a tenth of its work.
func TestTheFirstTrialIsACopy(t *testing.T) {
	d := decide(alike(100, 900), waiting)
	assert.Equal(t, restart.Copy, d.Action)
	assert.Equal(t, restart.SavesResources, d.Reason)
	assert.InDelta(t, 1350, d.Value, .5, "each of 900 s costs a second of a slot, and half a second more")
	// With probability 1/4 the task is long: it costs 1350 s, and the copy 20 s until it shows that. Otherwise the
	// cost is 2.5 x 100 s.
	assert.InDelta(t, (1350+20)/4.+.75*250, d.Threshold, 1)
	assert.Equal(t, 800*second, d.Gain)
}

func TestATaskIsKeptIfNoActionSaves(t *testing.T) {
	d := decide(alike(50, 60), waiting)
	assert.Equal(t, restart.Keep, d.Action)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.InDelta(t, 90, d.Value, .5)
	assert.Greater(t, d.Threshold, d.Value, "the reason prints the comparison that refused")
}

// Once three trials were won, the attempt is killed without a copy: the restart uses one slot, and a copy would use
// two.
func TestARestartNeedsThreeWonTrials(t *testing.T) {
	phase := waiting
	phase.Trials = proven
	d := decide(alike(100, 900), phase)
	assert.Equal(t, restart.Restart, d.Action)
	assert.Equal(t, restart.FreshSooner, d.Reason)
	assert.Equal(t, 3, d.Won)
	assert.Equal(t, 3, d.Tried)

	phase.Trials.Lost = 1.5
	assert.Equal(t, restart.Restart, decide(alike(100, 900), phase).Action, "twice as many trials were won as were lost")
	phase.Trials.Lost = 1.6
	assert.Equal(t, restart.Copy, decide(alike(100, 900), phase).Action)

	phase.FreeSlots, phase.Waiting = 0, 0
	assert.Equal(t, restart.NoFreeSlot, decide(alike(100, 900), phase).Reason, "a copy is cheaper than a restart")
	d = decide(alike(20, 900), phase)
	assert.Equal(t, restart.Unproven, d.Reason)
	assert.InDelta(t, 3, d.Value, 1e-9)
	assert.InDelta(t, 3.2, d.Threshold, 1e-9)

	task := alike(100, 900)
	task.NoCopy = true
	assert.Equal(t, restart.Restart, decide(task, phase).Action, "a task that may have no copy need not wait for proof")
	young := alike(20, 900) // the quantile 0.3 of t_new is 96 s
	young.NoCopy = true
	assert.Equal(t, restart.Unproven, decide(young, phase).Reason, "it waits until its attempt has run for a typical time")
}

// A copy that is as slow as the old attempt shows that the task is long, and the copy is killed. If the copy is
// faster, the old attempt is killed.
func TestTheSlowerOfTwoAttemptsIsKilled(t *testing.T) {
	task := alike(130, 870)
	task.Attempts = append(task.Attempts, attempt(1, 30, 970))
	d := decide(task, waiting)
	assert.Equal(t, restart.Kill, d.Action)
	assert.Equal(t, 1, d.Attempt)
	assert.Equal(t, restart.NoFaster, d.Reason)

	task.Attempts[1] = attempt(1, 30, 70)
	d = decide(task, waiting)
	assert.Equal(t, restart.Kill, d.Action)
	assert.Equal(t, restart.CopyFaster, d.Reason)
	assert.Zero(t, d.Attempt)

	task.Restarts = 3
	assert.Equal(t, restart.Keep, decide(task, waiting).Action, "the kill counts as a restart, and the task has had three")
	task.Restarts, task.NoRestart = 0, true
	assert.Equal(t, restart.Keep, decide(task, waiting).Action)
	task.NoRestart = false
	task.Attempts[1] = attempt(1, 10, 90)
	assert.Equal(t, restart.Keep, decide(task, waiting).Action, "the copy has not run for two report periods")
	task.Attempts[1] = attempt(1, 30, 70)
	task.Attempts[1].Done = .01
	assert.Equal(t, restart.Keep, decide(task, waiting).Action, "the old attempt has done more")
}

// Of three attempts the one in the middle is killed. The reason says which other attempt showed that it will not end
// first: a younger one, so that the attempt had bad luck, or the oldest, so that the task is long.
func TestTheReasonOfAKillIsThatOfThePair(t *testing.T) {
	for why, others := range map[restart.Reason][2]restart.Attempt{
		restart.CopyFaster: {attempt(0, 230, 770), attempt(2, 30, 70)},
		restart.NoFaster:   {attempt(0, 230, 600), attempt(2, 10, 900)}, // the newest is too young to be judged
	} {
		task := alike(230, 770)
		task.Attempts = []restart.Attempt{others[0], attempt(1, 100, 880), others[1]}
		task.NoRestart = true // the oldest attempt stays
		d := decide(task, waiting)
		assert.Equal(t, restart.Kill, d.Action)
		assert.Equal(t, 1, d.Attempt)
		assert.Equal(t, why, d.Reason)
	}
}

// silentPair is a task with a silent attempt and a silent copy, which have run for old and copied seconds. Both are
// expected to take 2*old seconds in all.
func silentPair(old, copied float64) restart.Task {
	task := alike(old, old)
	task.Attempts = append(task.Attempts, attempt(1, copied, 2*old-copied))
	for i := range task.Attempts {
		task.Attempts[i].Basis, task.Attempts[i].Done = restart.ByAge, 0
	}
	task.Longest = 110 * second
	return task
}

// While tasks wait, a silent copy is killed by its cost, once it has run for one and a half typical times, or for a
// quarter of the task's age if that is longer.
func TestASilentCopyIsKilledByItsCost(t *testing.T) {
	d := decide(silentPair(500, 150), waiting)
	assert.Equal(t, restart.Kill, d.Action)
	assert.Equal(t, 1, d.Attempt)
	assert.Equal(t, restart.NoFaster, d.Reason)
	assert.Greater(t, d.Value, 20.)
	assert.NotEqual(t, restart.Kill, decide(silentPair(500, 140), waiting).Action, "1.5 x 96 s, the quantile 0.3 of t_new")
	assert.NotEqual(t, restart.Kill, decide(silentPair(800, 190), waiting).Action, "a quarter of 800 s is longer")
	soon := silentPair(500, 150)
	soon.Attempts[1].Remaining, soon.Attempts[1].Left = 5*second, distuv.Uniform{Min: 4, Max: 6}
	assert.NotEqual(t, restart.Kill, decide(soon, waiting).Action, "the copy ends soon")
}

// On an idle slot, a silent copy runs on until it has run for as long as the old attempt had when the copy began. On a
// machine that is three times slow, an attempt has done a third in the same time.
func TestASilentCopyRunsOnOnAnIdleSlot(t *testing.T) {
	for _, c := range []struct {
		old, copied, slow float64
		action            restart.Action
	}{
		{500, 240, 1, restart.Keep}, {500, 251, 1, restart.Kill}, {500, 251, 3, restart.Keep}, {500, 499, 3, restart.Keep},
	} {
		task := silentPair(c.old, c.copied)
		task.Attempts[1].Location = c.slow
		d := decide(task, lastWave)
		assert.NotEqual(t, restart.Restart, d.Action)
		if c.action == restart.Kill {
			assert.Equal(t, restart.Kill, d.Action, "%v", c)
			assert.Equal(t, 1, d.Attempt)
			continue
		}
		assert.NotEqual(t, restart.Kill, d.Action, "%v", c)
	}
}

// On an idle slot, the old attempt is killed for its copy only after an attempt of the phase has ended: before that, it
// may only have paused. While tasks wait, its slot is needed.
func TestTheOldAttemptStaysBeforeTheFirstEnd(t *testing.T) {
	task := alike(130, 870)
	task.Attempts = append(task.Attempts, attempt(1, 30, 70))
	assert.Equal(t, restart.Keep, decide(task, lastWave).Action)
	assert.Equal(t, restart.Kill, decide(task, waiting).Action)
	task.Longest = 100 * second
	d := decide(task, lastWave)
	assert.Equal(t, restart.Kill, d.Action)
	assert.Zero(t, d.Attempt)
}

// While tasks wait, a phase of silent attempts that has lost more trials than it has won has one open trial at a time.
// On an idle slot, and where attempts report, trials may run side by side.
func TestASilentPhaseThatLosesHasOneOpenTrialWhileTasksWait(t *testing.T) {
	task := alike(400, 900)
	task.Attempts[0].Basis = restart.ByAge
	for _, c := range []struct {
		trials restart.Trials
		action restart.Action
	}{
		{restart.Trials{AtRisk: second}, restart.Copy},
		{restart.Trials{Lost: .5}, restart.Copy},
		{restart.Trials{Lost: .5, AtRisk: second}, restart.Keep},
		{restart.Trials{Won: 1, Lost: 1, AtRisk: second}, restart.Copy},
		{restart.Trials{Won: 1, Lost: 1.5, AtRisk: second}, restart.Keep},
	} {
		phase := waiting
		phase.Trials = c.trials
		d := decide(task, phase)
		assert.Equal(t, c.action, d.Action, "%v: %v", c.trials, d)
		if c.action == restart.Keep {
			assert.Equal(t, restart.Unproven, d.Reason)
			assert.InDelta(t, c.trials.Won, d.Value, 0)
			assert.InDelta(t, c.trials.Lost, d.Threshold, 0)
		}
		phase.Waiting, phase.FreeSlots = 0, 5
		assert.Equal(t, restart.Copy, decide(task, phase).Action, "a slot is idle")
	}
	phase := waiting
	phase.Trials = restart.Trials{Lost: .5, AtRisk: second}
	assert.Equal(t, restart.Copy, decide(alike(100, 900), phase).Action, "attempts report")
}

// All trials together may lose a bounded slot time. The bound is the time of four copies that show nothing, plus
// three hundredths of the slot time of the phase. If the remaining time of the task is longer, the bound is this
// time.
func TestNoTrialBeginsBeyondTheLossBound(t *testing.T) {
	phase := lastWave
	task := alike(100, 900)
	task.Attempts[0].Basis = restart.ByAge
	// The bound: three hundredths of 60 tasks of 96 s, and four copies of 144 s. The next copy puts 144 s at risk;
	// its expected loss is half of that, 72 s.
	most := .03*60*96 + 4*144.
	for _, at := range []struct {
		lost   float64
		action restart.Action
	}{{most - 73, restart.Copy}, {most - 71, restart.Keep}} {
		phase.Trials.Cost = time.Duration(at.lost * 1e9)
		d := decide(task, phase)
		assert.Equal(t, at.action, d.Action)
		if at.action == restart.Keep {
			assert.Equal(t, restart.LossBound, d.Reason)
			assert.InDelta(t, 71, d.Threshold, 1e-6, "71 s may still be lost")
			assert.InDelta(t, 72, d.Value, 1e-6, "this copy might lose 72 s")
		}
	}
	phase.Trials = restart.Trials{AtRisk: phase.Trials.Cost}
	assert.Equal(t, restart.LossBound, decide(task, phase).Reason, "the stakes of running trials count")
	phase.Trials.Cost = phase.Trials.AtRisk
	assert.Zero(t, decide(task, phase).Threshold, "the threshold is never below zero")
	phase.Trials.Cost = 0
	task.Attempts[0].Basis = restart.ByProgress
	assert.Equal(t, restart.Copy, decide(task, phase).Action, "by progress, the task still needs 900 s, and the bound is at least that")
	phase.Trials = restart.Trials{Cost: 890 * second} // the copy puts two report periods at risk, and its expected loss is half of that
	d := decide(task, phase)
	assert.Equal(t, restart.LossBound, d.Reason, "a trial that might lose all that may still be lost is refused")
	assert.Equal(t, restart.Compare(restart.LostSlotSeconds, 10, 10), d.Comparison)

	task.Attempts[0].Basis, phase = restart.ByAge, lastWave
	phase.Limits = restart.Limits{FreeTrials: restart.Off, LossShare: 1e-9}
	assert.Equal(t, restart.LossBound, decide(task, phase).Reason)
	phase.Limits.LossShare, phase.Trials.Cost = restart.Off, time.Hour
	assert.Equal(t, restart.Copy, decide(task, phase).Action, "the bound is off")
}

// Lost trials say less about a task that takes longer than each task that lost one.
func TestALostTrialSaysLessAboutALongerTask(t *testing.T) {
	var trials restart.Trials
	assert.InDelta(t, .25, trials.Long(0), 1e-15)
	trials.Won, trials.Lost = 1, 1
	assert.InDelta(t, 1.5/4, trials.Long(0), 1e-15)
	trials = restart.Trials{Lost: 4, Longest: 100 * second}
	assert.InDelta(t, trials.Long(0), trials.Long(100), 0)
	assert.InDelta(t, (&restart.Trials{Lost: 1}).Long(0), trials.Long(200), 1e-15, "for a task of twice the time, a lost trial counts a quarter")

	task, phase := alike(100, 200), lastWave
	assert.Equal(t, restart.Copy, decide(task, phase).Action)
	phase.Trials.Lost = 20
	assert.Equal(t, restart.NotSlow, decide(task, phase).Reason)
	phase.Trials.Longest = 30 * second
	assert.Equal(t, restart.Copy, decide(task, phase).Action, "the task is ten times as long")
}

// If the task is long, a new attempt takes as long as the old attempt, corrected by the location factors of their
// machines.
func TestALongTaskIsCopiedToAFasterMachine(t *testing.T) {
	phase := lastWave
	phase.Trials.Lost = 40
	task := alike(100, 300)
	assert.Equal(t, restart.Keep, decide(task, phase).Action)
	task.Attempts[0].Location, task.Fresh.Location = 8, 1
	phase.Trials.Cost = 0
	assert.Equal(t, restart.Copy, decide(task, phase).Action)
}

// A task on a machine that is known to be bad is restarted without a won trial, and without the bound on losses.
func TestABadMachineNeedsNoProofAndHasNoBound(t *testing.T) {
	task, phase := alike(100, 300), waiting
	phase.Trials = restart.Trials{Lost: 20, Cost: time.Hour}
	for _, at := range []struct {
		location float64
		want     restart.Action
	}{{2.9, restart.Keep}, {3.1, restart.Restart}} {
		task.Attempts[0].Location = at.location
		d := decide(task, phase)
		assert.Equal(t, at.want, d.Action, "with the location factor %v", at.location)
		if d.Action == restart.Restart {
			assert.Equal(t, restart.BadMachine, d.Reason)
			assert.Equal(t, restart.Compare(restart.SlowFactor, 3.1, 3), d.Comparison)
		}
		d = restart.Hold(restart.Decision{Action: restart.Copy}, task, phase)
		assert.Equal(t, at.want == restart.Restart, d.Action == restart.Copy)
	}
	task.Fresh.Location = 1.5
	assert.Equal(t, restart.Keep, decide(task, phase).Action, "the new attempt's machine is slow as well")
}

// A new attempt must end sooner with a probability of .6. If attempts are silent, the old attempt must not end sooner
// with this probability, and a copy on an idle slot needs no chance.
func TestANewAttemptMustProbablyEndSooner(t *testing.T) {
	wide := alike(100, 0)
	wide.Attempts[0].Remaining, wide.Attempts[0].Left = 1005*second, values(10, 2000)
	d := decide(wide, waiting)
	assert.Equal(t, restart.Unlikely, d.Reason)
	assert.InDelta(t, .6, d.Threshold, 0)
	assert.Equal(t, restart.Unlikely, decide(wide, lastWave).Reason)
	wide.Attempts[0].Basis = restart.ByAge
	assert.Equal(t, restart.Copy, decide(wide, waiting).Action, "one half is enough")
	wide.Attempts[0].Left = values(10, 10, 2000)
	d = decide(wide, waiting)
	assert.Equal(t, restart.Unlikely, d.Reason)
	assert.InDelta(t, .4, d.Threshold, 1e-15)
	assert.Equal(t, restart.Copy, decide(wide, lastWave).Action)
}

// mayHang is a remaining time of 1,000 s, or infinite.
type mayHang struct{}

func (mayHang) Mean() float64 { return math.Inf(1) }

func (mayHang) CDF(x float64) float64 {
	if x < 1000 {
		return 0
	}
	return .5
}

func (mayHang) Quantile(p float64) float64 {
	if p <= .5 {
		return 1000
	}
	return math.Inf(1)
}

// A remaining time that may be infinite counts as the longest duration, so that the costs stay numbers.
func TestARemainingTimeMayBeInfinite(t *testing.T) {
	task := alike(100, 0)
	task.Attempts[0].Remaining, task.Attempts[0].Left = math.MaxInt64, mayHang{}
	for _, phase := range []restart.Phase{waiting, lastWave} {
		d := decide(task, phase)
		assert.Equal(t, restart.Copy, d.Action)
		assert.Less(t, d.Value, 1e11, "%v", d)
		assert.Less(t, d.Threshold, d.Value)
	}
}

// If t_rem is certain, a restart needs no won trial.
func TestACertainRemainingTimeNeedsNoWonTrial(t *testing.T) {
	task := alike(100, 900)
	task.Attempts[0].Left, task.Attempts[0].Basis = nil, restart.NoBasis
	d := decide(task, waiting)
	assert.Equal(t, restart.Restart, d.Action)
	assert.Equal(t, restart.FreshSooner, d.Reason)
	task.NoRestart = true
	assert.Equal(t, restart.Copy, decide(task, waiting).Action)
	want, lost := decide(task, waiting), waiting
	lost.Trials = restart.Trials{Won: 2, Lost: 20, Longest: second}
	want.Won, want.Tried = 2, 22
	assert.Equal(t, want, decide(task, lost), "lost trials say nothing about a task whose t_rem is certain")
	task.NoCopy = true
	assert.Equal(t, restart.NotRestartable, decide(task, waiting).Reason, "the refusal of the cheapest action")
}

// A task gets a third attempt, and no fourth. With more clones it gets one attempt more than it has clones.
func TestATaskHasEnoughAttempts(t *testing.T) {
	for _, c := range []struct {
		clones, attempts int
		noCopy           bool
		reason           restart.Reason
	}{
		{0, 2, false, restart.IdleSlot}, {0, 3, false, restart.EnoughAttempts}, {0, 3, true, restart.NotEligible},
		{3, 3, false, restart.IdleSlot}, {3, 4, false, restart.EnoughAttempts},
	} {
		task := alike(100, 900)
		task.Attempts[0].Left = nil
		for len(task.Attempts) < c.attempts {
			task.Attempts = append(task.Attempts, task.Attempts[0])
		}
		task.Clones, task.NoCopy = c.clones, c.noCopy
		d := decide(task, lastWave)
		assert.Equal(t, c.reason, d.Reason, "%+v: %v", c, d)
		if c.reason == restart.EnoughAttempts {
			most := float64(c.attempts)
			assert.Equal(t, restart.Compare(restart.RunningAttempts, most, most), d.Comparison)
		}
	}
}

// A copy that would end at the very moment at which the old attempt ends is of no use. The attempt has run for 100 s and
// needs 100 s more; the other machine is twice as fast. With probability 1/4 the task is long, and the copy costs 420 s:
// 4 x 100 s, and 20 s until it shows that. Otherwise half of the times of a new attempt are below 100 s, 95 s on average.
func TestACopyThatEndsAtTheSameTimeIsLate(t *testing.T) {
	task := alike(100, 0)
	task.Attempts[0].Remaining, task.Attempts[0].Left = 100*second, values(100)
	task.Attempts[0].Location, task.Fresh.Location = 2, 1
	d := decide(task, lastWave)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.InDelta(t, 400, d.Value, 1e-9)
	assert.InDelta(t, 420/4.+.75*(5*95+420)/2+20, d.Threshold, 1e-9, "with the margin of two report periods")
}

// A task in a stuck phase is restarted if it can have no copy, whatever the trials have cost.
func TestAStuckTaskIsRestarted(t *testing.T) {
	task, phase := alike(2000, 1), waiting
	task.Attempts[0].Basis, phase.FreeSlots = restart.ByAge, 0
	task.Longest, phase.Idle = 100*second, 400*second-1
	assert.Equal(t, restart.Keep, decide(task, phase).Action)
	phase.Idle++
	phase.Trials = restart.Trials{Lost: 50, Cost: time.Hour}
	d := decide(task, phase)
	assert.Equal(t, restart.Restart, d.Action)
	assert.Equal(t, restart.Held, d.Reason)
	task.Attempts[0].Remaining, task.Attempts[0].Left = estimate.Unknown, nil
	assert.Equal(t, restart.Held, decide(task, phase).Reason)
	task.Attempts[0] = attempt(0, 2000, 1)
	assert.Equal(t, restart.Keep, decide(task, phase).Action, "by its progress, the attempt ends at once")
	task.Restarts = 3
	task.Attempts[0].Basis = restart.ByAge
	assert.Equal(t, restart.Keep, decide(task, phase).Action)
}

// For any facts, the decision can be carried out, and no action costs more than keeping the task.
func TestLeastCostActsOnlyIfItSaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	acted, reasons := map[restart.Action]int{}, map[restart.Reason]int{}
	for range 20000 {
		task := alike(rng.Float64()*400, rng.Float64()*1000)
		for range rng.IntN(3) {
			task.Attempts = append(task.Attempts, attempt(len(task.Attempts), rng.Float64()*100, rng.Float64()*500))
		}
		if rng.IntN(5) == 0 {
			for i := range task.Attempts {
				task.Attempts[i].Basis = restart.ByAge
			}
		}
		phase := lastWave
		phase.Waiting, phase.FreeSlots, phase.Stream = rng.IntN(2)*5, rng.IntN(3), rng.IntN(2) == 0
		phase.Trials = restart.Trials{Won: float64(rng.IntN(5)), Lost: float64(rng.IntN(5))}
		task.Restarts, task.Copies, task.NoCopy = rng.IntN(4), rng.IntN(9), rng.IntN(5) == 0
		task.NoRestart = rng.IntN(5) == 0
		d := decide(task, phase)
		acted[d.Action]++
		reasons[d.Reason]++
		assert.Equal(t, d, restart.Hold(d, task, phase), "Hold refuses no action of LeastCost")
		assert.True(t, decides(d), "the numbers do not agree with the action: %v", d)
		assert.True(t, d.Attempt >= 0 && d.Attempt < len(task.Attempts))
		switch d.Action {
		case restart.Copy, restart.Restart:
			assert.Less(t, d.Threshold+20, d.Value, "an action saves two report periods")
		case restart.Keep:
			assert.NotEqual(t, restart.NoReason, d.Reason)
		}
	}
	for _, a := range []restart.Action{restart.Keep, restart.Copy, restart.Restart, restart.Kill} {
		assert.Greater(t, acted[a], 200, "%v is tested often", a)
	}
	for _, why := range []restart.Reason{
		restart.FreshSooner, restart.SavesResources, restart.IdleSlot, restart.NotSlow, restart.TooYoung,
		restart.NoFreeSlot, restart.EnoughAttempts, restart.CopyTooRecent, restart.RestartsSpent, restart.NotEligible,
		restart.Unproven, restart.CopyFaster, restart.NoFaster, restart.NotRestartable, restart.CopiesSpent, restart.FurthestOn,
	} {
		assert.Positive(t, reasons[why], "%v is tested", why)
	}
}

func TestLeastCostHasDefaultsAndValidatesItsFields(t *testing.T) {
	assert.Equal(t, restart.LeastCost{Price: .5, IdlePrice: 3}, restart.LeastCost{}.Effective())
	for field, bad := range map[string]restart.LeastCost{"Price": {Price: -1}, "IdlePrice": {IdlePrice: -1}} {
		assert.ErrorContains(t, bad.Validate(), field)
	}
	free := restart.LeastCost{IdlePrice: 10}
	assert.Equal(t, restart.Copy, free.Decide(alike(20, 120), lastWave).Action)
	dear := restart.LeastCost{IdlePrice: .1}
	assert.Equal(t, restart.Keep, dear.Decide(alike(100, 150), lastWave).Action, "a copy costs more slot time than the saved time is worth")
	assert.Equal(t, restart.NotRunning, decide(restart.Task{}, lastWave).Reason)
}

// costs computes the costs of LeastCost's page, pair by pair: of keeping the task, of a restart, and of a copy.
func costs(task restart.Task, long func(whole float64) (again, another float64), price, shows, typical float64) (keep, again, another float64) {
	c, left, age := float64(len(task.Attempts)), task.Attempts[0].Left, task.Attempts[0].Elapsed.Seconds()
	lag := task.Fresh.Lag.Seconds()
	for i := range 16 {
		l := left.Quantile((float64(i) + .5) / 16)
		keep += (c + price) * l / 16
		pay := func(ofAgain, ofAnother, f float64) {
			again += ofAgain * (1 + price) * f
			if f < l {
				another += ofAnother * (c + 1 + price) * f
			} else {
				another += ofAnother * ((c+price)*l + min(l, shows))
			}
		}
		x, y := long(age + l)
		pay(x/16, y/16, age+l+lag)
		for j := range 8 {
			pay((1-x)/128, (1-y)/128, min(task.Fresh.Quantile((float64(j)+.5)/8), shows+typical))
		}
	}
	return keep, again, another
}

// probablyLong returns the probability that a task is long, given the total time of an attempt: for a restart, and
// for a copy. For a copy, lost trials of shorter tasks have less weight.
func probablyLong(trials restart.Trials, whole float64) (again, another float64) {
	by := func(lost float64) float64 { return (lost + .5) / (trials.Won + lost + 2) }
	return by(trials.Lost), by(trials.Lost * min(1, math.Pow(trials.Longest.Seconds()/whole, 2)))
}

// Early progress is progress: a decision by it differs only in its basis, and a copy that is killed counts alike.
func TestEarlyProgressIsProgress(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 31))
	seen := map[restart.Action]int{}
	for range 5000 {
		task := alike(10+500*rng.Float64(), 1000*rng.Float64())
		task.Attempts = append(task.Attempts, attempt(1, 100*rng.Float64(), 500*rng.Float64()))[:1+rng.IntN(2)]
		task.Longest = time.Duration(rng.IntN(2)) * time.Minute
		p := lastWave
		p.Waiting, p.FreeSlots, p.Idle = rng.IntN(2), rng.IntN(2), time.Duration(rng.IntN(2))*time.Hour
		p.Trials = restart.Trials{Won: float64(rng.IntN(9)), Lost: float64(rng.IntN(3))}
		answers := func(basis restart.Basis) (d restart.Decision, trials restart.Trials) {
			for i := range task.Attempts {
				task.Attempts[i].Basis = basis
			}
			var copied restart.Trial
			trials = p.Trials
			trials.Begin(&copied, &task, &p, restart.Copy)
			trials.Kill(&copied, &task, &p, 1, false)
			return decide(task, p), trials
		}
		want, lost := answers(restart.ByProgress)
		if want.Basis == restart.ByProgress {
			want.Basis = restart.ByEarlyProgress
		}
		got, also := answers(restart.ByEarlyProgress)
		assert.Equal(t, want, got)
		assert.Equal(t, lost, also)
		seen[got.Action]++
	}
	assert.Len(t, seen, 4)
}

// The action has the least cost over all pairs of times, and the two numbers of the decision are these costs.
func TestLeastCostTakesTheCheapestActionOverAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	seen := map[restart.Action]int{}
	for range 10000 {
		task := uncertainTask(randomTimes(rng, 30, 60), randomTimes(rng, 30, 30))
		task.Fresh.Lag = time.Duration(rng.IntN(3)) * second
		p := restart.Phase{
			Interval: time.Duration(rng.IntN(5)) * second, FreeSlots: 9, Waiting: rng.IntN(2), Tasks: 1e6,
			Trials: restart.Trials{
				Won: float64(rng.IntN(9)), Lost: float64(rng.IntN(3)), Longest: time.Duration(1+rng.IntN(200)) * second,
			},
		}
		price := 3 - 2.5*float64(p.Waiting)
		long := func(whole float64) (again, another float64) { return probablyLong(p.Trials, whole) }
		shows, typical := (2*p.Interval + task.Fresh.Lag).Seconds(), task.Fresh.Quantile(.3)
		keep, again, another := costs(task, long, price, shows, typical)
		margin := 2 * p.Interval.Seconds()

		d := decide(task, p)
		seen[d.Action]++
		assert.True(t, decides(d), "the numbers do not agree with the action: %v", d)
		const rounding = 1e-6
		switch d.Action {
		case restart.Restart:
			assert.InDelta(t, again, d.Threshold, rounding, "the threshold is the cost of a restart: %v", d)
			assert.LessOrEqual(t, again, another+rounding)
		case restart.Copy:
			assert.InDelta(t, another, d.Threshold, rounding, "%v", d)
		case restart.Keep:
			if p.Waiting == 0 {
				again = another // a restart is no candidate while a slot is idle and no task waits
			}
			if d.Reason == restart.NotSlow {
				assert.Greater(t, min(again, another)+margin, keep-rounding)
			}
		}
		if d.Action != restart.Keep {
			assert.InDelta(t, keep, d.Value, rounding)
			assert.Less(t, d.Threshold+margin, d.Value+rounding)
		}
	}
	for _, a := range []restart.Action{restart.Keep, restart.Copy, restart.Restart} {
		assert.Greater(t, seen[a], 100, "%v is tested often", a)
	}
}
