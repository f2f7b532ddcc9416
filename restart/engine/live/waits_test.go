package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/restart/tracker"
)

// training is a job whose steps are watched as phases of one name.
type training struct {
	t    testing.TB
	view *View
	now  float64
}

func newTraining(t testing.TB) *training {
	j := &training{t: t}
	j.view = New(Options{Now: func() time.Time { return at(j.now) }})
	return j
}

// phase begins a step with as many tasks.
func (j *training) phase(name string, tasks int, n Names) *tracker.Tracker {
	w := j.view.Watch(name, n)
	tr, err := tracker.New(tracker.Config{Tasks: tasks, Slots: 2 * tasks, Interval: time.Second, OnEvent: w.OnEvent})
	require.NoError(j.t, err)
	return tr
}

// step plays a step: each task runs on the machine of its number, for some seconds.
func (j *training) step(name string, n Names, seconds ...float64) {
	tr := j.phase(name, len(seconds), n)
	slowest := 0.0
	for task := range seconds {
		tr.Start(at(j.now), task, task)
	}
	for task, s := range seconds {
		tr.Finish(at(j.now+s), task, 0)
		slowest = max(slowest, s)
	}
	j.now += slowest
	tr.Close(at(j.now))
}

func workers(m int) string { return fmt.Sprint("<w", m, ">") }

// Ten workers, 250 steps, and one always takes 1.15 times as long. The page names it, with what causes.Lockstep counts.
func TestThePageNamesWhoMakesTheOthersWait(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	j := newTraining(t)
	var l causes.Lockstep
	for step := range 250 {
		seconds, members := make([]float64, 10), make([]causes.Member, 10)
		for i := range seconds {
			seconds[i] = 10 * math.Exp(.02*r.NormFloat64())
			if i == 5 {
				seconds[i] *= 1.15
			}
			seconds[i] = math.Round(512*seconds[i]) / 512 // whole nanoseconds
			members[i] = causes.Member{Machine: i, Replica: i, Took: at(seconds[i]).Sub(at(0))}
		}
		l.Add(members)
		j.step("train", Names{Machine: workers}, seconds...)
		if step == 3 {
			assert.NotContains(t, get(t, j.view, "/"), "was last", "four phases are too few")
		}
	}
	want := l.Waiting()
	require.Equal(t, causes.SlowWorker, want.Findings[0].Reason)
	page := get(t, j.view, "/")
	for _, text := range []string{
		fmt.Sprintf("&lt;w5&gt; was last in %.0f %% of 250 phases; if all were alike, each would be last in 10 %%.", float64(want.Lags[0].Last)/2.5),
		fmt.Sprintf("The slowest task of a phase costs %.1f %% of the phases&#39; time beyond the median of the others.", 100*want.Wait),
		"&lt;w5&gt; takes 1.15 times the median of the others. It always runs the same task",
		fmt.Sprintf("saves %.1f %% (±%.1f) of the time.", 100*want.Findings[0].Share, 196*want.Findings[0].Error),
	} {
		assert.Contains(t, page, text)
	}
	assert.NotContains(t, page, "<w5>", "names are escaped")
	metrics := get(t, j.view, "/metrics")
	for _, line := range []string{
		`straggler_steps_total{phase="train"} 250`,
		fmt.Sprintf(`straggler_last_total{phase="train",worker="<w5>"} %d`, want.Lags[0].Last),
		fmt.Sprintf(`straggler_wait_ratio{phase="train"} %v`, want.Wait),
	} {
		assert.Contains(t, metrics, line+"\n")
	}
	j.view.Forget("train")
	j.step("train", Names{}, 1, 2)
	assert.Contains(t, get(t, j.view, "/metrics"), `straggler_steps_total{phase="train"} 1`, "earlier phases are forgotten")
}

