package array

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
)

// simulate runs the array of 16 tasks on a fake cluster, in simulated time.
func simulate(t *testing.T, f *fake, o Options) (res Result, log string, err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		res, log, err = f.run(context.Background(), o)
	})
	return res, log, err
}

// simulated runs the array of 16 tasks, as simulate does, on any Slurm that is built around the fake cluster.
func (f *fake) simulated(s Slurm, o Options) (res Result, log string, err error) {
	f.t.Helper()
	synctest.Test(f.t, func(t *testing.T) {
		res, log, err = f.runOn(t.Context(), s, o)
	})
	return res, log, err
}

func (f *fake) run(ctx context.Context, o Options) (Result, string, error) { return f.runOn(ctx, f, o) }

func (f *fake) runOn(ctx context.Context, s Slurm, o Options) (Result, string, error) {
	var log bytes.Buffer
	o.Script, o.Dir, o.Log = f.script(), f.dir, &log
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	res, err := Run(ctx, s, o)
	assert.Empty(f.t, f.left(), "no job is left in the queue")
	left, globErr := filepath.Glob(filepath.Join(f.dir, ".straggler-*"))
	require.NoError(f.t, globErr)
	assert.Empty(f.t, left)
	return res, log.String(), err
}

// duplicating is a policy that makes copies and no restarts, so that the number of copies is known.
var duplicating = restart.Mantri{MaxRestarts: restart.Off}

// complete checks that every task has its output file and its result file, as sbatch would leave them.
func (f *fake) complete() {
	f.t.Helper()
	for task := range 16 {
		said, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprintf("slurm-1_%d.out", task)))
		require.NoError(f.t, err)
		assert.Equal(f.t, fmt.Sprintf("task %d ended with 0\n", task), string(said))
		assert.FileExists(f.t, filepath.Join(f.dir, fmt.Sprintf("result-%d", task)))
	}
	files, err := os.ReadDir(f.dir)
	require.NoError(f.t, err)
	assert.Len(f.t, files, 16+16+1)
}

// naive is a simple policy: as soon as half of the tasks are done, it copies each attempt that has run for longer
// than twice the median run time.
var naive = rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}

func TestTasksOfASlowNodeAreCopied(t *testing.T) {
	for policy, c := range map[restart.Policy]struct {
		copies  int
		seconds [2]float64 // at least, at most
	}{
		restart.Never{}:  {0, [2]float64{100, 103}},
		naive:            {4, [2]float64{30, 36}},
		restart.Mantri{}: {4, [2]float64{20, 27}},
	} {
		t.Run(fmt.Sprintf("%T", policy), func(t *testing.T) {
			f := newFake(t, 1, 1, 1, 0.1)
			res, log, err := simulate(t, f, Options{Policy: policy, Journal: true})
			require.NoError(t, err)
			f.complete()
			assert.Zero(t, res.Code)
			assert.Empty(t, res.Failed)
			assert.Equal(t, c.copies, res.Copies+res.Restarts, log)
			assert.Equal(t, c.copies, res.Won)
			assert.GreaterOrEqual(t, res.Elapsed.Seconds(), c.seconds[0])
			assert.LessOrEqual(t, res.Elapsed.Seconds(), c.seconds[1])
			replayed, err := journal.Replay(res.Journal, journal.Options{Policy: policy})
			require.NoError(t, err)
			assert.Equal(t, string(res.Journal), string(replayed))
			for _, j := range f.jobs[16:] {
				assert.Contains(t, j.options, "--no-requeue")
				assert.True(t, j.avoids("n3"), j.options)
				output, either := option(j, "--output="), option(j, "--error=")
				assert.Contains(t, output, ".straggler-")
				assert.Equal(t, output, either, "--error is set, because a copy must not print to the script's #SBATCH --error=")
			}
		})
	}
}

// option returns the value of the last option of a name.
func option(j *fakeJob, name string) (value string) {
	for _, o := range j.options {
		if v, is := strings.CutPrefix(o, name); is {
			value = v
		}
	}
	return value
}

func TestLargeTasksAreNotCopiedIfSizesAreKnown(t *testing.T) {
	work := make([]float64, 16)
	for i := range work {
		work[i] = 1
		if i%4 == 0 {
			work[i] = 5
		}
	}
	for policy, copies := range map[restart.Policy]int{naive: 4, restart.Mantri{}: 0} {
		f := newFake(t, 1, 1, 1, 1)
		f.work = func(task int) time.Duration { return time.Duration(work[task]*10) * time.Second }
		res, log, err := simulate(t, f, Options{Policy: policy, Work: work})
		require.NoError(t, err)
		f.complete()
		assert.Equal(t, copies, res.Copies+res.Restarts, "%T: %s", policy, log)
	}
}

