package jobs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/restart/tracker"
)

// churn adds and removes n nodes.
func churn(y *toy, n int) {
	for i := range n {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("spot-", i)}}
		require.NoError(y.t, y.c.nodes.GetIndexer().Add(node))
		y.c.nodeChanged(node)
		require.NoError(y.t, y.c.nodes.GetIndexer().Delete(node))
		y.c.nodeChanged(node)
	}
}

// The controller forgets nodes that no longer exist, and a running Job loses nothing by this.
func TestGoneNodesAreForgotten(t *testing.T) {
	y := newToy(t, indexedJob(16))
	slowNode(y)
	y.steps(5)
	churn(y, 900)
	require.Len(t, y.c.known, 904)
	require.Contains(t, y.c.runs, jobKey)
	churn(y, 3000)
	assert.LessOrEqual(t, len(y.c.known), renewAbove)
	assert.NotContains(t, y.c.known, "spot-2")
	assert.Contains(t, y.c.known, "n3")
	require.True(t, holds(&y.steps(100).Status, batchv1.JobComplete))
	assert.Equal(t, 20, len(y.made))
	oneWinner(t, y)
}

// If Config.Knowledge is set, the number of a node always refers to the same node.
func TestNodesOfTheCallersKnowledgeKeepTheirNumbers(t *testing.T) {
	y := newToy(t, indexedJob(16), func(_ *toy, c *Config) { c.Knowledge = new(tracker.Knowledge) })
	y.steps(5)
	machines := y.c.machines
	churn(y, 3000)
	assert.Same(t, machines, y.c.machines)
}

func TestMarksAreForgotten(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &marks{evicted: map[string]time.Time{"a": now}, lifted: map[string]time.Time{"b": now}}
	m.forget(now.Add(evictedFor-1), 4*evictedFor)
	assert.Len(t, m.evicted, 1)
	assert.Len(t, m.lifted, 1)
	m.forget(now.Add(evictedFor), 4*evictedFor)
	assert.Empty(t, m.evicted)
	assert.Empty(t, m.lifted)
}

// A kubelet's clock that is wrong by an hour does not change the pauses.
func TestWrongClocksDoNotChangePauses(t *testing.T) {
	made := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, off := range []time.Duration{0, time.Second, time.Hour, -time.Hour} {
		p := &v1.Pod{}
		p.CreationTimestamp = metav1.NewTime(made)
		p.Status.ContainerStatuses = []v1.ContainerStatus{{State: v1.ContainerState{
			Terminated: &v1.ContainerStateTerminated{
				StartedAt: metav1.NewTime(made.Add(off)), FinishedAt: metav1.NewTime(made.Add(20*time.Second + off))},
		}}}
		end := endOf(p, made.Add(21*time.Second))
		assert.WithinDuration(t, made.Add(20*time.Second), end, 2*time.Second, "%v", off)
		p.Status.ContainerStatuses[0].State.Terminated.StartedAt = metav1.Time{}
		if end = endOf(p, made.Add(21*time.Second)); off.Abs() == time.Hour {
			assert.Equal(t, made, end, "the run time is not known")
		} else {
			assert.WithinDuration(t, made.Add(20*time.Second+off), end, time.Second, "only the end is known")
		}
		p.Status.ContainerStatuses = nil
		assert.Equal(t, made, endOf(p, made.Add(21*time.Second)), "the pod never ran")
	}
}
