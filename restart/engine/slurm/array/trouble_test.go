package array

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// These tests are about troubles: Slurm is away, the disk is full, or the run is interrupted.

func TestInterruptCancelsAllJobs(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(14*time.Second, func() { cancel(stop) }) // copies run
		res, _, err := f.run(ctx, Options{Policy: duplicating})
		require.ErrorIs(t, err, stop)
		assert.Positive(t, res.Copies)
		assert.Len(t, res.Failed, 4)
	})
}

func TestInterruptAtTheBeginSubmitsNoMore(t *testing.T) {
	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	f := newFake(t, 1)
	f.refuses = func([]string) error { cancel(stop); return nil } // and sbatch takes it all the same
	f.failing = func() error { return ctx.Err() }
	synctest.Test(t, func(*testing.T) {
		_, _, err := f.run(ctx, Options{})
		require.ErrorIs(t, err, stop)
		assert.Len(t, f.jobs, 16)
		_, _, err = f.run(ctx, Options{})
		require.ErrorIs(t, err, stop)
		assert.Len(t, f.jobs, 16, "nothing is submitted")
	})
}

func TestRunAsksAgainIfSlurmIsBusyAtTheBegin(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	f.failing = func() error {
		if time.Since(f.jobs[0].began) < 5*time.Second {
			return errRefused
		}
		return nil
	}
	_, log, err := simulate(t, f, Options{})
	require.NoError(t, err)
	f.complete()
	assert.Equal(t, 1, strings.Count(log, errRefused.Error()), log)
}

func TestRunGoesOnAfterSqueueHasFailedForAWhile(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	down := errors.New("squeue: slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
	f.failing = func() error {
		if age := time.Since(f.jobs[0].began); age > 8*time.Second && age < 15*time.Second {
			return down
		}
		return nil
	}
	_, log, err := simulate(t, f, Options{Policy: restart.Mantri{}})
	require.NoError(t, err)
	f.complete()
	assert.Equal(t, 1, strings.Count(log, down.Error()), "the error is logged once")
}

// Run handles the ends of attempts although sinfo does not answer.
func TestEndsCountWhileSinfoFails(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	f.blind = func() error {
		if len(f.jobs) > 0 && time.Since(f.jobs[0].began) > 8*time.Second && time.Since(f.jobs[0].began) < 15*time.Second {
			return errRefused
		}
		return nil
	}
	res, log, err := simulate(t, f, Options{Patience: time.Minute})
	require.NoError(t, err)
	f.complete()
	assert.Less(t, res.Elapsed.Seconds(), 20., log)
	assert.Zero(t, res.Copies+res.Restarts+res.Reruns, log)
	assert.Equal(t, 16, res.Ledger.Finished)
}

// A result that can't be moved for a while delays no other result, and is moved later.
func TestABlockedResultIsMovedLater(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	blocked := filepath.Join(f.dir, "result-5")
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o755))
	var once sync.Once
	f.blind = func() error {
		if len(f.jobs) > 0 && time.Since(f.jobs[0].began) > 20*time.Second {
			assert.FileExists(t, filepath.Join(f.dir, "result-15"))
			once.Do(func() { require.NoError(t, os.RemoveAll(blocked)) })
		}
		return nil
	}
	res, log, err := simulate(t, f, Options{Patience: time.Minute})
	require.NoError(t, err)
	f.complete()
	assert.Empty(t, res.Failed)
	assert.Contains(t, log, "result-5")
}

// The task keeps the output of the attempt that gave the task its exit code.
func TestAFailedTaskKeepsTheOutputOfItsExitCode(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.work = func(task int) time.Duration { return 10 * time.Second }
	f.ends = func(j *fakeJob) int {
		switch {
		case j.array > 1:
			return 3
		case j.task%4 == 3 || j.node.name == "n3":
			return 7
		}
		return 0
	}
	once := duplicating
	once.MaxCopies = 1
	res, log, err := simulate(t, f, Options{Policy: once})
	require.NoError(t, err)
	assert.Equal(t, 7, res.Code, log)
	assert.NotEmpty(t, res.Failed)
	for _, id := range res.Failed {
		_, task, _ := strings.Cut(id, "_")
		said, err := os.ReadFile(filepath.Join(f.dir, "slurm-"+id+".out"))
		require.NoError(t, err)
		assert.Equal(t, "task "+task+" ended with 7\n", string(said))
	}
}

func TestRunGivesUpIfSqueueFailsForGood(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	down := errors.New("squeue: slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
	f.failing = func() error {
		if time.Since(f.jobs[0].began) > 3*time.Second {
			return down
		}
		return nil
	}
	res, _, err := simulate(t, f, Options{Patience: time.Minute})
	require.ErrorIs(t, err, down)
	assert.ErrorContains(t, err, "given up after 1m0s")
	assert.Equal(t, 1, res.Code)
}
