package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// look lets the controller sync the Job only at the times at which a running controller would do so: after a change
// of a pod, or when the next sync is due.
func (y *toy) look(seen *string, due *time.Time) {
	now := ""
	for _, p := range y.pods() {
		now += fmt.Sprint(p.Name, p.Status.Phase, ready(p), hasFinalizer(p), p.DeletionTimestamp == nil, " ")
	}
	if now == *seen && y.now.Before(*due) {
		return
	}
	y.show()
	again, err := y.c.sync(context.Background(), jobKey)
	if err != nil {
		again = time.Second
	}
	*seen, *due = now, y.now.Add(again)
}

// The pauses before the next pod of a failing index are 10 s, 20 s, 40 s and so on, as in the built-in controller. They
// depend neither on backoffLimitPerIndex nor on the interval of the controller.
func TestPausesOfAFailedIndexDouble(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 10 * time.Second} {
		for _, perIndex := range []bool{false, true} {
			name := fmt.Sprintf("interval %v, per index %v", interval, perIndex)
			y := newToy(t, indexedJob(4, func(s *batchv1.JobSpec) {
				s.BackoffLimit = per(int32(20))
				if perIndex {
					s.BackoffLimitPerIndex = per(int32(10))
				}
			}), func(_ *toy, c *Config) { c.Interval = interval })
			failsOn(1, 0)(y)
			seen, due, ends := "", time.Time{}, map[string]time.Time{}
			for range 1200 {
				y.look(&seen, &due)
				y.now = y.now.Add(time.Second)
				y.run()
				for _, p := range y.pods() {
					if _, known := ends[p.Name]; index(p) == 0 && ended(p) && !known {
						ends[p.Name] = y.now
					}
				}
			}
			var pauses []float64
			var before time.Time
			for _, p := range y.made {
				if index(p) != 0 {
					continue
				}
				if !before.IsZero() {
					pauses = append(pauses, p.CreationTimestamp.Sub(before).Seconds())
				}
				before = ends[p.Name]
			}
			require.GreaterOrEqual(t, len(pauses), 5, "%s: %v", name, pauses)
			for k, want := range []float64{10, 20, 40, 80, 160} {
				assert.InEpsilon(t, want, pauses[k], 0.1, "%s: pause %d of %v", name, k+1, pauses)
			}
		}
	}
}

// While an index is in a pause, other indexes use its slot, and the Job never has more active pods than its parallelism.
func TestOtherIndexesUseTheSlotOfAPausedIndex(t *testing.T) {
	y := newToy(t, indexedJob(8, func(s *batchv1.JobSpec) {
		s.Parallelism, s.BackoffLimit = per(int32(2)), per(int32(20))
	}))
	failsOn(1, 0)(y)
	y.steps(60)
	done, most := 0, 0
	for range 60 {
		y.step()
		alive := 0
		for _, p := range y.pods() {
			if active(p) {
				alive++
			}
		}
		most = max(most, alive)
	}
	for _, is := range y.plan().completed {
		if is {
			done++
		}
	}
	assert.Equal(t, 7, done)
	assert.Equal(t, 2, most)
}

// plan returns the controller's present plan for the Job.
func (y *toy) plan() *plan { return makePlan(y.job(), y.pods(), y.now) }

// The API server refuses all pods for 90 s, as it does while a quota is used up. One sync later the pods exist.
func TestPodsAreMadeOnceTheQuotaAllows(t *testing.T) {
	y := newToy(t, indexedJob(4))
	free := y.now.Add(90 * time.Second)
	y.client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if y.now.Before(free) {
			return true, nil, apierrors.NewForbidden(v1.Resource("pods"), "p", errors.New("exceeded quota"))
		}
		return false, nil, nil
	})
	for range 100 {
		_ = y.sync()
		y.now = y.now.Add(time.Second)
		y.run()
	}
	require.Len(t, y.made, 4)
	for _, p := range y.made {
		assert.LessOrEqual(t, p.CreationTimestamp.Sub(free), 2*time.Second)
	}
}

// backoffLimit also holds for a Job with backoffLimitPerIndex, even if several indexes fail at once.
func TestGlobalLimitBesideTheLimitByIndex(t *testing.T) {
	y := newToy(t, indexedJob(6, func(s *batchv1.JobSpec) {
		s.BackoffLimit, s.BackoffLimitPerIndex = per(int32(1)), per(int32(5))
	}))
	failsOn(1, 0, 1, 2, 3)(y)
	job := y.steps(120)
	require.True(t, holds(&job.Status, batchv1.JobFailed))
	assert.Equal(t, batchv1.JobReasonBackoffLimitExceeded, reason(job, batchv1.JobFailed))
	assert.Len(t, y.made, 6, "no index runs twice")
}

// If the last index fails in the same sync in which the success policy is met, the Job fails, as in Kubernetes.
func TestFailedIndexesComeBeforeTheSuccessPolicy(t *testing.T) {
	y := newToy(t, indexedJob(2, success(batchv1.SuccessPolicyRule{SucceededIndexes: per("0")}), func(s *batchv1.JobSpec) {
		s.BackoffLimitPerIndex = per(int32(0))
	}))
	failsOn(1, 1)(y)
	job := y.steps(120)
	require.True(t, holds(&job.Status, batchv1.JobFailed))
	assert.Equal(t, batchv1.JobReasonFailedIndexes, reason(job, batchv1.JobFailed))
}

// A Job with 0 completions is complete, although it is suspended.
func TestSuspendedJobWithoutCompletionsIsComplete(t *testing.T) {
	y := newToy(t, indexedJob(0, func(s *batchv1.JobSpec) { s.Suspend = per(true) }))
	assert.True(t, holds(&y.steps(10).Status, batchv1.JobComplete))
	assert.Empty(t, y.made)
}

func reason(job *batchv1.Job, kind batchv1.JobConditionType) string {
	for _, c := range job.Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}
