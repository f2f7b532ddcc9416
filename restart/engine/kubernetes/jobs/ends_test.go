package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// When a Job fails, its running pods count as failures, as in the built-in controller, and do not change the failed
// indexes. This also holds on a silent node, and for pods that exit with 0 because they were told to stop.
func TestRunningPodsOfAFailedJobCountAsFailures(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*batchv1.JobSpec)
		given  *string
		fails  []int
	}{
		"backoffLimit": {func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(0)) }, nil, []int{0}},
		"deadline":     {func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = per(int64(3)) }, nil, nil},
		"maxFailedIndexes": {func(s *batchv1.JobSpec) {
			s.BackoffLimitPerIndex, s.BackoffLimit, s.MaxFailedIndexes = per(int32(0)), nil, per(int32(1))
		}, per("0-1"), []int{0, 1}},
	} {
		for _, silent := range []bool{false, true} {
			y := newToy(t, indexedJob(4, c.change))
			y.polite = true
			y.takes = func(p *v1.Pod) time.Duration {
				if index(p) < len(c.fails) {
					return 2 * time.Second
				}
				return 100 * time.Second
			}
			failsOn(1, c.fails...)(y)
			y.steps(2)
			if last := y.pods()[3]; silent {
				last.Spec.NodeName = "n9"
				y.dead["n9"] = true
				y.put(last, false)
			}
			job := y.steps(60)
			require.True(t, holds(&job.Status, batchv1.JobFailed), "%s, silent %v", name, silent)
			assert.EqualValues(t, 4, job.Status.Failed, "%s, silent %v", name, silent)
			assert.Zero(t, job.Status.Succeeded, "%s, silent %v", name, silent)
			assert.Len(t, y.made, 4)
			if c.given != nil {
				assert.Equal(t, "0,1", *job.Status.FailedIndexes)
			}
		}
	}
}

// 600 pods fail with their Job. The status can list only 500 pods at once. All 600 failures are counted.
func TestAllPodsOfALargeFailedJobAreCounted(t *testing.T) {
	y := newToy(t, indexedJob(600, func(s *batchv1.JobSpec) { s.BackoffLimit = per(int32(0)) }))
	y.slots = 200
	failsOn(1, 7)(y)
	y.takes = func(p *v1.Pod) time.Duration {
		if index(p) == 7 {
			return time.Second
		}
		return time.Hour
	}
	job := y.steps(60)
	require.True(t, holds(&job.Status, batchv1.JobFailed))
	assert.EqualValues(t, len(y.made), job.Status.Failed)
	assert.Greater(t, len(y.made), mostUncounted)
}

// An index that fails for good after the Job has begun to fail is not added to the Job's failed indexes.
func TestFailedIndexesDoNotChangeWhenTheJobFails(t *testing.T) {
	job := indexedJob(2, failurePolicy(onCode(batchv1.PodFailurePolicyActionFailIndex, 42)), func(s *batchv1.JobSpec) {
		s.BackoffLimitPerIndex = per(int32(5))
	})
	set := &plan{job: job, now: time.Unix(1e9, 0)}
	set.set(batchv1.JobFailureTarget, v1.ConditionTrue, "r", "m")
	job.Status.Conditions, job.Status.FailedIndexes = set.status.Conditions, per("1")
	pod := makePod(job, 0, "0.0", nil, false, 0)
	pod.Status.Phase = v1.PodFailed
	pod.Status.ContainerStatuses = []v1.ContainerStatus{{State: v1.ContainerState{
		Terminated: &v1.ContainerStateTerminated{ExitCode: 42}}}}
	assert.Equal(t, "1", *makePlan(job, []*v1.Pod{pod}, set.now).status.FailedIndexes)
}

