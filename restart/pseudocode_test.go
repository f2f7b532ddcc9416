package restart_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// These tests follow Pseudocode 1 of Mantri §5.1, line by line. Each line is tested just above and just below its
// threshold.

const delta = 10 * time.Second // Δ

var (
	scarce = restart.Phase{Interval: delta, Waiting: 1}
	idle   = restart.Phase{Interval: delta, FreeSlots: 1}
)

// single is a task with one attempt, which has run for a minute.
func single(remaining time.Duration, freshSeconds float64) restart.Task {
	return restart.Task{
		Attempts: []restart.Attempt{{Elapsed: minute, Remaining: remaining}}, Fresh: fresh(freshSeconds),
	}
}

// pruned lists, in ascending order, the attempts that a policy kills one after another.
func pruned(m restart.Mantri, set []restart.Attempt) (killed []int) {
	left := make([]int, len(set))
	for i := range left {
		left[i] = i
	}
	task := restart.Task{Attempts: slices.Clone(set)}
	for {
		d := m.Decide(task, scarce)
		if d.Action != restart.Kill {
			slices.Sort(killed)
			return killed
		}
		killed = append(killed, left[d.Attempt])
		left = slices.Delete(left, d.Attempt, d.Attempt+1)
		task.Attempts = slices.Delete(task.Attempts, d.Attempt, d.Attempt+1)
	}
}

// attempts returns attempts with the given remaining seconds.
func attempts(remaining ...float64) (all []restart.Attempt) {
	for i, s := range remaining {
		all = append(all, restart.Attempt{Machine: i, Elapsed: minute - time.Duration(i), Remaining: seconds(s)})
	}
	return all
}

// slower is the decision to kill an attempt for which two other attempts are faster.
func slower(attempt int) restart.Decision {
	return restart.Decision{
		Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: attempt, Comparison: restart.Compare(restart.FasterAttempts, 2, 2),
	}
}

func TestMantri51Line3KillsAllButTheFastest(t *testing.T) {
	task := restart.Task{Attempts: attempts(20, 50, 10)}
	d := byMantri(task, scarce)
	assert.Equal(t, slower(1), d)
	assert.Equal(t, d, byMantri(task, idle), "attempts are killed while slots are idle as well")
	assert.Equal(t, []int{1}, pruned(restart.Mantri{}, task.Attempts))
	assert.Equal(t, []int{1}, pruned(restart.Mantri{FastestKept: 1}, task.Attempts), "attempt 0 has run longest")
	task.Attempts[1].Done = 0.5
	assert.Empty(t, pruned(restart.Mantri{}, task.Attempts), "attempt 1 has done most")
	task.Attempts[1].Done = 0

	// "After Δ time has passed since begin": the attempt is killed at Δ, and not before.
	task.Attempts[1].Elapsed = delta
	assert.Equal(t, restart.Kill, byMantri(task, scarce).Action)
	task.Attempts[1].Elapsed = delta - 1
	assert.NotEqual(t, restart.Kill, byMantri(task, scarce).Action)
	assert.Empty(t, pruned(restart.Mantri{}, task.Attempts))

	// Of attempts that are equally fast, the attempt that has run longest is kept; of attempts of equal age, the
	// first.
	equal := attempts(10, 10, 10)
	assert.Equal(t, []int{2}, pruned(restart.Mantri{}, equal))
	equal[0].Elapsed, equal[1].Elapsed, equal[2].Elapsed = minute, minute, minute
	assert.Equal(t, []int{2}, pruned(restart.Mantri{}, equal))

	// Two attempts are never too many, however slow one of them is.
	assert.NotEqual(t, restart.Kill, byMantri(restart.Task{Attempts: attempts(1000, 1)}, idle).Action)
}

