package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/straggler-go/straggler/restart"
)

func slowNode(y *toy) { y.slow["n3"] = 10 }

// A Job has 16 pods on four nodes, and a node is ten times slower. The four slow pods are copied on other nodes, the
// copies win, and the slow pods are deleted and are no failures.
func TestStragglersAreCopied(t *testing.T) {
	y := newToy(t, indexedJob(16))
	slowNode(y)
	job := y.steps(400)
	require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
	assert.Less(t, y.now.Sub(job.Status.StartTime.Time), 70*time.Second, "without copies it takes 200 s")
	assert.Len(t, y.made, 20)
	for _, p := range y.made[16:] {
		assert.Equal(t, "n3", p.Annotations[AvoidAnnotation])
		assert.False(t, mayRun(p, "n3"))
	}
	assert.Zero(t, job.Status.Failed)
	assert.Len(t, y.pods(), 16, "the pods that did not win are deleted")
	oneWinner(t, y)
	var copied []string
	for len(y.events.Events) > 0 {
		if event := <-y.events.Events; strings.Contains(event, "StragglerCopied") {
			copied = append(copied, event)
		}
	}
	require.Len(t, copied, 4)
	for k, event := range copied {
		assert.True(t, strings.HasPrefix(event, "Normal StragglerCopied Created pod j-"), event)
		assert.Contains(t, event, ", not on n3: copy")
		assert.NotContains(t, event, "avoid=", "copy %d", k)
	}
}

// If two pods of an index must never run at once, a slow pod ends before the next pod begins.
func TestStragglersAreRestartedWhereCopiesAreNotAllowed(t *testing.T) {
	y := newToy(t, indexedJob(16, func(s *batchv1.JobSpec) {
		s.PodReplacementPolicy, s.BackoffLimitPerIndex = per(batchv1.Failed), per(int32(0))
	}))
	slowNode(y)
	y.exits = func(p *v1.Pod) int32 {
		for _, o := range y.pods() {
			assert.False(t, o.Name != p.Name && index(o) == index(p) && !ended(o) && !ended(p), "two pods of index %d", index(p))
		}
		return 0
	}
	job := y.steps(400)
	require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
	assert.Less(t, y.now.Sub(job.Status.StartTime.Time), 90*time.Second)
	assert.Zero(t, job.Status.Failed)
	oneWinner(t, y)
}

func TestPolicyNoneMakesNoCopies(t *testing.T) {
	y := newToy(t, indexedJob(16), func(y *toy, c *Config) { c.Policy = restart.Never{} })
	slowNode(y)
	job := y.steps(400)
	assert.Len(t, y.made, 16)
	assert.Greater(t, y.now.Sub(job.Status.StartTime.Time), 190*time.Second)
}

func TestAnnotationsSetTheSpec(t *testing.T) {
	job := indexedJob(16)
	job.Annotations = map[string]string{PolicyAnnotation: "none", IntervalAnnotation: "2s", WorkAnnotation: "1*12,5*4"}
	s, err := readSpec(job, spec{interval: time.Minute}, ParsePolicy)
	require.NoError(t, err)
	assert.Equal(t, restart.Never{}, s.policy)
	assert.Equal(t, 2*time.Second, s.interval)
	assert.Equal(t, []float64{1, 5}, []float64{s.work[0], s.work[15]})

	job.Annotations = map[string]string{
		PolicyAnnotation: "wish", IntervalAnnotation: "1ms", WorkAnnotation: "1,2", CopiesAnnotation: "?",
	}
	s, err = readSpec(job, spec{interval: time.Minute}, ParsePolicy)
	for name := range job.Annotations {
		assert.ErrorContains(t, err, name)
	}
	assert.Equal(t, spec{tasks: 16, slots: 16, interval: time.Minute, copies: true}, s, "wrong annotations leave the defaults")
}

