package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
)

// Each test follows some sentences of a paper, and has the number of their section in its name. LATE is Zaharia et
// al., OSDI 2008; Mantri is Ananthanarayanan et al., OSDI 2010.

const minute = time.Minute

func fresh(s float64) estimate.Fresh { return estimate.Fresh{UnitTime: policytest.Certain(s), Work: 1} }

// The example of Figure 2: a task does 5 % a second up to 50 %, and then 1 % a second. T1 began at 0 and T2 at 10.
// The time is 20. T1 will end at 60, and T2 at 70.
func TestLATE42Figure2(t *testing.T) {
	const slowPart = 0.01 // score a second in the second half
	t1 := []estimate.Subphase{
		{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, Score: 0.1, Age: 10 * time.Second},
	}
	t2 := []estimate.Subphase{{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, PeerRate: slowPart}}
	running := []restart.Task{
		{Attempts: []restart.Attempt{{Machine: 0, Elapsed: 20 * time.Second, Score: 0.6, Remaining: estimate.TimeLeftBySubphase(t1)}}},
		{Attempts: []restart.Attempt{{Machine: 1, Elapsed: 10 * time.Second, Score: 0.5, Remaining: estimate.TimeLeftBySubphase(t2)}}},
	}
	phase := restart.Phase{Slots: 100, FreeSlots: 1}
	plain := rules.LATE{MinAge: restart.Off, SlowTask: restart.Off}
	i, d := restart.Next(plain, running, nil, phase)
	assert.Equal(t, 0, i, "the heuristic takes T1 for the task that ends last")
	assert.InDelta(t, 13.33, d.Gain.Seconds(), 0.005)
	assert.InDelta(t, 10, plain.Decide(running[1], phase).Gain.Seconds(), 1e-6)

	aware := plain
	aware.UseRemaining = true
	i, d = restart.Next(aware, running, nil, phase)
	assert.Equal(t, 1, i, "the phase-aware estimate takes T2, which ends last")
	assert.InDelta(t, 50, d.Gain.Seconds(), 1e-6)
	assert.InDelta(t, 40, aware.Decide(running[0], phase).Gain.Seconds(), 1e-6)

	// The plugged-in estimate counts also where it is the shorter one: by the score 80 s are left.
	sooner := restart.Task{Attempts: []restart.Attempt{{Elapsed: 20 * time.Second, Score: 0.2, Remaining: 15 * time.Second}}}
	assert.Equal(t, 15*time.Second, aware.Decide(sooner, phase).Gain)
	assert.InDelta(t, 80, plain.Decide(sooner, phase).Gain.Seconds(), 1e-6)
}

// A is 5 times slower than the mean and at 90 %. B is 2 times slower and at 10 %. B ends later, although its rate is
// higher.
func TestLATE41RanksByTimeLeft(t *testing.T) {
	const mean = 10 * 60.0 // seconds for each task
	task := func(slower, score float64) restart.Task {
		return restart.Task{Attempts: []restart.Attempt{{Machine: -1, Elapsed: seconds(mean * slower * score), Score: score}}}
	}
	rates := new(estimate.Empirical)
	for range 98 {
		rates.Insert(1 / mean)
	}
	rates.Insert(1 / mean / 5)
	rates.Insert(1 / mean / 2)
	phase := restart.Phase{Slots: 100, FreeSlots: 1, Peers: restart.Peers{ProgressRates: rates, MeanScore: 0.95}}
	running := []restart.Task{task(5, 0.9), task(2, 0.1), task(1, 0.5)}
	i, d := restart.Next(rules.LATE{}, running, nil, phase)
	assert.Equal(t, 1, i)
	assert.Equal(t, restart.LongestToEnd, d.Reason)
	assert.InDelta(t, mean*2*0.9, d.Gain.Seconds(), 1e-6)
	assert.Equal(t, restart.Copy, rules.LATE{}.Decide(running[0], phase).Action, "A is slow as well")
	assert.Equal(t, restart.NotSlow, rules.LATE{}.Decide(running[2], phase).Reason)
}