// Each reason has its sentence. The slow time, and its end, are said by the numbers of the phases.
func TestEachReasonHasItsSentence(t *testing.T) {
	noise := func(r *rand.Rand) float64 { return 10 * math.Exp(.01*r.NormFloat64()) }
	for name, c := range map[string]struct {
		seconds func(r *rand.Rand, step, task int) float64
		machine func(step, task int) int
		want    string
	}{
		"a machine that changes its task": {func(r *rand.Rand, step, task int) float64 {
			if (task+step)%8 == 3 {
				return 1.3 * noise(r)
			}
			return noise(r)
		}, func(step, task int) int { return (task + step) % 8 }, "machine 3 takes 1.3 times the median of the others, whichever task it runs: the machine is slow."},
		"a task on any machine": {func(r *rand.Rand, _, task int) float64 {
			if task == 2 {
				return 1.3 * noise(r)
			}
			return noise(r)
		}, func(step, task int) int { return (task + step) % 8 }, "task 2 takes 1.3 times the median of the others, on several machines: the task is at fault"},
		"a worker that was slow for a while": {func(r *rand.Rand, step, task int) float64 {
			if task == 6 && step >= 80 && step < 120 {
				return 1.5 * noise(r)
			}
			return noise(r)
		}, func(_, task int) int { return task }, " times the median of the others from phase 81 to 120, where it costs 32.3 %, and not since. It always runs"},
		"a worker that is slow since": {func(r *rand.Rand, step, task int) float64 {
			if task == 6 && step >= 150 {
				return 1.5 * noise(r)
			}
			return noise(r)
		}, func(_, task int) int { return task }, " times the median of the others since phase 151, where it costs 32.6 %. It always runs"},
		"nobody": {func(r *rand.Rand, _, _ int) float64 { return noise(r) }, func(_, task int) int { return task },
			"No machine is slow for long: now one is last, now another."},
		"no machines": {func(r *rand.Rand, _, task int) float64 {
			if task == 7 {
				return 1.2 * noise(r)
			}
			return noise(r)
		}, func(int, int) int { return -1 }, "task 7 takes 1.2 times the median of the others. It always runs the same task"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 0))
			j := newTraining(t)
			for step := range 200 {
				tr := j.phase("train", 8, Names{})
				slowest := 0.0
				for task := range 8 {
					tr.Start(at(j.now), task, c.machine(step, task))
				}
				for task := range 8 {
					s := c.seconds(r, step, task)
					tr.Finish(at(j.now+s), task, 0)
					slowest = max(slowest, s)
				}
				j.now += slowest
				tr.Close(at(j.now))
			}
			assert.Contains(t, get(t, j.view, "/part"), c.want)
		})
	}
}

// Sizes explain the times. A size is the work of a task.
func TestSizesExplainTheWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	j := newTraining(t)
	for range 100 {
		works, seconds := make([]float64, 8), make([]float64, 8)
		for i := range works {
			works[i] = 1 + r.Float64()
			seconds[i] = 10 * works[i]
		}
		j.step("train", Names{Work: works}, seconds...)
	}
	assert.Contains(t, get(t, j.view, "/"), "The work of the tasks differs, and no machine is at fault.")
}

// A task has a copy that wins. The task takes until the copy ends, and its machine is that of the first attempt, which ran
// longer. An attempt that failed early, or was lost with its machine, is not at fault.
func TestATaskWithCopiesWaitsForTheSlowAttempt(t *testing.T) {
	j := newTraining(t)
	for range 20 {
		begun := j.now
		tr := j.phase("train", 4, Names{})
		for task := range 4 {
			tr.Start(at(begun), task, task)
		}
		tr.Fail(at(begun+1), 1, 0)
		tr.Start(at(begun+1), 1, 7)
		tr.LoseMachine(at(begun+2), 3)
		tr.Start(at(begun+2), 3, 8)
		tr.Start(at(begun+6), 2, 9)
		tr.Finish(at(begun+10), 0, 0)
		tr.Finish(at(begun+10), 1, 1)
		tr.Finish(at(begun+10), 3, 1)
		tr.Finish(at(begun+14), 2, 1)
		j.now += 20
		tr.Close(at(j.now))
	}
	waits := j.view.waits["train"].waiting(nil)
	require.Equal(t, 20, waits.Steps)
	assert.InDelta(t, 4./14, waits.Wait, 1e-9, "the median task takes 10 s, and the slowest 14")
	require.Len(t, waits.last, 1)
	assert.Equal(t, last{Lag: waits.Lags[0], worker: "machine 2"}, waits.last[0])
	assert.Equal(t, []string{"machine 0", "machine 7", "machine 2", "machine 8"}, j.view.waits["train"].machines)
}

// A machine has one record, whatever its number in a phase is.
func TestMachinesAreComparedByTheirNames(t *testing.T) {
	j := newTraining(t)
	for step := range 10 {
		j.step("train", Names{Machine: func(m int) string { return string(rune('a' + (m+step)%4)) }}, 1, 2, 3, 4)
	}
	assert.Equal(t, []string{"a", "b", "c", "d"}, j.view.waits["train"].machines)
	all := j.view.waits["train"].waiting(nil).last
	require.Len(t, all, 4)
	for _, l := range all {
		assert.Contains(t, []int{2, 3}, l.Last, "each machine has the slow task by turns")
	}
}

