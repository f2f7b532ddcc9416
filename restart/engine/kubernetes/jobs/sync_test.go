package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

// A controller that may not list nodes returns an error that says so.
func TestForbiddenListsAreAnError(t *testing.T) {
	client := fake.NewSimpleClientset()
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(v1.Resource("nodes"), "", errors.New("no role allows it"))
	})
	c, err := New(Config{Client: client, Events: record.NewFakeRecorder(10)})
	require.NoError(t, err)
	assert.Equal(t, []string{"jobs", "pods", "nodes"}, c.Missing())
	c.syncTimeout = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	assert.ErrorContains(t, c.Run(ctx), "no list of nodes within 2s: is the controller allowed to list and watch them?")
}

// The cache holds little more than the names of other controllers' Jobs. It holds the whole Jobs that this controller
// runs or watches.
func TestForeignJobsAreStripped(t *testing.T) {
	for _, c := range []struct {
		config         Config
		manager, evict string
		keeps          bool
	}{
		{Config{}, "", "", false},
		{Config{}, batchv1.JobControllerName, "", false},
		{Config{}, Manager, "", true},
		{Config{}, "another", "", false},
		{Config{Manager: "another"}, "another", "", true},
		{Config{Manager: "another"}, Manager, "", false},
		{Config{}, "", "true", false},
		{Config{Evict: true}, "", "true", true},
		{Config{Evict: true}, batchv1.JobControllerName, "true", true},
		{Config{Evict: true}, "another", "true", false},
	} {
		job := indexedJob(4)
		job.Annotations = map[string]string{"large": "text", EvictAnnotation: c.evict}
		job.ManagedFields = []metav1.ManagedFieldsEntry{{}}
		if job.Spec.ManagedBy = &c.manager; c.manager == "" {
			job.Spec.ManagedBy = nil
		}
		c.config.Client = fake.NewSimpleClientset()
		of, err := New(c.config)
		require.NoError(t, err)
		slimmed, err := of.strip(job)
		require.NoError(t, err)
		job = slimmed.(*batchv1.Job)
		assert.Equal(t, c.keeps, len(job.Spec.Template.Spec.Containers) > 0 && job.Annotations["large"] != "", "%+v", c)
		assert.Equal(t, c.keeps, of.manages(job) || of.evicts(job), "%+v", c)
		assert.Empty(t, job.ManagedFields)
		assert.NotEmpty(t, job.Name)
	}
}