// fig9 runs the phase of Mantri's Figure 9 on two slots: seven tasks of t or 2t, in the given order, and one of them
// slowed down to 5t. After t the outlier is known to be slow. Its new attempt takes t. fig9 returns the time of
// the phase, and the time that the attempts of the outlier used, both in units of t.
func fig9(t *testing.T, lengths [7]int, outlier int, policy restart.Policy) (end, cost int) {
	type attempt struct{ task, start, end int }
	var slots [2]*attempt
	waiting := []int{0, 1, 2, 3, 4, 5, 6}
	finished := 0
	unit := func(n int) time.Duration { return time.Duration(n) * minute }
	for now := 0; ; now++ {
		require.Less(t, now, 100)
		for _, c := range slots { // the first attempt that ends ends its task, and the other attempt is killed
			if c == nil || c.end != now {
				continue
			}
			finished++
			for i, other := range slots {
				if other != nil && other.task == c.task {
					if c.task == outlier {
						cost += now - other.start
					}
					slots[i] = nil
				}
			}
		}
		if finished == len(lengths) {
			return now, cost
		}
		facts := func() (running []restart.Task, at [][]int, works []float64, p restart.Phase) {
			index := map[int]int{}
			p = restart.Phase{Interval: minute / 10, Waiting: len(waiting), Slots: 2}
			for i, c := range slots {
				if c == nil {
					p.FreeSlots++
					continue
				}
				j, ok := index[c.task]
				if !ok {
					j = len(running)
					index[c.task] = j
					own := lengths[c.task]
					if c.task == outlier {
						own = 1
					}
					running = append(running, restart.Task{Fresh: fresh(unit(own).Seconds())})
					at = append(at, nil)
				}
				left := estimate.Unknown
				if now-c.start >= 1 {
					left = unit(c.end - now)
				}
				running[j].Attempts = append(running[j].Attempts, restart.Attempt{Machine: i, Elapsed: unit(now - c.start), Remaining: left})
				at[j] = append(at[j], i)
			}
			for i := range waiting {
				works = append(works, float64(len(waiting)-i)) // the works put the tasks in the given order
			}
			return running, at, works, p
		}
		running, at, _, p := facts()
		for j := range running {
			d := policy.Decide(running[j], p)
			if d.Action == restart.Restart { // the restart takes the slot of the killed attempt
				slot := at[j][d.Attempt]
				require.Equal(t, outlier, slots[slot].task, "only the outlier is restarted")
				cost += now - slots[slot].start
				slots[slot] = &attempt{outlier, now, now + 1}
			}
		}
		for i := range slots {
			if slots[i] != nil {
				continue
			}
			running, at, works, p := facts()
			j, d := restart.Next(policy, running, works, p)
			switch d.Action {
			case restart.Start:
				task := waiting[j]
				waiting = append(waiting[:j:j], waiting[j+1:]...)
				slots[i] = &attempt{task, now, now + lengths[task]}
			case restart.Copy:
				require.Equal(t, outlier, slots[at[j][0]].task, "only the outlier is copied")
				slots[i] = &attempt{outlier, now, now + 1}
			}
		}
	}
}

func TestMantri51Figure9(t *testing.T) {
	type span struct{ least, most int }
	grow := func(s *span, x int) { s.least, s.most = min(s.least, x), max(s.most, x) }
	restarts, copies, copyCost := span{99, 0}, span{99, 0}, span{99, 0}
	cases := 0
	for mix := range 1 << 6 {
		for outlier := range 7 {
			var lengths [7]int
			for i, normal := 0, 0; i < 7; i++ {
				if i == outlier {
					lengths[i] = 5
					continue
				}
				lengths[i] = 1 + mix>>normal&1
				normal++
			}
			baseline, cost := fig9(t, lengths, outlier, restart.Never{})
			require.Equal(t, 5, cost)
			if baseline != 7 {
				continue // the baseline of the figure takes 7t
			}
			cases++
			byRestart, cost := fig9(t, lengths, outlier, restart.Mantri{})
			require.Equal(t, 2, cost, "the outlier runs for t until it is known to be slow, and for t again: %v", lengths)
			byCopy, cost := fig9(t, lengths, outlier, restart.Mantri{MaxRestarts: restart.Off})
			require.LessOrEqual(t, byRestart, byCopy, "a restart is never slower than a copy: %v", lengths)
			grow(&restarts, byRestart)
			grow(&copies, byCopy)
			grow(&copyCost, cost)
		}
	}
	assert.Greater(t, cases, 20)
	assert.Equal(t, span{4, 6}, restarts)
	assert.Equal(t, span{5, 7}, copies)
	assert.Equal(t, 3, copyCost.least, "2t before the original is killed, and t for the copy")
	assert.Equal(t, 4, copyCost.most, "the next free slot may come t later")
}
