package array

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests are about jobs that sbatch fails to submit, and that the controller may have accepted all the same.

var errLate = errors.New("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")

// late is a cluster that accepts some jobs although its answer to sbatch comes too late.
type late struct {
	*fake
	lost func(array int) bool
}

func (l late) Submit(ctx context.Context, options []string, script string, args []string) (string, error) {
	id, err := l.fake.Submit(ctx, options, script, args)
	if err == nil && l.lost(l.arrays) {
		return "", errLate
	}
	return id, err
}

// apart checks that no two jobs have the same files: they would write to one directory, and to one exit file.
func (f *fake) apart() {
	f.t.Helper()
	of := map[string]string{}
	for _, j := range f.jobs {
		assert.Empty(f.t, of[j.files], "%s and %s are both %s", of[j.files], j.id(), j.files)
		of[j.files] = j.id()
	}
}

// If Slurm has accepted a copy although sbatch failed, Run finds the copy in the queue, and does not submit it again.
func TestAcceptedCopyIsNotSubmittedAgain(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	res, log, err := f.simulated(late{f, func(array int) bool { return array > 1 }}, Options{Policy: duplicating})
	require.NoError(t, err)
	f.complete()
	f.apart()
	assert.Equal(t, 4, res.Won, log)
	assert.Len(t, f.jobs, 20, log)
	assert.LessOrEqual(t, res.Elapsed.Seconds(), 27.)
}

// If sbatch has failed and squeue does not answer, Run does not submit the copy again.
func TestNothingIsSubmittedAgainWhileSqueueFails(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	f.finding = func() error {
		if time.Since(f.jobs[16].began) < 8*time.Second {
			assert.Len(t, f.jobs, 17)
			return errRefused
		}
		return nil
	}
	res, log, err := f.simulated(late{f, func(array int) bool { return array > 1 }}, Options{Policy: duplicating})
	require.NoError(t, err)
	f.complete()
	f.apart()
	assert.Len(t, f.jobs, 20, log)
	assert.Equal(t, 4, res.Won, log)
}

// A job may appear in the queue late, after its copy was submitted again. Run cancels this job, at its own end at the
// latest. The job has files of its own.
func TestJobThatTurnsUpLateIsCancelled(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		f := newFake(t, 1, 1, 1, 0.1)
		l := late{f, func(array int) bool {
			if array == 2 {
				f.jobs[16].node = f.nodes[3] // where it takes long
			}
			return array == 2
		}}
		asked := 0
		unseen := unseeing{l, func() bool {
			if atEnd {
				results, _ := filepath.Glob(filepath.Join(f.dir, "result-*"))
				if len(results) == 16 {
					asked++
				}
				return asked < 2 // once by the last poll, once at the end
			}
			return len(f.jobs) > 16 && time.Since(f.jobs[16].began) < 3*time.Second
		}}
		res, log, err := f.simulated(unseen, Options{Policy: duplicating})
		require.NoError(t, err)
		f.complete()
		f.apart()
		assert.Equal(t, 4, res.Won, log)
		assert.Len(t, f.jobs, 21, log)
		assert.Equal(t, "CANCELLED", f.jobs[16].state)
		if !atEnd {
			assert.Less(t, f.jobs[16].cancelled.Sub(f.jobs[16].began), 6*time.Second)
		}
	}
}

// unseeing is a cluster that does not show all jobs at once.
type unseeing struct {
	late
	blind func() bool
}

func (u unseeing) Find(ctx context.Context, dir string) (map[string]string, error) {
	found, err := u.late.Find(ctx, dir)
	if u.blind() {
		delete(found, strings.TrimSuffix(u.jobs[16].files, ".job")+".job")
	}
	return found, err
}

// If sbatch fails for the original array, the array is found in the queue, or cancelled before the run ends.
func TestArrayIsFoundOrCancelledIfSbatchFails(t *testing.T) {
	f := newFake(t, 1, 1, 1, 1)
	res, _, err := f.simulated(late{f, func(array int) bool { return true }}, Options{})
	require.NoError(t, err)
	f.complete()
	assert.Equal(t, "1", res.Array)

	f = newFake(t, 1, 1, 1, 1)
	asked := 0
	f.finding = func() error {
		if asked++; asked == 1 {
			return errRefused
		}
		return nil
	}
	_, _, err = f.simulated(late{f, func(array int) bool { return true }}, Options{})
	require.ErrorIs(t, err, errLate)
	require.ErrorIs(t, err, errRefused)
	assert.Equal(t, []string{"1"}, f.canceled)

	f = newFake(t, 1, 1, 1, 1)
	f.finding = func() error { return errRefused }
	f.refuses = func([]string) error { return errLate }
	_, _, err = f.simulated(f, Options{})
	require.ErrorContains(t, err, "may be in the queue, with scripts in ")
}

// The output of a copy is not moved while the original may still begin, because then Slurm would empty the file.
func TestOutputOfACopyWaitsForAQueuedOriginal(t *testing.T) {
	f := newFake(t, 1, 1, 1, 0.1)
	once := duplicating
	once.MaxCopies = 1
	f.blind = func() error {
		if len(f.jobs) < 17 {
			return nil
		}
		if original := f.jobs[f.jobs[16].task]; original.state == "RUNNING" && f.jobs[16].state == "RUNNING" {
			original.state = "PENDING" // somebody has put it back into the queue
			for _, n := range f.nodes {
				n.slots = 0
			}
		}
		return nil
	}
	res, log, err := f.simulated(&clumsy{fake: f}, Options{Policy: once})
	require.NoError(t, err, log)
	f.complete()
	assert.Positive(t, res.Won)
}

// clumsy is a cluster that fails the first scancel. Then slots are free again, and waiting jobs begin.
type clumsy struct {
	*fake
	failed bool
}

func (c *clumsy) Cancel(ctx context.Context, ids []string) error {
	if !c.failed {
		c.failed = true
		c.nodes[3].slots = 4
		c.advance()
		return errRefused
	}
	return c.fake.Cancel(ctx, ids)
}