// Some indexes have five times the work. No pod of these indexes is copied if the Job has WorkAnnotation.
func TestLargeIndexesGetNoCopies(t *testing.T) {
	job := indexedJob(16)
	job.Annotations = map[string]string{WorkAnnotation: "1*13,5*3"}
	y := newToy(t, job)
	y.takes = func(p *v1.Pod) time.Duration {
		if index(p) >= 13 {
			return 100 * time.Second
		}
		return 20 * time.Second
	}
	require.True(t, holds(&y.steps(400).Status, batchv1.JobComplete))
	assert.Len(t, y.made, 16)
}

// A node dies: its pods are silent and never end. The Job does not wait for the deleted pods there.
func TestADeadNodeDoesNotHoldTheJob(t *testing.T) {
	y := newToy(t, indexedJob(16))
	y.steps(8)
	y.dead["n1"] = true
	job := y.steps(300)
	require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
	assert.Less(t, y.now.Sub(job.Status.StartTime.Time), 90*time.Second)
	oneWinner(t, y)
}

// If a pod must avoid all nodes that have room, it is replaced after some time, and the new pod avoids no node.
func TestAPodWithoutANodeStopsAvoidingNodes(t *testing.T) {
	y := newToy(t, indexedJob(1), func(y *toy, c *Config) { y.nodes = []string{"n0", "n1"} })
	y.steps(3)
	y.nodes = []string{"n0"} // n1 is full, or unfit, and nobody says so
	pod := y.pods()[0]
	pod.Status.Conditions = append(pod.Status.Conditions, disrupted)
	y.finish(pod, 137)
	job := y.steps(300)
	require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
	assert.Equal(t, "n0", y.made[1].Annotations[AvoidAnnotation])
	assert.NotNil(t, y.made[2].Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
}

// In each run of the test, the controller dies after another one of its writes, and a new controller continues.
// Nothing is lost, each index has one winner, and the API server never refuses a status.
func TestControllerMayDieAnywhere(t *testing.T) {
	writes := 1000
	for at := 1; at <= writes; at++ {
		job := indexedJob(6, func(s *batchv1.JobSpec) {
			s.BackoffLimitPerIndex, s.BackoffLimit, s.Parallelism = per(int32(1)), nil, per(int32(4))
		})
		y := newToy(t, job, func(y *toy, c *Config) { y.slots = 2 })
		y.slow["n1"] = 10
		failsFirst(1)(y)
		y.exits = func(exits func(*v1.Pod) int32) func(*v1.Pod) int32 {
			return func(p *v1.Pod) int32 {
				if index(p) == 5 {
					return exits(p)
				}
				return 0
			}
		}(y.exits)
		if y.failAt = at; at == 1 {
			y.failAt = 0
		}
		done := y.steps(900)
		require.True(t, holds(&done.Status, batchv1.JobComplete), "death %d: %+v", at, done.Status)
		require.EqualValues(t, 1, done.Status.Failed, "death %d", at)
		for range 5 {
			y.step()
		}
		oneWinner(t, y)
		if at == 1 {
			writes = min(writes, y.writes)
		}
		if testing.Short() {
			at += writes / 12
		}
	}
	t.Log(fmt.Sprint(writes, " deaths"))
}

// If two pods of an index succeed, the pod with WinnerLabel wins. If no pod has the label, the pod that ended first
// wins.
func TestFirstSuccessWins(t *testing.T) {
	for _, labelled := range []string{"", "late"} {
		job := indexedJob(1)
		y := newToy(t, job)
		for k, name := range []string{"late", "soon"} {
			p := makePod(job, 0, "0."+name, nil, false, 0)
			p.Name, p.UID, p.Spec.NodeName, p.Status.Phase = name, types.UID(name), "n0", v1.PodRunning
			if name == labelled {
				p.Labels[WinnerLabel] = "true"
			}
			require.NoError(t, y.client.Tracker().Add(p))
			y.now = y.now.Add(time.Duration(5-10*k) * time.Second)
			y.finish(p, 0)
		}
		done := y.steps(10)
		require.True(t, holds(&done.Status, batchv1.JobComplete))
		oneWinner(t, y)
		require.Len(t, y.pods(), 1)
		assert.Equal(t, or(labelled, "soon"), y.pods()[0].Name)
	}
}

// The failures of an index are counted although somebody deletes each failed pod.
func TestFailuresOfDeletedPodsAreCounted(t *testing.T) {
	y := newToy(t, indexedJob(1, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex, s.BackoffLimit = per(int32(2)), nil }))
	failsOn(1, 0)(y)
	for range 300 {
		y.step()
		for _, p := range y.pods() {
			if p.Status.Phase == v1.PodFailed {
				require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), p.Name, deleteNow))
			}
		}
	}
	job := y.job()
	assert.True(t, holds(&job.Status, batchv1.JobFailed))
	assert.Len(t, y.made, 3)
	assert.EqualValues(t, 3, job.Status.Failed)
	assert.Empty(t, y.pods())
}