func TestTasksOfADeadNodeRunAgain(t *testing.T) {
	for _, policy := range []restart.Policy{restart.Never{}, restart.Mantri{}} {
		f := newFake(t, 1, 1, 1, 1)
		f.work = func(task int) time.Duration {
			if time.Since(f.jobs[0].began) > 3*time.Second {
				f.nodes[2].dead = true
			}
			return 10 * time.Second
		}
		res, log, err := simulate(t, f, Options{Policy: policy})
		require.NoError(t, err)
		f.complete()
		assert.Zero(t, res.Code)
		if policy == (restart.Never{}) {
			assert.Equal(t, 4, res.Reruns, log)
		} else {
			assert.Zero(t, res.Reruns, "the tasks are silent, and get copies before Slurm notices the dead node: %s", log)
		}
	}
}

// While the new attempt of a restart waits in the queue of a full cluster, the old attempt runs on.
func TestOldAttemptRunsWhileItsRestartWaits(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.05) // the last node is so slow that a tenth of the predicted time is too long, too
	for i, n := range f.nodes {
		n.slots = []int{5, 5, 5, 1}[i]
	}
	f.facts.Throttle = 16 // no slot is idle for Mantri, so that it wants to restart
	f.refuses = func(options []string) error {
		if f.arrays > 0 {
			f.nodes[0].slots, f.nodes[1].slots, f.nodes[2].slots = 0, 0, 0 // others have taken them
		}
		return nil
	}
	res, log, err := simulate(t, f, Options{Policy: restart.Mantri{IdleGain: restart.Off}})
	require.NoError(t, err)
	f.complete()
	assert.Positive(t, res.Restarts, log)
	assert.Zero(t, res.Won)
	assert.LessOrEqual(t, res.Elapsed.Seconds(), 203.)
}

// While tasks wait for slots, a restart ends the old attempt, but not before the new attempt has begun.
func TestRestartEndsTheOldAttemptIfSlotsAreScarce(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	for i, n := range f.nodes {
		// the slow node has most slots, and tasks still wait when the first three tasks have ended
		n.slots = []int{1, 1, 1, 6}[i]
	}
	res, log, err := simulate(t, f, Options{Policy: restart.Mantri{}})
	require.NoError(t, err)
	f.complete()
	assert.Positive(t, res.Restarts, log)
	killed := 0
	for _, j := range f.jobs[16:] {
		original := f.jobs[j.task]
		if j.began.IsZero() || original.cancelled.IsZero() {
			continue
		}
		assert.False(t, original.cancelled.Before(j.began), j.id())
		if original.cancelled.Sub(j.began) < 2*time.Second {
			killed++
		}
	}
	assert.Equal(t, 2, killed, log)
	assert.Less(t, res.Elapsed.Seconds(), 65.)
}

func TestAFailedTaskDoesNotRunAgain(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	f.ends = func(j *fakeJob) int {
		if j.task == 5 {
			return 7
		}
		return 0
	}
	res, log, err := simulate(t, f, Options{})
	require.NoError(t, err)
	assert.Equal(t, 7, res.Code)
	assert.Equal(t, []string{"1_5"}, res.Failed)
	assert.Len(t, f.jobs, 16, log)
	said, err := os.ReadFile(filepath.Join(f.dir, "slurm-1_5.out"))
	require.NoError(t, err)
	assert.Equal(t, "task 5 ended with 7\n", string(said))
}

// A failed copy does not end the original.
func TestFailedCopiesDoNoHarm(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.ends = func(j *fakeJob) int {
		if j.array > 1 {
			return 3
		}
		return 0
	}
	res, log, err := simulate(t, f, Options{Policy: duplicating})
	require.NoError(t, err)
	f.complete()
	assert.Zero(t, res.Code)
	assert.GreaterOrEqual(t, res.Copies, 4, log)
	assert.Zero(t, res.Won)
}

func TestATaskCancelledBySomebodyElseDoesNotRunAgain(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	f.work = func(task int) time.Duration {
		if j := f.jobs[3]; j.state == "RUNNING" && time.Since(j.began) > 4*time.Second {
			j.state = "CANCELLED"
		}
		return 10 * time.Second
	}
	res, _, err := simulate(t, f, Options{})
	require.NoError(t, err)
	assert.Equal(t, 1, res.Code)
	assert.Equal(t, []string{"1_3"}, res.Failed)
	assert.Len(t, f.jobs, 16, "the cancelled task has no second attempt")
}

