package jobs

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
)

// builtIn returns a Job of the built-in controller that has EvictAnnotation.
func builtIn(n int32) *batchv1.Job {
	job := indexedJob(n, failurePolicy(ignoresDisruptions))
	job.Spec.ManagedBy = nil
	job.Annotations = map[string]string{EvictAnnotation: "true"}
	return job
}

// controls does the work of the built-in controller that this test needs: it makes a pod for each index that is not
// complete.
func controls(y *toy) {
	job := y.job().DeepCopy()
	done, alive := make(indexes, *job.Spec.Completions), make(indexes, *job.Spec.Completions)
	for _, p := range y.pods() {
		if i := index(p); p.Status.Phase == v1.PodSucceeded {
			done[i] = true
		} else if !ended(p) {
			alive[i] = true
		}
	}
	for i := range done {
		if !done[i] && !alive[i] {
			y.uids++
			yes := true
			require.NoError(y.t, y.client.Tracker().Add(&v1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("j-%d-%d", i, y.uids), Namespace: "default", UID: types.UID(fmt.Sprint("pod-", y.uids)),
				Labels:            map[string]string{batchv1.JobNameLabel: "j"},
				Annotations:       map[string]string{indexAnnotation: strconv.Itoa(i)},
				OwnerReferences:   []metav1.OwnerReference{{UID: job.UID, Controller: &yes}},
				CreationTimestamp: metav1.NewTime(y.now),
			}, Spec: *job.Spec.Template.Spec.DeepCopy(), Status: v1.PodStatus{Phase: v1.PodPending}}))
		}
	}
	job.Status.CompletedIndexes = done.String()
	y.change(func(j *batchv1.Job) { j.Status = job.Status })
}

// evictable makes the API server evict pods, and returns a pointer to the number of evictions.
func evictable(y *toy) *int {
	evicted := 0
	y.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		evicted++
		p, err := y.pod(action.(clienttesting.CreateAction).GetObject().(*policyv1.Eviction).Name)
		require.NoError(y.t, err)
		at := metav1.NewTime(y.now)
		p.DeletionTimestamp = &at
		p.Status.Conditions = append(p.Status.Conditions, disrupted)
		y.put(p, false)
		return true, nil, nil
	})
	return &evicted
}

func complete(y *toy) bool {
	set, _ := parseIndexes(y.job().Status.CompletedIndexes, 16)
	return set.count() == 16
}

func TestSlowPodsOfTheBuiltInControllerAreEvicted(t *testing.T) {
	t.Run("", func(t *testing.T) { testEviction(t, 1) })
	// pods have reported progress before the controller first sees them
	t.Run("seldom", func(t *testing.T) { testEviction(t, 4) })
}

func testEviction(t *testing.T, every int) {
	y := newToy(t, builtIn(16), func(y *toy, c *Config) { c.Evict = true })
	slowNode(y)
	evicted, seconds := evictable(y), 0
	for ; seconds < 300 && !complete(y); seconds++ {
		controls(y)
		if seconds%every == 0 {
			require.NoError(t, y.sync())
		}
		y.now = y.now.Add(time.Second)
		y.run()
		n, err := y.client.CoreV1().Nodes().Get(context.Background(), "n3", metav1.GetOptions{})
		require.NoError(t, err)
		y.slots = 4
		if hasTaint(n) { // the scheduler avoids the node as long as there is room elsewhere
			y.nodes = []string{"n0", "n1", "n2"}
		}
	}
	assert.Less(t, seconds, 100, "without eviction it takes 200 s")
	assert.Equal(t, 4, *evicted)
	assert.Empty(t, y.made, "the built-in controller makes the pods")
	assert.Zero(t, y.writes, "the built-in controller writes the Job's status")
}

func TestEvictionMustNotFailTheJob(t *testing.T) {
	job := builtIn(1)
	assert.True(t, mayEvict(job))
	job.Spec.PodFailurePolicy = nil
	assert.True(t, mayEvict(job), "the Job is far from its backoffLimit")
	job.Status.Failed = 5
	assert.False(t, mayEvict(job))
}

func TestTaintsAreBoundedAndEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	var nodes []*v1.Node
	for i := range 20 {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%02d", i)}}
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
		nodes = append(nodes, n)
	}
	tainted := func(i int, until time.Time) {
		nodes[i].Spec.Taints = []v1.Taint{{Key: SlowTaint, Value: strconv.FormatInt(until.Unix(), 10)}}
	}
	taint := Taint{Effect: v1.TaintEffectNoSchedule, For: time.Hour, Share: 0.1}
	m := &marks{evicted: map[string]time.Time{}, lifted: map[string]time.Time{}}
	hour := now.Add(time.Hour)
	slow := []string{"n03", "n05", "n07"}

	assert.Equal(t, []taintChange{{"n03", hour}, {"n05", hour}}, planTaints(nodes, slow, m, taint, now), "a tenth of twenty nodes may be tainted")
	assert.Empty(t, planTaints(nodes, slow, m, Taint{Share: 0.1}, now), "without an effect no node is tainted")
	tainted(3, hour)
	assert.Equal(t, []taintChange{{"n05", hour}}, planTaints(nodes, slow, m, taint, now))
	assert.Equal(t, []taintChange{{"n03", time.Time{}}, {"n05", hour.Add(time.Hour)}, {"n07", hour.Add(time.Hour)}},
		planTaints(nodes, slow, m, taint, hour), "a taint is removed when its time is over")
	nodes[3].Spec.Taints = nil
	m.lifted["n03"] = hour
	assert.NotContains(t, planTaints(nodes, slow[:1], m, taint, hour.Add(time.Minute)),
		taintChange{"n03", hour.Add(61 * time.Minute)}, "it may show that it is better")
	assert.Len(t, planTaints(nodes, slow[:1], m, taint, hour.Add(16*time.Minute)), 1, "the node is tainted again, because it is still slow")
	m.evicted["n09"] = now
	assert.Equal(t, []taintChange{{"n09", now.Add(time.Minute)}},
		planTaints(nodes, nil, m, Taint{Share: 0.1}, now.Add(time.Second)))
	assert.Empty(t, planTaints(nodes[3:4], slow, m, taint, hour.Add(time.Hour)), "the only node is not tainted")
	half := taint
	half.Share = 1
	both := []*v1.Node{nodes[7], nodes[8]}
	assert.Len(t, planTaints(both, []string{both[0].Name, both[1].Name}, m, half, hour.Add(time.Hour)), 1,
		"of two slow nodes one stays without the taint")
	nodes[5].Spec.Unschedulable = true
	assert.NotContains(t, planTaints(nodes, slow, m, taint, now), taintChange{"n05", hour}, "a cordoned node needs no taint")
}

// Slow nodes get the taint, and lose it when its time is over.
func TestSlowNodesAreTainted(t *testing.T) {
	taint := Taint{Effect: v1.TaintEffectNoSchedule, For: time.Hour}
	y := newToy(t, indexedJob(64, func(s *batchv1.JobSpec) { s.Parallelism = per(int32(16)) }),
		func(y *toy, c *Config) { c.Taint = taint })
	slowNode(y)
	has := func() bool {
		y.c.taint(context.Background())
		n, err := y.client.CoreV1().Nodes().Get(context.Background(), "n3", metav1.GetOptions{})
		require.NoError(t, err)
		return hasTaint(n)
	}
	assert.False(t, has())
	require.True(t, holds(&y.steps(900).Status, batchv1.JobComplete))
	n, err := y.client.CoreV1().Nodes().Get(context.Background(), "n3", metav1.GetOptions{})
	require.NoError(t, err)
	other := v1.Taint{Key: "example.com/other", Effect: v1.TaintEffectNoSchedule}
	n.Spec.Taints = append(n.Spec.Taints, other)
	require.NoError(t, y.client.Tracker().Update(v1.SchemeGroupVersion.WithResource("nodes"), n, ""))
	require.NoError(t, y.sync())
	assert.True(t, has())
	y.now = y.now.Add(2 * time.Hour)
	require.NoError(t, y.sync())
	assert.False(t, has())
	n, err = y.client.CoreV1().Nodes().Get(context.Background(), "n3", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []v1.Taint{other}, n.Spec.Taints, "a foreign taint stays")
}
