package jobs

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Job with 2,000,000,000 indexes, which the API server accepts, does not use up the controller's memory.
func TestTooManyIndexesAreRefused(t *testing.T) {
	y := newToy(t, indexedJob(math.MaxInt32, func(s *batchv1.JobSpec) { s.Parallelism = per(int32(1)) }))
	require.NoError(t, y.sync())
	assert.Empty(t, y.made)
	assert.Contains(t, <-y.events.Events, "at most 100000")
}

// A Job with wrong annotations runs all the same.
func TestWrongAnnotationsDoNotStopAJob(t *testing.T) {
	for key, text := range map[string]string{
		WorkAnnotation: "1e308,1e308", PolicyAnnotation: "late,min-age=\n", IntervalAnnotation: "2000000h", CopiesAnnotation: "\xff",
	} {
		job := indexedJob(2)
		job.Annotations = map[string]string{key: text}
		y := newToy(t, job)
		assert.True(t, holds(&y.steps(100).Status, batchv1.JobComplete), key)
	}
}

// A pod fails just before its Job is suspended. The Job fails, with a start time, which the API server requires.
func TestJobFailsWhileItIsSuspended(t *testing.T) {
	y := newToy(t, indexedJob(2, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(0)) }))
	y.steps(3)
	y.change(func(job *batchv1.Job) { job.Spec.Suspend = per(true) })
	y.finish(y.pods()[0], 1)
	assert.True(t, holds(&y.steps(20).Status, batchv1.JobFailed))
}

// The clock of a new controller is behind the clock of the last controller. The new controller does not end a Job
// before the Job's start time.
func TestAJobNeverEndsBeforeItsStart(t *testing.T) {
	y := newToy(t, indexedJob(2))
	y.steps(3)
	y.change(func(job *batchv1.Job) { at := metav1.NewTime(y.now.Add(time.Hour)); job.Status.StartTime = &at })
	assert.True(t, holds(&y.steps(100).Status, batchv1.JobComplete))
}

// If two pods of an index must never run at once, a pod on a silent node is not deleted by force.
func TestPodsWithoutCopiesAreNotForced(t *testing.T) {
	for _, alone := range []bool{true, false} {
		job := indexedJob(1)
		if alone {
			job.Annotations = map[string]string{CopiesAnnotation: "false"}
		}
		at := metav1.NewTime(time.Unix(1000, 0))
		pod := makePod(job, 0, "0.0", nil, false, 0)
		pod.Annotations[CancelledAnnotation], pod.DeletionTimestamp = "restart", &at
		pod.Spec.NodeName, pod.Status.Phase = "n0", v1.PodRunning
		p := makePlan(job, []*v1.Pod{pod}, at.Add(time.Hour))
		assert.Equal(t, alone, len(p.remove) == 0)
		assert.Equal(t, alone, len(p.release) == 0)
	}
}