// An attempt that has not reported by Δ may be about to report. It is judged after the pause.
func TestMantri51Line3WaitsForASilentCopy(t *testing.T) {
	task := restart.Task{Attempts: attempts(20, 10, 0)}
	task.Attempts[2].Remaining = estimate.Unknown
	task.Attempts[2].Elapsed = 2*delta - 1
	assert.NotEqual(t, restart.Kill, byMantri(task, scarce).Action)
	task.Attempts[2].Elapsed = 2 * delta
	assert.Equal(t, slower(2), byMantri(task, scarce))
}

// By age alone, the older of two attempts always seems the slower attempt. It is not killed for its age, because most
// attempts end at that age.
func TestMantri51Line3KillsNoneByAge(t *testing.T) {
	task := restart.Task{Attempts: attempts(20, 50, 10)}
	for i := range task.Attempts {
		task.Attempts[i].Basis = restart.ByAge
	}
	assert.NotEqual(t, restart.Kill, byMantri(task, scarce).Action)
	assert.Empty(t, pruned(restart.Mantri{FastestKept: 1}, task.Attempts))
	for _, basis := range []restart.Basis{restart.NoBasis, restart.ByProgress} {
		task.Attempts[1].Basis = basis
		assert.Equal(t, slower(1), byMantri(task, scarce))
	}
	// An attempt that is slower by its age does not hide an attempt that is slower by its reports.
	task.Attempts = attempts(20, 50, 10, 90)
	task.Attempts[3].Basis = restart.ByAge
	assert.Equal(t, []int{1}, pruned(restart.Mantri{}, task.Attempts))
	// A restart may still kill the attempt that is slower by its age.
	task = restart.Task{Attempts: attempts(50, 60), Fresh: fresh(30)}
	task.Attempts[1].Basis = restart.ByAge
	assert.Equal(t, restart.Restart, byMantri(task, scarce).Action)
}

func TestMantri51Footnote5TwoFastestAndTheNewest(t *testing.T) {
	set := attempts(40, 10, 30, 20, 35)
	set[4].Elapsed = delta - 1 // recently started
	assert.Equal(t, []int{2}, pruned(restart.Mantri{}, set), "the two fastest (1 and 3), the newest (4) and the oldest (0) are kept")
	// A fourth attempt is not launched.
	task := single(time.Hour, 1)
	assert.Equal(t, restart.Copy, byMantri(task, idle).Action)
	task.Attempts = append(task.Attempts, task.Attempts[0], task.Attempts[0])
	assert.NotEqual(t, restart.Copy, byMantri(task, idle).Action)
	// Nor is it if none of the three may be killed, since their remaining times are known by age alone.
	for i := range task.Attempts {
		task.Attempts[i].Basis = restart.ByAge
	}
	d := byMantri(task, idle)
	assert.Equal(t, restart.EnoughAttempts, d.Reason)
	assert.Equal(t, restart.Compare(restart.RunningAttempts, 3, 3), d.Comparison)
	task.Clones = 4
	task.Attempts = append(task.Attempts, task.Attempts[0], task.Attempts[0])
	assert.Equal(t, restart.Compare(restart.RunningAttempts, 5, 5), byMantri(task, idle).Comparison, "four clones, and a copy")
}

