package jobs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
)

// All slots are taken, so the first free slot for an evicted pod is on the slow node. The gate keeps the pod away, and
// no pod is evicted twice.
func TestGatesKeepEvictedPodsAway(t *testing.T) {
	job := builtIn(16)
	job.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: Gate}}
	y := newToy(t, job, func(y *toy, c *Config) { c.Evict = true })
	y.nodes = []string{"n3", "n0", "n1", "n2"} // in the order in which they are filled
	slowNode(y)
	evicted, seconds := evictable(y), 0
	for ; seconds < 300 && !complete(y); seconds++ {
		controls(y)
		y.step()
		again := map[string]bool{}
		for _, p := range y.pods() {
			if avoids := p.Annotations[AvoidAnnotation]; avoids != "" {
				assert.Equal(t, "n3", avoids)
				assert.NotEqual(t, "n3", p.Spec.NodeName)
				again[p.Name] = true
			}
		}
		assert.LessOrEqual(t, len(again), 4)
	}
	assert.Less(t, seconds, 100, "without eviction it takes 200 s")
	assert.Equal(t, 4, *evicted)
}

// If a pod finds only the node that it must avoid, the pod is evicted, and the next pod may run there.
func TestGatesLeaveSomewhereToRun(t *testing.T) {
	job := builtIn(1)
	job.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: Gate}}
	y := newToy(t, job, func(y *toy, c *Config) { c.Evict, y.nodes = true, []string{"n0", "n1"} })
	evicted := evictable(y)
	y.nodes = []string{"n0"} // the scheduler does not use n1, and the controller does not know why
	y.c.marks.evicted["n0"] = y.now
	for range 60 {
		controls(y)
		y.step()
	}
	assert.Equal(t, 1, *evicted)
	assert.Equal(t, v1.PodSucceeded, y.pods()[0].Status.Phase)
}

// If a Job counts evictions as failures, no pod without a node is evicted. So its pods only prefer other nodes.
func TestGatesOnlyPreferNodesIfEvictionsCount(t *testing.T) {
	job := builtIn(1)
	job.Spec.PodFailurePolicy, job.Spec.BackoffLimit = nil, new(int32)
	job.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: Gate}}
	y := newToy(t, job, func(y *toy, c *Config) { c.Evict, y.nodes = true, []string{"n0", "n1"} })
	y.nodes = []string{"n0"} // n1 is unfit, and nobody says so
	y.c.marks.evicted["n0"] = y.now
	for range 60 {
		controls(y)
		y.step()
	}
	assert.Equal(t, v1.PodSucceeded, y.pods()[0].Status.Phase)
	assert.Equal(t, "n0", y.pods()[0].Annotations[AvoidAnnotation])
}

// If all nodes would have to be avoided, no node is.
func TestGatesNeverCloseAllNodes(t *testing.T) {
	job := builtIn(1)
	job.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: Gate}}
	y := newToy(t, job, func(y *toy, c *Config) { c.Evict, y.nodes = true, []string{"n0"} })
	y.c.marks.evicted["n0"] = y.now
	controls(y)
	y.step()
	assert.Equal(t, "n0", y.pods()[0].Spec.NodeName)
	assert.Empty(t, y.pods()[0].Annotations[AvoidAnnotation])
}
