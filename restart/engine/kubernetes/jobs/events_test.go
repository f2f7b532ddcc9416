package jobs

import (
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
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
)

// The controller records the same events as the built-in controller: one for each pod that is made or deleted, and
// one for each suspension.
func TestEventsAreTheBuiltInControllers(t *testing.T) {
	y := newToy(t, indexedJob(2))
	suspend := func(to bool) {
		job := y.job()
		job.Spec.Suspend = &to
		require.NoError(t, y.client.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("jobs"), job, job.Namespace))
		y.steps(3)
	}
	suspend(true)
	suspend(false)
	require.Len(t, y.made, 2)
	y.dead["n0"] = true // so that the pods take their time to end
	refuse := true
	y.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { refuse = false }()
		return refuse, nil, apierrors.NewInternalError(errors.New("try again"))
	})
	job := y.job()
	job.Spec.Suspend = per(true)
	require.NoError(t, y.client.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("jobs"), job, job.Namespace))
	require.Error(t, y.sync())
	y.steps(3)
	seen := map[string]int{}
	for len(y.events.Events) > 0 {
		seen[<-y.events.Events]++
	}
	assert.Equal(t, map[string]int{
		"Normal Suspended Job suspended": 2, "Normal Resumed Job resumed": 1,
		"Normal SuccessfulCreate Created pod: " + y.made[0].Name:                  1,
		"Normal SuccessfulCreate Created pod: " + y.made[1].Name:                  1,
		"Normal SuccessfulDelete Deleted pod: " + y.made[0].Name:                  1,
		"Normal SuccessfulDelete Deleted pod: " + y.made[1].Name:                  1,
		"Warning FailedDelete Error deleting: Internal error occurred: try again": 1,
	}, seen)
}

// 600 pods fail at once. The status lists 500 of them. The other 100 keep their finalizers until the status has room.
func TestUncountedFailuresAreBounded(t *testing.T) {
	job := indexedJob(600, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(10000)) })
	var pods []*v1.Pod
	for i := range 600 {
		p := makePod(job, i, fmt.Sprint(i), nil, false, 0)
		p.UID, p.Status.Phase = types.UID(fmt.Sprint(i)), v1.PodFailed
		pods = append(pods, p)
	}
	now := time.Unix(1e9, 0)
	p := makePlan(job, pods, now)
	assert.Len(t, p.status.UncountedTerminatedPods.Failed, 500)
	require.Len(t, p.release, 500)
	for _, pod := range p.release {
		pod.Finalizers = nil
	}
	job.Status = p.status
	p = makePlan(job, pods, now)
	assert.EqualValues(t, 500, p.status.Failed)
	assert.Len(t, p.status.UncountedTerminatedPods.Failed, 100)
	require.Len(t, p.release, 100)
	for _, pod := range p.release {
		pod.Finalizers = nil
	}
	job.Status = p.status
	assert.EqualValues(t, 600, makePlan(job, pods, now).status.Failed)
}

// An index fails again and again while slots are idle, sooner than the other indexes end. Its pods never run at the same
// time, even if its later pods report hardly any progress: a copy would fail, too, and count as a failure.
func TestYoungRetriesGetNoCopies(t *testing.T) {
	for _, slow := range []bool{false, true} {
		y := newToy(t, indexedJob(4, func(s *batchv1.JobSpec) {
			s.Parallelism, s.BackoffLimit = per(int32(4)), per(int32(3))
		}))
		y.takes = func(p *v1.Pod) time.Duration {
			if slow && index(p) == 0 && p.Name != y.made[0].Name {
				return 1000 * time.Second
			}
			return 30 * time.Second
		}
		for range 400 {
			y.step()
			alive := 0
			for _, p := range y.pods() {
				if index(p) != 0 || ended(p) || p.Spec.NodeName == "" {
					continue
				}
				if alive++; y.now.Sub(y.began[p.UID]) >= 10*time.Second {
					y.finish(p, 1)
				}
			}
			require.LessOrEqual(t, alive, 1, "pods of index 0 at %v, slow %v", y.now, slow)
		}
		job := y.job()
		require.True(t, holds(&job.Status, batchv1.JobFailed))
		assert.EqualValues(t, 4, job.Status.Failed)
		if !slow { // which is deleted and made again, too
			assert.Len(t, y.made, 7, "three indexes end, and four pods of the other index fail")
		}
	}
}

// The pod after a failure gets a copy. If it reports no progress, this happens when it has run for as long as the
// other indexes took. If it reports slow progress, it happens earlier, because the progress of the other indexes was
// right.
func TestSlowRetryIsCopied(t *testing.T) {
	for silent, least := range map[bool]time.Duration{true: 20 * time.Second, false: 2 * time.Second} {
		y := newToy(t, indexedJob(4))
		y.silent = silent
		y.exits = func(p *v1.Pod) int32 {
			if index(p) == 0 && p.Name == y.made[0].Name {
				return 1
			}
			return 0
		}
		y.takes = func(p *v1.Pod) time.Duration {
			if index(p) == 0 && p.Name != y.made[0].Name && len(y.made) == 5 {
				return 1000 * time.Second
			}
			return 20 * time.Second
		}
		job := y.steps(600)
		require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
		assert.Less(t, y.now.Sub(job.Status.StartTime.Time), 300*time.Second)
		require.Len(t, y.made, 6)
		assert.GreaterOrEqual(t, y.made[5].CreationTimestamp.Sub(y.made[4].CreationTimestamp.Time), least)
	}
}