func TestMantri51Line6Restarts(t *testing.T) {
	// t_rem > E(t_new) + Δ, strictly: 30 s + 10 s.
	d := byMantri(single(40*time.Second, 30), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Equal(t, 40*time.Second, d.Bar)
	d = byMantri(single(40*time.Second+1, 30), scarce)
	assert.Equal(t, restart.Restart, d.Action)
	assert.Equal(t, restart.FreshSooner, d.Reason)
	assert.Equal(t, 10*time.Second+1, d.Gain)

	// "Stop at γ restarts", γ = 3. Then a copy may still save resources, because 30 s is less than half of 61 s.
	task := single(61*time.Second, 30)
	for task.Restarts = 0; task.Restarts < 3; task.Restarts++ {
		assert.Equal(t, restart.Restart, byMantri(task, scarce).Action, "after %d restarts", task.Restarts)
	}
	assert.Equal(t, restart.Copy, byMantri(task, scarce).Action)
	task = single(41*time.Second, 30)
	task.Restarts = 3
	assert.Equal(t, restart.RestartsSpent, byMantri(task, scarce).Reason)

	// While a slot is idle, no attempt is killed for a restart: its work would be lost.
	assert.NotEqual(t, restart.Restart, byMantri(single(time.Hour, 30), idle).Action)
	// A phase without idle slots is treated as a phase in which tasks wait.
	assert.Equal(t, restart.Restart, byMantri(single(time.Hour, 30), restart.Phase{Interval: delta}).Action)
	// Of several attempts the slowest is killed.
	task = restart.Task{Attempts: attempts(50, 60), Fresh: fresh(30)}
	d = byMantri(task, scarce)
	assert.Equal(t, restart.Restart, d.Action)
	assert.Equal(t, 1, d.Attempt)
	assert.Equal(t, 50*time.Second, d.Remaining, "the task ends when its fastest attempt ends")
}

// Footnote 4: in a heavy tail the median is below the mean. Then t_rem > E(t_new) + Δ means that a new attempt ends
// first with a probability of more than one half.
func TestMantri51Footnote4EvenChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	restarts := 0
	for range 10000 {
		var rate estimate.Distribution = distuv.LogNormal{Mu: rng.Float64() * 4, Sigma: 0.1 + rng.Float64()*2}
		if rng.IntN(2) == 0 {
			rate = distuv.Pareto{Xm: 1 + rng.Float64()*20, Alpha: 1.1 + rng.Float64()*3}
		}
		task := single(seconds(rng.ExpFloat64()*100), 0)
		task.Fresh.UnitTime = rate
		if d := byMantri(task, scarce); d.Action == restart.Restart {
			restarts++
			assert.Greater(t, task.Fresh.Below(d.Remaining.Seconds()), 0.5)
		}
	}
	assert.Greater(t, restarts, 1000)

	// If the median is above the mean, the rule asks for that probability: t_new is 100 s in four cases of five, and
	// 10 s in the fifth.
	bimodal := values(10, 100, 100, 100, 100)
	task := single(95*time.Second, 0)
	task.Fresh.UnitTime = bimodal
	p := scarce
	p.Interval = time.Second
	d := restart.Mantri{CopyThreshold: restart.Off}.Decide(task, p)
	assert.Equal(t, restart.Unlikely, d.Reason, "%v", d)
	task.Fresh.UnitTime = values(10, 10, 10, 100, 100)
	assert.Equal(t, restart.Restart, byMantri(task, p).Action)
}

func TestMantri51Line7Duplicates(t *testing.T) {
	no := restart.Mantri{MaxRestarts: restart.Off}
	// With one attempt, a copy needs a t_new below half of t_rem, strictly.
	d := no.Decide(single(60*time.Second, 30), scarce)
	assert.Equal(t, restart.RestartsSpent, d.Reason)
	assert.Zero(t, d.Value)
	d = no.Decide(single(60*time.Second+1, 30), scarce)
	assert.Equal(t, restart.Copy, d.Action)
	assert.Equal(t, restart.SavesResources, d.Reason)
	assert.Equal(t, 1., d.Value)
	// With two attempts, a copy needs t_new < t_rem 2/3.
	two := restart.Task{Attempts: attempts(45, 50), Fresh: fresh(30)}
	assert.NotEqual(t, restart.Copy, no.Decide(two, scarce).Action)
	two.Attempts[0].Remaining++
	assert.Equal(t, restart.Copy, no.Decide(two, scarce).Action)

	// δ = .25, strictly: one sample of four is not more than a quarter, and one sample of three is.
	rate := new(estimate.Empirical)
	for _, s := range []float64{10, 50, 50, 50} {
		rate.Insert(s)
	}
	task := restart.Task{Attempts: attempts(40), Fresh: estimate.Fresh{UnitTime: rate, Work: 1}}
	d = byMantri(task, scarce)
	assert.Equal(t, restart.Keep, d.Action)
	assert.Equal(t, 0.25, d.Value)
	assert.Equal(t, 0.25, d.Threshold)
	rate.Delete(50)
	d = byMantri(task, scarce)
	assert.Equal(t, restart.Copy, d.Action)
	assert.InDelta(t, 1./3, d.Value, 1e-15)
}