// When the Job fails, a copy of an index with a result is no failure.
func TestLoserIsNoFailureWhenTheJobFails(t *testing.T) {
	job := indexedJob(2)
	set := &plan{job: job, now: time.Unix(1e9, 0)}
	set.set(batchv1.JobFailureTarget, v1.ConditionTrue, "r", "m")
	job.Status.Conditions = set.status.Conditions
	won, loser := makePod(job, 0, "0.0", nil, false, 0), makePod(job, 0, "0.1", nil, false, 0)
	other := makePod(job, 1, "1.0", nil, false, 0)
	won.UID, loser.UID, other.UID = "won", "loser", "other"
	won.Status.Phase, loser.Status.Phase, other.Status.Phase = v1.PodSucceeded, v1.PodRunning, v1.PodRunning
	p := makePlan(job, []*v1.Pod{won, loser, other}, set.now)
	require.Len(t, p.status.UncountedTerminatedPods.Failed, 1)
	assert.Equal(t, other.UID, p.status.UncountedTerminatedPods.Failed[0])
	assert.NotContains(t, p.release, loser)
	assert.Contains(t, p.release, other)
}

// A pod has another controller's finalizer when its Job ends. The Job gets its last condition only after the pod is
// gone.
func TestLastConditionWaitsForForeignFinalizers(t *testing.T) {
	for _, fails := range []bool{true, false} {
		y := newToy(t, indexedJob(2, func(s *batchv1.JobSpec) {
			s.BackoffLimit, s.Template.Finalizers = per(int32(0)), []string{"example.com/held"}
		}))
		y.nodes = nil // the scheduler has no room for either pod
		require.NoError(t, y.sync())
		first := y.pods()[0]
		first.Spec.NodeName = "n0"
		if fails {
			y.finish(first, 1)
		} else {
			y.finish(first, 0)
			y.change(func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = per(int32(1)), per(int32(1)) })
		}
		job := y.steps(5)
		interim, last := batchv1.JobSuccessCriteriaMet, batchv1.JobComplete
		if fails {
			interim, last = batchv1.JobFailureTarget, batchv1.JobFailed
		}
		require.True(t, holds(&job.Status, interim))
		require.False(t, finishedJob(job))
		assert.Zero(t, job.Status.Active)
		assert.EqualValues(t, 1, *job.Status.Terminating)
		for _, p := range y.pods() {
			assert.False(t, hasFinalizer(p))
			if p.DeletionTimestamp != nil {
				y.finish(p, 0)
			}
		}
		job = y.steps(20)
		assert.True(t, holds(&job.Status, last))
		assert.EqualValues(t, map[bool]int32{true: 2, false: 0}[fails], job.Status.Failed)
		assert.EqualValues(t, map[bool]int32{true: 0, false: 1}[fails], job.Status.Succeeded, "the other pod ended because it was told to stop")
	}
}

// Somebody deletes a running pod, and the pod takes some time to end. With podReplacementPolicy: TerminatingOrFailed,
// the failure is counted and the pod is made again at once. With Failed, this happens only after the pod has failed,
// even if the pod had no node.
func TestDeletedPodsFollowThePodReplacementPolicy(t *testing.T) {
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		for _, node := range []string{"n9", ""} {
			y := newToy(t, indexedJob(1, func(s *batchv1.JobSpec) {
				s.PodReplacementPolicy, s.Template.Finalizers = &policy, []string{"example.com/held"}
			}))
			y.nodes, y.dead["n9"] = nil, true
			require.NoError(t, y.sync())
			y.made[0].Spec.NodeName = node
			pod := y.pods()[0]
			pod.Spec.NodeName = node
			y.put(pod, false)
			require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), pod.Name, deleteNow))
			job := y.steps(5)
			assert.EqualValues(t, 1, *job.Status.Terminating)
			want := 1
			if policy == batchv1.TerminatingOrFailed {
				want = 2
			}
			assert.EqualValues(t, want-1, job.Status.Failed, "%s %q", policy, node)
			assert.Len(t, y.made, want, "%s %q", policy, node)
			pod, err := y.pod(pod.Name)
			require.NoError(t, err)
			y.finish(pod, 1)
			job = y.steps(20)
			assert.EqualValues(t, 1, job.Status.Failed, "%s %q", policy, node)
			assert.Zero(t, *job.Status.Terminating)
			assert.Len(t, y.made, 2, "%s %q", policy, node)
		}
	}
}