func TestRefusedCopiesAreTriedAgain(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	refused := 0
	f.refuses = func([]string) error {
		if f.arrays > 0 && time.Since(f.jobs[0].began) < 20*time.Second {
			refused++
			return errRefused
		}
		return nil
	}
	res, log, err := simulate(t, f, Options{Policy: duplicating})
	require.NoError(t, err)
	f.complete()
	assert.Equal(t, 4, res.Copies)
	assert.Equal(t, 1, strings.Count(log, errRefused.Error()), "the error is logged once: %s", log)
	assert.LessOrEqual(t, refused, 2*20, "each poll tries once with --exclude and once without")
	assert.LessOrEqual(t, res.Elapsed.Seconds(), 33.)
}

// If the user's own options exclude all nodes except those that the copy should avoid, the copy runs on one of these.
func TestExclusionYieldsToTheUsersOptions(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.facts.Exclude = "n9"
	f.refuses = func(options []string) error {
		if j := (&fakeJob{options: options}); j.avoids("n3") {
			return errRefused
		}
		return nil
	}
	res, _, err := simulate(t, f, Options{Policy: duplicating})
	require.NoError(t, err)
	f.complete()
	assert.Equal(t, 4, res.Copies)
	for _, j := range f.jobs[16:] {
		assert.True(t, j.avoids("n9"), j.options)
	}
}

// In shadow mode the policy is asked, and nothing is submitted or cancelled. The bill says that the slow node costs
// most of the array's time.
func TestShadowOnlyLogs(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	res, log, err := simulate(t, f, Options{Policy: duplicating, Shadow: true, OnAction: func(int, engine.Action) {
		t.Error("an action is carried out")
	}})
	require.NoError(t, err)
	f.complete()
	assert.Len(t, f.jobs, 16)
	assert.Empty(t, f.canceled)
	assert.NotContains(t, f.jobs[0].options, "--no-requeue", "in shadow mode Slurm itself runs lost tasks again")
	assert.Zero(t, res.Copies)
	assert.Contains(t, log, "copy idle-slot")
	assert.Equal(t, 4, strings.Count(log, "(not done)"), log)
	lines := strings.Count(log, "so far, by the 12 tasks that have ended, the policy ")
	assert.Equal(t, 1, lines, "a line a minute, and the array takes 100 s: %s", log)
	assert.Equal(t, 16, res.Bill.Tasks)
	assert.InDelta(t, 100, res.Bill.Without.Seconds(), 5, res.Bill)
	acting, _, err := simulate(t, newFake(t, 1, 1, 1, 0.1), Options{Policy: duplicating})
	require.NoError(t, err)
	assert.InDelta(t, acting.Elapsed.Seconds(), res.Bill.With.Seconds(), 10, res.Bill)
	assert.InDelta(t, 1-acting.Elapsed.Seconds()/res.Elapsed.Seconds(), res.Bill.Saved, .1, res.Bill)
	assert.Equal(t, 4, res.Bill.Copies)
	assert.Contains(t, res.String(), "; the policy saves ")
}

// Without progress a policy learns later that tasks are slow. The bill knows whether there was progress.
func TestBillKnowsWhetherTasksReport(t *testing.T) {
	var bills [2]shadow.Bill
	for i := range bills {
		f := newFake(t, 1, 1, 1, 0.1)
		f.silent = i == 1
		res, _, err := simulate(t, f, Options{Shadow: true})
		require.NoError(t, err)
		bills[i] = res.Bill
	}
	assert.Equal(t, bills[0].Without.Round(time.Second), bills[1].Without.Round(time.Second))
	assert.Less(t, bills[0].With, bills[1].With)
}

func TestLagOfTheBillIsTheFirstBegin(t *testing.T) {
	r := run{submitted: time.Unix(100, 0), config: engine.Config{Lag: 3 * time.Second}}
	assert.Equal(t, 3*time.Second, r.lag([]engine.Attempt{{}}), "no attempt has begun")
	begun := func(at int64) engine.Attempt { return engine.Attempt{Begun: time.Unix(at, 0)} }
	assert.Equal(t, 5*time.Second, r.lag([]engine.Attempt{{}, begun(107), begun(105), begun(160)}))
	assert.Zero(t, r.lag([]engine.Attempt{begun(99)}), "the clock of a node is behind")
}