// If there is nothing better to do, line 8 starts "the waiting task that has the largest data to read". Of the tasks
// that profit, the task that "will benefit the most" is first.
func TestMantri51Line8AndTies(t *testing.T) {
	i, d := restart.Next(restart.Mantri{}, []restart.Task{single(minute, 60)}, []float64{3, 9, 9, 4}, scarce)
	assert.Equal(t, 1, i)
	assert.Equal(t, restart.Decision{Action: restart.Start, Reason: restart.NextWaiting}, d)
	running := []restart.Task{single(90*time.Second, 30), single(100*time.Second, 30), single(110*time.Second, 50), single(100*time.Second, 30)}
	i, d = restart.Next(restart.Mantri{}, running, []float64{3, 9, 9, 4}, scarce)
	assert.Equal(t, 1, i, "70 s is the largest gain, and the first of equal tasks is taken")
	assert.Equal(t, restart.Restart, d.Action)
	for _, waiting := range [][]float64{{math.NaN(), 3, 9}, {3, math.NaN(), 9}, {math.NaN(), math.NaN(), 9}, {3, 4, 9}} {
		i, _ = restart.Next(restart.Mantri{}, nil, waiting, scarce)
		assert.Equal(t, 2, i, "a task of unknown work is last: %v", waiting)
	}
}

// The paper prints line 10 as E(t_new - t_rem) > ρΔ, which would copy tasks that are about to end. The text gives the
// sense: the saved time must exceed the start-up time.
func TestMantri51Line10IdleSlots(t *testing.T) {
	d := byMantri(single(60*time.Second, 30), idle) // 30 s + 3 x 10 s, strictly
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Equal(t, time.Minute, d.Bar)
	d = byMantri(single(60*time.Second+1, 30), idle)
	assert.Equal(t, restart.Copy, d.Action)
	assert.Equal(t, restart.IdleSlot, d.Reason)
	// As printed, the line would launch a copy that ends 40 s later than the running attempt.
	assert.Equal(t, restart.Keep, byMantri(single(10*time.Second, 50), idle).Action)
}

// "Mantri does not re-duplicate a task for which it launched a copy recently."
func TestMantri51NoSecondCopySoon(t *testing.T) {
	for _, p := range []restart.Phase{idle, scarce} {
		task := single(10*time.Minute, 30)
		task.Restarts = 3
		task.SinceCopy = 2*delta - 1
		d := byMantri(task, p)
		assert.Equal(t, restart.CopyTooRecent, d.Reason)
		assert.Equal(t, restart.Compare(restart.SinceCopySeconds, (2*delta-1).Seconds(), (2*delta).Seconds()), d.Comparison)
		task.SinceCopy = 2 * delta
		assert.Equal(t, restart.Copy, byMantri(task, p).Action)
		task.SinceCopy = 0
		task.Attempts = append(task.Attempts, restart.Attempt{Elapsed: 2*delta - 1, Remaining: 10 * time.Minute})
		d = byMantri(task, p)
		assert.Equal(t, restart.CopyTooRecent, d.Reason)
		assert.Equal(t, restart.Compare(restart.SinceCopySeconds, (2*delta-1).Seconds(), (2*delta).Seconds()), d.Comparison)
		task.Attempts[1].Elapsed++
		assert.Equal(t, restart.Copy, byMantri(task, p).Action)
		task.Attempts = append(task.Attempts, restart.Attempt{Elapsed: delta - 1, Remaining: 10 * time.Minute})
		assert.Equal(t, restart.EnoughAttempts, byMantri(task, p).Reason, "three attempts are enough")
	}
}

