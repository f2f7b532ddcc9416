package array

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faulty is a Slurm in which a single call fails: the call with the number at, counted from 1.
type faulty struct {
	*fake
	at    int
	kind  string // "refused", "answer lost", or "slow"
	calls *int
}

var errFault = errors.New("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")

// fault makes a call. If it is the call with the number at, it fails in the way that the field kind says.
func (f faulty) fault(do func() error) error {
	if *f.calls++; *f.calls != f.at {
		return do()
	}
	switch f.kind {
	case "refused":
		return errFault
	case "answer lost":
		_ = do()
		return errFault
	}
	time.Sleep(20 * time.Second)
	return do()
}

func (f faulty) Submit(ctx context.Context, options []string, script string, args []string) (id string, err error) {
	err = f.fault(func() (err error) { id, err = f.fake.Submit(ctx, options, script, args); return err })
	if err != nil {
		id = ""
	}
	return id, err
}

func (f faulty) Find(ctx context.Context, dir string) (found map[string]string, err error) {
	err = f.fault(func() (err error) { found, err = f.fake.Find(ctx, dir); return err })
	if err != nil {
		found = nil
	}
	return found, err
}

func (f faulty) Describe(ctx context.Context, array string) (facts Facts, err error) {
	err = f.fault(func() (err error) { facts, err = f.fake.Describe(ctx, array); return err })
	return facts, err
}

func (f faulty) Jobs(ctx context.Context, arrays []string) (jobs []Job, err error) {
	err = f.fault(func() (err error) { jobs, err = f.fake.Jobs(ctx, arrays); return err })
	if err != nil {
		jobs = nil
	}
	return jobs, err
}

func (f faulty) Cancel(ctx context.Context, ids []string) error {
	return f.fault(func() error { return f.fake.Cancel(ctx, ids) })
}

func (f faulty) Nodes(ctx context.Context, partition string) (nodes []Node, err error) {
	err = f.fault(func() (err error) { nodes, err = f.fake.Nodes(ctx, partition); return err })
	if err != nil {
		nodes = nil
	}
	return nodes, err
}

// Every task has one result, no job is left in the queue, and Run returns soon, whichever call to Slurm fails. The
// cluster has a slow node. In each simulation, another call fails: Slurm refuses it, or its answer is lost, or it is
// delayed by 20 s. Each call fails in one of these ways, or in all of them with STRAGGLER_LIVES. If the first submission
// is refused, Run returns the error.
func TestOneFaultyCallDoesNoHarm(t *testing.T) {
	whole := os.Getenv("STRAGGLER_LIVES") != ""
	for i, kind := range []string{"refused", "answer lost", "slow"} {
		most, refused := 0, 0
		for at := 0; at == 0 || at <= most; at++ { // if at is 0, no call fails
			if at > 0 && at%3 != i && !whole {
				continue
			}
			calls := 0
			f := newFake(t, 1, 1, 1, 0.1)
			res, log, err := f.simulated(faulty{f, at, kind, &calls}, Options{Policy: duplicating})
			most = max(most, calls)
			if err != nil && len(f.jobs) == 0 {
				refused++
				require.ErrorIs(t, err, errFault)
				continue
			}
			require.NoError(t, err, "%s at call %d: %s", kind, at, log)
			f.complete()
			f.apart()
			assert.Zero(t, res.Code)
			assert.Empty(t, res.Failed)
			assert.LessOrEqual(t, res.Elapsed.Seconds(), 60., "%s at call %d: %s", kind, at, log)
		}
		t.Logf("%s: %d calls, %d runs that said so before anything was submitted", kind, most, refused)
		assert.Greater(t, most, 20)
	}
}