// A phase that is no whole step is left out.
func TestPhasesThatAreNoStepsAreLeftOut(t *testing.T) {
	j := newTraining(t)
	for name, play := range map[string]func(tr *tracker.Tracker){
		"a task does not end":  func(tr *tracker.Tracker) { tr.Finish(at(10), 0, 0) },
		"a task begins later":  func(tr *tracker.Tracker) { tr.Finish(at(10), 0, 0); tr.Start(at(11), 2, 0) },
		"the output is lost":   func(tr *tracker.Tracker) { tr.Finish(at(10), 0, 0); tr.LoseOutput(at(11), 0); tr.Start(at(11), 0, 0) },
		"no attempt has begun": func(tr *tracker.Tracker) { tr.Submit(at(1), 2, 0) },
	} {
		tr := j.phase("train", 3, Names{})
		tr.Start(at(0), 0, 0)
		tr.Start(at(0), 1, 1)
		play(tr)
		for task := range 3 {
			for attempt := range 2 {
				if name != "a task does not end" || task != 1 {
					tr.Finish(at(20), task, attempt)
				}
			}
		}
		tr.Close(at(30))
		assert.Zero(t, j.view.waits["train"].waiting(nil).Steps, name)
	}
	many := make([]float64, mostMembers+1)
	for i := range many {
		many[i] = 1
	}
	j.step("train", Names{}, many...)
	assert.Zero(t, j.view.waits["train"].waiting(nil).Steps, "too many tasks")
	j.step("train", Names{}, many[1:]...)
	assert.Equal(t, 1, j.view.waits["train"].waiting(nil).Steps)
	tr := j.phase("train", 2, Names{})
	tr.Close(at(j.now))
	tr.Close(at(j.now))
	j.step("another", Names{}, 1, 2)
	assert.Equal(t, 1, j.view.waits["train"].waiting(nil).Steps, "an empty phase is no step, and another name is another job")
}

// An attempt that waits in a queue begins later.
func TestAQueuedAttemptBeginsLater(t *testing.T) {
	j := newTraining(t)
	tr := j.phase("train", 2, Names{})
	for task := range 2 {
		tr.Submit(at(0), task, -1)
	}
	tr.Begin(at(2), 0, 0, 4)
	tr.Begin(at(3), 1, 0, 5)
	tr.Finish(at(5), 0, 0)
	tr.Finish(at(9), 1, 0)
	tr.Close(at(9))
	waits := j.view.waits["train"].waiting(nil)
	assert.InDelta(t, 3./6, waits.Wait, 1e-9, "tasks take 3 and 6 s, and the median of the others is 3 s")
	assert.Equal(t, "machine 5", waits.last[0].worker)
}

// Phases of one name end at once, while viewers look.
func TestPhasesOfANameEndWhileViewersLook(t *testing.T) {
	v := New(Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				w := v.Watch("train", Names{})
				for task := range 3 {
					w.OnEvent(tracker.Event{Kind: tracker.Started, Task: task, Machine: task, Time: at(0)}, tracker.Answer{Task: task})
				}
				for task := range 3 {
					w.OnEvent(tracker.Event{Kind: tracker.Finished, Task: task, Time: at(float64(task + 1))}, tracker.Answer{Task: task})
				}
				w.OnEvent(tracker.Event{Kind: tracker.Closed, Time: at(4)}, tracker.Answer{Task: -1})
				assert.NotContains(t, strings.ToUpper(get(t, v, "/")), "NAN")
			}
		})
	}
	all.Wait()
	assert.Equal(t, 160, v.waits["train"].waiting(nil).Steps)
}

// Phases in which several tasks are last together name nobody, and the page says how many there are.
func TestTiedPhasesNameNobody(t *testing.T) {
	j := newTraining(t)
	for range 10 {
		j.step("train", Names{}, 5, 5, 5)
	}
	page := get(t, j.view, "/")
	assert.Contains(t, page, "In 100 % of the phases several tasks were last together, which counts for none of them.")
	assert.NotContains(t, page, "was last in")

	// One phase has no tie. Both shares are shares of this phase.
	j.step("train", Names{}, 5, 6, 5, 5)
	tied := "In 91 % of the phases several tasks were last together"
	page = get(t, j.view, "/")
	assert.Contains(t, page, "machine 1 was last in 100 % of the 1 phase without a tie; if all were alike, each would be last in 25 %. "+tied)
	j.step("train", Names{}, 5, 5, 5, 6)
	assert.Contains(t, get(t, j.view, "/"), "was last in 50 % of the 2 phases without a tie; if all were alike, each would be last in 25 %.")
}