func TestMantriObeysNoCopyAndNoRestart(t *testing.T) {
	task := single(41*time.Second, 30)
	task.NoRestart = true
	assert.Equal(t, restart.NotRestartable, byMantri(task, scarce).Reason)
	task = single(time.Hour, 30)
	task.NoCopy = true
	assert.Equal(t, restart.Restart, byMantri(task, scarce).Action, "after a restart no two attempts run at once")
	task.NoRestart = true
	for _, p := range []restart.Phase{idle, scarce} {
		assert.Equal(t, restart.NotEligible, byMantri(task, p).Reason)
	}
}

// In the last wave slots are idle, and stragglers cost most. There a task that may have no copy is restarted by line
// 6.
func TestMantriRestartsOnIdleSlotsWhatItMayNotCopy(t *testing.T) {
	never := restart.Mantri{MaxCopies: restart.Off}
	for _, c := range []struct {
		policy   restart.Mantri
		eligible bool
	}{{restart.Mantri{}, false}, {restart.Mantri{IdleGain: restart.Off}, false}, {never, true}, {never, false}} {
		task := single(40*time.Second, 30)
		task.NoCopy = !c.eligible
		assert.Equal(t, restart.NotSlow, c.policy.Decide(task, idle).Reason, "%+v", c)
		task.Attempts[0].Remaining++
		d := c.policy.Decide(task, idle)
		assert.Equal(t, c.policy.Decide(task, scarce), d)
		assert.Equal(t, restart.Restart, d.Action, "%+v", c)
		assert.Equal(t, 40*time.Second, d.Bar)
	}
	assert.NotEqual(t, restart.Restart, byMantri(single(time.Hour, 30), idle).Action, "a task that may have a copy gets a copy")
}

func TestMantriKeepsATaskWithAnUnknownTime(t *testing.T) {
	for _, p := range []restart.Phase{idle, scarce} {
		assert.Equal(t, restart.NoEstimate, byMantri(single(estimate.Unknown, 30), p).Reason)
		task := single(time.Hour, 30)
		task.Fresh.UnitTime = nil
		assert.Equal(t, restart.Decision{
			Reason: restart.NoEstimate, Remaining: time.Hour, Fresh: estimate.Unknown,
		}, byMantri(task, p))
		assert.Equal(t, restart.NotRunning, byMantri(restart.Task{}, p).Reason)
		task = single(time.Hour, 30)
		task.Attempts[0].Elapsed = delta - 1
		assert.Equal(t, restart.TooYoung, byMantri(task, p).Reason)
	}
}

