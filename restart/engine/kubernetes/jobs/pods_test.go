package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/straggler-go/straggler/restart/engine"
)

func TestProgress(t *testing.T) {
	for text, want := range map[string]float64{"0.4": 0.4, "40/100": 0.4, "1": 1, "0": 0, " 3 / 4 ": 0.75} {
		share, _, asOf, err := parseProgress(text)
		require.NoError(t, err, text)
		assert.InDelta(t, want, share, 1e-12, text)
		assert.Zero(t, asOf)
	}
	_, _, asOf, err := parseProgress("0.5@1763846400.25")
	require.NoError(t, err)
	assert.True(t, asOf.Equal(time.UnixMilli(1763846400250)))
	for _, text := range []string{
		"", "x", "-1", "2", "NaN", "1/0", "5/4", "1/x", "1/Inf", "1/1e300", "0.5@", "0.5@-3", "0.5@1e99", "0.5@NaN",
	} {
		_, _, _, err := parseProgress(text)
		assert.Error(t, err, text)
	}
}

func TestIndexes(t *testing.T) {
	for text, count := range map[string]int{"": 0, "0": 1, "0,1": 2, "0-2": 3, "0-2,4,6-9": 8} {
		set, err := parseIndexes(text, 10)
		require.NoError(t, err, text)
		assert.Equal(t, text, set.String())
		assert.Equal(t, count, set.count())
	}
	set, err := parseIndexes("0-99", 3)
	require.NoError(t, err)
	assert.Equal(t, "0-2", set.String())
	for _, text := range []string{"x", "1-", "-1", "1,,2"} {
		_, err := parseIndexes(text, 10)
		assert.Error(t, err, text)
	}
}

// The state of a pod for the engine depends on whether the Job waits for the end of deleted pods.
func TestStateOfAPod(t *testing.T) {
	at := metav1.Now()
	disrupted := []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue}}
	for _, c := range []struct {
		name        string
		phase       v1.PodPhase
		node        string
		going, ours bool
		disrupted   bool
		want, waits engine.State
	}{
		{"waits", v1.PodPending, "", false, false, false, engine.Queued, engine.Queued},
		{"runs", v1.PodRunning, "n", false, false, false, engine.Running, engine.Running},
		{"has succeeded", v1.PodSucceeded, "n", true, true, false, engine.Succeeded, engine.Succeeded},
		{"has failed", v1.PodFailed, "n", false, false, false, engine.Failed, engine.Failed},
		{"is lost", v1.PodFailed, "n", true, false, true, engine.Lost, engine.Lost},
		{"is being lost", v1.PodRunning, "n", true, false, true, engine.Lost, engine.Running},
		{"is being cancelled", v1.PodRunning, "n", true, true, false, engine.Cancelled, engine.Running},
		{"was cancelled", v1.PodFailed, "n", true, true, false, engine.Cancelled, engine.Cancelled},
		{"was cancelled before it ran", v1.PodPending, "", true, true, false, engine.Cancelled, engine.Cancelled},
		{"is to be cancelled", v1.PodRunning, "n", false, true, false, engine.Running, engine.Running},
	} {
		p := &v1.Pod{Spec: v1.PodSpec{NodeName: c.node}, Status: v1.PodStatus{Phase: c.phase}}
		if c.going {
			p.DeletionTimestamp = &at
		}
		if c.ours {
			p.Annotations = map[string]string{CancelledAnnotation: "kill overtaken"}
		}
		if c.disrupted {
			p.Status.Conditions = disrupted
		}
		assert.Equal(t, c.want, state(p, false), c.name)
		assert.Equal(t, c.waits, state(p, true), c.name+", and the Job waits for its end")
	}
}

func TestMakePod(t *testing.T) {
	job := indexedJob(3)
	job.Name = "a-job-with-a-name-that-is-as-long-as-a-name-may-be-with-an-index"
	job.Spec.Template.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "a", Operator: v1.NodeSelectorOpExists}}},
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "b", Operator: v1.NodeSelectorOpExists}}},
		}}}}
	p := makePod(job, 1, "1.2", []string{"n1", "n2"}, false, 0)
	assert.Empty(t, validation.IsDNS1123Label(p.Name))
	for _, term := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		assert.Len(t, term.MatchExpressions, 1, "the template's own expressions stay")
		assert.Len(t, term.MatchFields, 2, "each term excludes both nodes")
		for _, f := range term.MatchFields {
			assert.Len(t, f.Values, 1, "the API server takes one name in a field")
		}
	}
	assert.Empty(t, job.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.
		NodeSelectorTerms[0].MatchFields, "the template is as it was")
	assert.Equal(t, p.Name, makePod(job, 1, "1.2", nil, false, 0).Name)
	assert.NotEqual(t, p.Name, makePod(job, 1, "1.3", nil, false, 0).Name)
	another := job.DeepCopy()
	another.UID = "job-2"
	assert.NotEqual(t, p.Name, makePod(another, 1, "1.2", nil, false, 0).Name, "a later Job of the same name has other names of pods")
	assert.True(t, isOf(p, job.UID))
	assert.Contains(t, p.Finalizers, finalizer)
	assert.Equal(t, "1", p.Labels[batchv1.JobCompletionIndexAnnotation])

	soft := makePod(indexedJob(3), 1, "1.2", []string{"n1"}, true, 0)
	assert.Nil(t, soft.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	assert.Empty(t, soft.Annotations[AvoidAnnotation])
}

func TestBackoff(t *testing.T) {
	assert.Zero(t, backoff(0))
	assert.Equal(t, 10*time.Second, backoff(1))
	assert.Equal(t, 40*time.Second, backoff(3))
	assert.Equal(t, 10*time.Minute, backoff(7))
	assert.Equal(t, 10*time.Minute, backoff(1000000))
}