// An index stays complete after its winner is gone, even for a controller that never saw the winner.
func TestACompleteIndexStaysComplete(t *testing.T) {
	y := newToy(t, indexedJob(3))
	y.takes = func(p *v1.Pod) time.Duration { return time.Duration(10+20*index(p)) * time.Second }
	y.steps(15)
	require.Equal(t, "0", y.job().Status.CompletedIndexes)
	require.NoError(t, y.client.CoreV1().Pods("default").Delete(t.Context(), y.pods()[0].Name, deleteNow))
	require.Len(t, y.pods(), 2)
	y.steps(2)
	y.restart(Config{})
	require.True(t, holds(&y.steps(100).Status, batchv1.JobComplete))
	assert.Len(t, y.made, 3)
}

// The controller has died after it had marked a pod as cancelled. The next controller deletes the pod.
func TestAMarkedPodIsDeleted(t *testing.T) {
	y := newToy(t, indexedJob(2), func(y *toy, c *Config) { c.Policy = restart.Never{} })
	y.steps(5)
	pod := y.pods()[0]
	pod.Annotations[CancelledAnnotation] = "kill"
	y.put(pod, false)
	y.restart(Config{Policy: restart.Never{}})
	y.steps(3)
	assert.Len(t, y.made, 3)
	job := y.steps(100)
	require.True(t, holds(&job.Status, batchv1.JobComplete))
	assert.Zero(t, job.Status.Failed)
}

func TestParallelismIsKept(t *testing.T) {
	y := newToy(t, indexedJob(12, func(s *batchv1.JobSpec) { s.Parallelism = per(int32(5)) }))
	slowNode(y)
	y.exits = func(*v1.Pod) int32 {
		n := 0
		for _, p := range y.pods() {
			if active(p) {
				n++
			}
		}
		assert.LessOrEqual(t, n, 5)
		return 0
	}
	y.steps(10)
	y.change(func(job *batchv1.Job) { job.Spec.Parallelism = per(int32(2)) })
	job := y.steps(4)
	assert.EqualValues(t, 2, job.Status.Active)
	job = y.steps(900)
	require.True(t, holds(&job.Status, batchv1.JobComplete))
	assert.Zero(t, job.Status.Failed)
	oneWinner(t, y)
}

func TestCompletionsMayChange(t *testing.T) {
	y := newToy(t, indexedJob(4))
	y.steps(5)
	y.change(func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = per(int32(6)), per(int32(6)) })
	job := y.steps(5)
	assert.EqualValues(t, 6, job.Status.Active)
	y.change(func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = per(int32(3)), per(int32(3)) })
	job = y.steps(100)
	assert.True(t, holds(&job.Status, batchv1.JobComplete))
	assert.Equal(t, "0-2", job.Status.CompletedIndexes)
	assert.EqualValues(t, 3, job.Status.Succeeded)
}