// In shadow mode Run submits nothing for lost tasks either: Slurm itself runs them again, if it may.
func TestShadowSubmitsNothingForLostTasks(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	f.work = func(task int) time.Duration {
		if time.Since(f.jobs[0].began) > 3*time.Second {
			f.nodes[2].dead = true
		}
		return 10 * time.Second
	}
	res, log, err := simulate(t, f, Options{Shadow: true})
	require.NoError(t, err)
	assert.Len(t, f.jobs, 16, log)
	assert.Empty(t, f.canceled)
	assert.Len(t, res.Failed, 4)
	assert.Zero(t, res.Reruns)
	assert.Equal(t, 12, res.Bill.Tasks)
}

func TestNoCopyRunsNoTaskTwiceAtOnce(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	res, log, err := simulate(t, f, Options{Policy: duplicating, NoCopy: true})
	require.NoError(t, err)
	f.complete()
	assert.Len(t, f.jobs, 16, log)
	assert.Zero(t, res.Copies+res.Restarts)
}

// OnAction sees each submission and each cancellation once, and Configure changes the phase.
func TestOnActionAndConfigure(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	ops, tasks := map[engine.Op]int{}, map[int]bool{}
	res, log, err := simulate(t, f, Options{Policy: restart.Never{}, OnAction: func(task int, a engine.Action) {
		ops[a.Op]++
		tasks[task] = true
	}, Configure: func(c *engine.Config) { c.Policy = duplicating }})
	require.NoError(t, err)
	assert.Equal(t, 4, res.Copies, log)
	assert.Equal(t, map[engine.Op]int{engine.Submit: 4, engine.Cancel: 4}, ops, log)
	assert.Len(t, tasks, 4)

	_, _, err = simulate(t, newFake(t, 1), Options{Configure: func(c *engine.Config) { c.MaxLost = -1 }})
	assert.ErrorContains(t, err, "array: Options: restart/engine: Config.MaxLost is -1")
}

func TestBadProgressIsCounted(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.silent = true
	f.work = func(task int) time.Duration {
		f.write(filepath.Join(f.jobs[0].run, "1_2.progress"), "half\n")
		return 10 * time.Second
	}
	res, log, err := simulate(t, f, Options{})
	require.NoError(t, err)
	f.complete()
	assert.Positive(t, res.BadProgress)
	assert.Equal(t, 1, strings.Count(log, `"half"`), log)
	assert.Contains(t, log, "no task has written its progress")
}

func TestExpectedBytesAreProgress(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.silent = true
	f.work = func(int) time.Duration {
		for _, j := range f.jobs {
			if j.state == "RUNNING" {
				f.write(filepath.Join(j.run, j.files+".out", "part"), strings.Repeat("x", int(100*j.node.speed*time.Since(j.began).Seconds())))
			}
		}
		return 10 * time.Second
	}
	res, log, err := simulate(t, f, Options{Policy: duplicating, ExpectBytes: 1000})
	require.NoError(t, err)
	assert.Equal(t, 4, res.Copies, log)
	assert.Less(t, res.Elapsed.Seconds(), 30.)
}

func TestWrongOptionsAreErrors(t *testing.T) {
	f := newFake(t, 1)
	f.stdout = "all.out"
	_, _, err := simulate(t, f, Options{})
	require.ErrorContains(t, err, "put %a into the names")

	f = newFake(t, 1)
	_, _, err = simulate(t, f, Options{Work: []float64{1, 2, 3}})
	require.ErrorContains(t, err, "Options.Work has 3 sizes, want 16")

	for want, o := range map[string]Options{
		"array: Options.Policy: restart: Mantri.MaxCopies is -7": {Policy: restart.Mantri{MaxCopies: -7}},
		"array: Options.Limits: restart: Limits.Copies is -7":    {Limits: restart.Limits{Copies: -7}},
		"array: Options.Sbatch has --wait":                       {Sbatch: []string{"--wait"}},
	} {
		f = newFake(t, 1)
		_, _, err = simulate(t, f, o)
		require.ErrorContains(t, err, want)
		assert.Empty(t, f.jobs, "the error comes before the array is submitted")
	}

	f = newFake(t, 1)
	f.refuses = func([]string) error { return errRefused }
	res, _, err := simulate(t, f, Options{})
	require.ErrorIs(t, err, errRefused)
	assert.Zero(t, res.Tasks)
}