// A t_rem below zero means that the attempt should have ended already.
func TestMantriTakesANegativeRemainingTimeForZero(t *testing.T) {
	d := byMantri(single(-time.Hour, 30), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Zero(t, d.Remaining)
}

func TestMantriRaisedBar(t *testing.T) {
	m := restart.Mantri{RaisedBar: 2, CopyThreshold: restart.Off}
	for restarts := range 3 {
		bar := 30*time.Second + time.Duration(1+2*restarts)*delta
		task := single(bar, 30)
		task.Restarts = restarts
		assert.Equal(t, restart.NotSlow, m.Decide(task, scarce).Reason)
		task.Attempts[0].Remaining++
		assert.Equal(t, restart.Restart, m.Decide(task, scarce).Action)
	}
}

func TestMantriRulesCanBeTurnedOff(t *testing.T) {
	off := restart.Mantri{MaxRestarts: restart.Off, CopyThreshold: restart.Off, IdleGain: restart.Off}
	require.NoError(t, off.Validate())
	assert.Equal(t, restart.RestartsSpent, off.Decide(single(time.Hour, 1), scarce).Reason)
	assert.Equal(t, restart.Disabled, off.Decide(single(time.Hour, 1), idle).Reason)
	task := single(time.Hour, 1)
	task.Restarts = -7
	assert.Equal(t, restart.Keep, off.Decide(task, scarce).Action)
	// FastestKept cannot be turned off. With Off, the task still keeps its last attempt.
	bad := restart.Mantri{FastestKept: restart.Off}
	assert.ErrorContains(t, bad.Validate(), "restart: Mantri.FastestKept is -1")
	assert.NotEqual(t, restart.Kill, bad.Decide(single(time.Hour, 1), idle).Action)
}

// §5.1 gives δ = .25 and ρ = 3 as defaults, and γ = 3; α is two in footnote 5. The comments of the fields must state the
// values of the zero Mantri.
func TestTheCommentsOfMantriStateItsDefaults(t *testing.T) {
	effective := restart.Mantri{}.Effective()
	assert.Equal(t, restart.Mantri{
		MaxRestarts: 3, CopyThreshold: 0.25, IdleGain: 3, FastestKept: 2, CopyPause: 2, Confidence: 0.75,
		MaxCopies: 8,
	}, effective)
	source, err := os.ReadFile("mantri.go")
	require.NoError(t, err)
	stated := regexp.MustCompile(`(?s)0 means ([\d.]*\d)[^\t]*(?:\t//[^\n]*\n)*\t([A-Z]\w+) `).FindAllStringSubmatch(string(source), -1)
	require.Len(t, stated, 7)
	for _, m := range stated {
		value := reflect.ValueOf(effective).FieldByName(m[2])
		assert.Equal(t, m[1], fmt.Sprint(value.Interface()), m[2])
	}
}

func byMantri(t restart.Task, p restart.Phase) restart.Decision { return restart.Mantri{}.Decide(t, p) }

// A refusal has the comparison that refused, and not an earlier comparison that passed.
func TestMantriPrintsTheComparisonThatRefused(t *testing.T) {
	type facts func(*restart.Task)
	slow := func(with facts) restart.Task {
		task := single(time.Hour, 30)
		task.NoRestart = true
		with(&task)
		return task
	}
	second := restart.Attempt{Elapsed: minute, Remaining: time.Hour}
	for want, task := range map[restart.Comparison]restart.Task{
		restart.Compare(restart.RunSeconds, 4, 10): slow(func(t *restart.Task) { t.Attempts[0].Elapsed = 4 * time.Second }),
		restart.Compare(restart.RunSeconds, 15, 20): slow(func(t *restart.Task) {
			t.Attempts[0].Elapsed = 4 * time.Second
			t.Attempts = append(t.Attempts, restart.Attempt{Elapsed: 15 * time.Second, Remaining: estimate.Unknown})
		}),
		restart.Compare(restart.SinceCopySeconds, 19, 20): slow(func(t *restart.Task) { t.SinceCopy = 19 * time.Second }),
		restart.Compare(restart.SinceCopySeconds, 12, 20): slow(func(t *restart.Task) {
			t.SinceCopy = 30 * time.Second
			t.Attempts = append(t.Attempts, restart.Attempt{Elapsed: 12 * time.Second, Remaining: time.Hour})
		}),
		restart.Compare(restart.RunningAttempts, 3, 3): slow(func(t *restart.Task) {
			t.Attempts = append(t.Attempts, second, restart.Attempt{Elapsed: 5 * time.Second, Remaining: time.Hour})
		}),
		restart.Compare(restart.PastCopies, 9, 8): slow(func(t *restart.Task) { t.Copies = 9 }),
		{}: slow(func(t *restart.Task) { t.NoCopy = true }),
	} {
		for _, p := range []restart.Phase{idle, scarce} {
			d := byMantri(task, p)
			assert.Equal(t, restart.Keep, d.Action, "%v", d)
			assert.Equal(t, want, d.Comparison, "%v", d)
		}
	}
	// If no copy saves resources, the decision says why the task is not restarted.
	task := single(41*time.Second, 30)
	task.Restarts = 3
	d := byMantri(task, scarce)
	assert.Equal(t, restart.RestartsSpent, d.Reason)
	assert.Equal(t, restart.Compare(restart.PastRestarts, 3, 3), d.Comparison)
}
