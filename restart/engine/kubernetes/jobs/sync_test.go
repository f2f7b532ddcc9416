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

// A controller that may not list nodes says so, and ends.
func TestNodesThatMayNotBeListed(t *testing.T) {
	client := fake.NewSimpleClientset()
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(v1.Resource("nodes"), "", errors.New("no role allows it"))
	})
	c, err := New(Config{Client: client, Events: record.NewFakeRecorder(10)})
	require.NoError(t, err)
	assert.Equal(t, []string{"jobs", "pods", "nodes"}, c.Missing())
	c.within = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	assert.ErrorContains(t, c.Run(ctx), "no list of nodes within 2s: is the controller allowed to list and watch them?")
}

// Of the built-in controller's Jobs the cache has little more than the names. Templates of a Job that may be this
// controller's, or that it is asked to watch, stay.
func TestForeignJobsAreSlim(t *testing.T) {
	for manager, keeps := range map[string]bool{"": false, batchv1.JobControllerName: false, Manager: true, "another": true} {
		job := indexedJob(4)
		job.Annotations = map[string]string{"large": "text"}
		job.ManagedFields = []metav1.ManagedFieldsEntry{{}}
		if job.Spec.ManagedBy = &manager; manager == "" {
			job.Spec.ManagedBy = nil
		}
		slimmed, err := slim(job)
		require.NoError(t, err)
		job = slimmed.(*batchv1.Job)
		assert.Equal(t, keeps, len(job.Spec.Template.Spec.Containers) > 0 && job.Annotations["large"] != "", manager)
		assert.Empty(t, job.ManagedFields)
		assert.NotEmpty(t, job.Name)
	}
	watched := indexedJob(4)
	watched.Spec.ManagedBy, watched.Annotations = nil, map[string]string{EvictAnnotation: "true"}
	slimmed, _ := slim(watched)
	assert.NotEmpty(t, slimmed.(*batchv1.Job).Spec.Template.Spec.Containers)
}