// Somebody deletes a pod of a Job without copies. The next pod is made at once if the deleted pod had no node, and
// otherwise after its end.
func TestDeletedPodWithoutCopiesEndsBeforeTheNext(t *testing.T) {
	for node, want := range map[string]int{"": 2, "n9": 1} {
		job := indexedJob(1, func(s *batchv1.JobSpec) { s.Template.Finalizers = []string{"example.com/held"} })
		job.Annotations = map[string]string{CopiesAnnotation: "false"}
		y := newToy(t, job)
		y.nodes, y.dead["n9"] = nil, true
		require.NoError(t, y.sync())
		pod := y.pods()[0]
		pod.Spec.NodeName = node
		y.put(pod, false)
		require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), pod.Name, deleteNow))
		y.steps(5)
		assert.Len(t, y.made, want, "%q", node)
	}
}

// The built-in controller has removed the finalizer from a successful pod. Then this controller takes the index to be
// complete, before the Job's status shows it.
func TestSuccessCountsBeforeTheBuiltInStatusShowsIt(t *testing.T) {
	pod := makePod(indexedJob(1), 0, "", nil, false, 0)
	pod.UID, pod.Finalizers, pod.Status.Phase = "pod", nil, v1.PodSucceeded
	y := newToy(t, indexedJob(1, func(s *batchv1.JobSpec) { s.ManagedBy = nil }), func(_ *toy, c *Config) { c.Evict = true })
	y.change(func(job *batchv1.Job) { job.Annotations = map[string]string{EvictAnnotation: "true"} })
	require.NoError(t, y.client.Tracker().Add(pod))
	require.NoError(t, y.sync())
	_, won := y.c.runs[jobKey].phase.Winner(0)
	assert.True(t, won)
}

// Somebody deletes pods without a node of a suspended Job. They are released at once, and not kept until they
// fail.
func TestSuspendedJobKeepsNoPodsThatNeverRan(t *testing.T) {
	y := newToy(t, indexedJob(2, func(s *batchv1.JobSpec) { s.PodReplacementPolicy = per(batchv1.Failed) }))
	y.nodes = nil
	require.NoError(t, y.sync())
	y.change(func(job *batchv1.Job) { job.Spec.Suspend = per(true) })
	for _, p := range y.pods() {
		require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), p.Name, deleteNow))
	}
	job := y.steps(3)
	assert.Empty(t, y.pods())
	assert.Zero(t, job.Status.Failed)
}

// A node dies, and somebody deletes its pod, as the control plane does. The index runs on another node, and the Job is
// complete although no kubelet reports the end of the first pod.
func TestDeletedPodOnADeadNodeDoesNotHoldTheJob(t *testing.T) {
	y := newToy(t, indexedJob(4))
	y.slots = 1
	y.steps(3)
	y.dead["n3"] = true
	for _, p := range y.pods() {
		if p.Spec.NodeName == "n3" {
			require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), p.Name, deleteNow))
		}
	}
	job := y.steps(200)
	require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
	assert.EqualValues(t, 1, job.Status.Failed)
	assert.EqualValues(t, 4, job.Status.Succeeded)
	oneWinner(t, y)
}

// A slow pod is deleted, and its program exits with 0 because it was told to stop. This is no result: the index runs
// again, even if the controller has died before it saw the end.
func TestExitAfterADeletionIsNoResult(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		job := indexedJob(8)
		job.Annotations = map[string]string{CopiesAnnotation: "false"}
		y := newToy(t, job)
		y.slow["n1"], y.polite = 20, true
		told, died := map[types.UID]bool{}, 0
		y.exits = func(p *v1.Pod) int32 {
			if p.DeletionTimestamp != nil {
				told[p.UID] = true
			}
			return 0
		}
		for i := 0; i < 600 && !finishedJob(y.job()); i++ {
			if restarted && died == 0 && len(told) > 0 {
				died = len(told)
				y.restart(Config{})
			}
			y.step()
		}
		require.True(t, holds(&y.job().Status, batchv1.JobComplete))
		oneWinner(t, y)
		for _, p := range y.pods() {
			assert.False(t, told[p.UID], "%s counts, and was told to stop", p.Name)
		}
		assert.NotEmpty(t, told)
	}
}
