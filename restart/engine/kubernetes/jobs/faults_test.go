package jobs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// The Job is complete, each index has one winner, and no failure is counted twice, whichever write to the API server
// fails. In each run of the test, another write fails: the API server refuses it, or it times out, or its answer is
// lost. A slow node, an index that fails once and a hung pod make sure that there are copies, cancellations and
// pauses.
func TestOneFaultyWriteDoesNoHarm(t *testing.T) {
	for _, fault := range []fault{refused, timedOut, answerLost} {
		calls := 0
		for at := 1; at == 1 || at <= calls; at++ {
			name := fmt.Sprintf("write %d, %s", at, fault)
			y := newToy(t, indexedJob(8, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(6)) }))
			y.slow["n1"] = 20
			y.exits = func(p *v1.Pod) int32 {
				for _, o := range y.made {
					if index(o) == 2 && index(p) == 2 && o.UID != p.UID && o.CreationTimestamp.Before(&p.CreationTimestamp) {
						return 0
					}
				}
				if index(p) == 2 {
					return 1
				}
				return 0
			}
			y.fault(at, fault, &calls)
			most := 0
			for ; most < 900 && !finishedJob(y.job()); most++ {
				_ = y.sync() // an error is tried again
				y.now = y.now.Add(1e9)
				y.run()
			}
			job := y.job()
			require.True(t, holds(&job.Status, batchv1.JobComplete), "%s: %+v", name, job.Status)
			assert.EqualValues(t, 8, job.Status.Succeeded, name)
			assert.Equal(t, "0-7", job.Status.CompletedIndexes, name)
			assert.LessOrEqual(t, job.Status.Failed, int32(1), name)
			winners := map[int]int{}
			for _, p := range y.pods() {
				if p.Labels[WinnerLabel] != "" {
					winners[index(p)]++
				}
			}
			for i, n := range winners {
				assert.Equal(t, 1, n, "%s: winners of index %d", name, i)
			}
		}
		t.Logf("%d writes, %s", calls, fault)
		assert.Greater(t, calls, 30)
	}
}

// fault is a way in which a write to the API server fails.
type fault string

const (
	refused    fault = "refused"
	timedOut   fault = "not carried out, and its time is up"
	answerLost fault = "carried out, and the answer is lost"
)

// fault makes one write fail, and counts all writes.
func (y *toy) fault(at int, of fault, calls *int) {
	*calls = 0
	write := func(own func(clienttesting.Action) (bool, runtime.Object, error)) clienttesting.ReactionFunc {
		return func(action clienttesting.Action) (bool, runtime.Object, error) {
			if *calls++; *calls != at {
				return false, nil, nil
			}
			switch of {
			case refused:
				return true, nil, apierrors.NewServiceUnavailable("not now")
			case answerLost:
				if handled, _, err := own(action); !handled && err == nil {
					_, _, _ = clienttesting.ObjectReaction(y.client.Tracker())(action)
				}
			}
			return true, nil, apierrors.NewTimeoutError("the answer did not come", 1)
		}
	}
	y.client.PrependReactor("create", "pods", write(y.create))
	y.client.PrependReactor("delete", "pods", write(y.remove))
	y.client.PrependReactor("patch", "pods", write(y.patch))
	y.client.PrependReactor("update", "jobs", write(y.updateJob))
}
