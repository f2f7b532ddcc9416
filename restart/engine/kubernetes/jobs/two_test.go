package jobs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
)

// Two controllers work on a Job with a slow node without knowing each other. The second controller's cache is some
// seconds old, as after a pause of its process. Each index has one winner, nothing is lost, and no failure is counted.
func TestTwoControllersDoNoHarm(t *testing.T) {
	for _, behind := range []int{0, 1, 5, 30} {
		y := newToy(t, indexedJob(16))
		slowNode(y)
		y.restart(Config{})
		second := y.c
		y.restart(Config{})
		for s := range 400 {
			if finishedJob(y.job()) {
				break
			}
			require.NoError(t, y.sync())
			first := y.c
			if y.c = second; s%(behind+1) == 0 {
				y.show()
			}
			if _, err := y.c.sync(context.Background(), jobKey); err != nil {
				require.ErrorIs(t, err, errStale)
			}
			y.c = first
			y.now = y.now.Add(1e9)
			y.run()
		}
		job := y.steps(10)
		require.True(t, holds(&job.Status, batchv1.JobComplete), "%d s behind: %+v", behind, job.Status)
		assert.Zero(t, job.Status.Failed, "%d s behind", behind)
		assert.LessOrEqual(t, len(y.made), 16+2*8, "%d s behind", behind)
		assert.Equal(t, 16, len(y.pods()), "%d s behind: only the winner of each index is left", behind)
		for range 3 {
			y.step()
		}
		oneWinner(t, y)
	}
}

// A pod that has succeeded since the controller last saw it run is not deleted.
func TestAPodThatHasSucceededMeanwhileStays(t *testing.T) {
	y := newToy(t, indexedJob(2))
	y.steps(3)
	pod := y.pods()[0]
	y.finish(pod, 0)
	stale := pod.DeepCopy()
	stale.Status.Phase = v1.PodRunning
	require.NoError(t, y.c.end(context.Background(), y.job(), removal{pod: stale, why: "kill"}))
	now, err := y.pod(pod.Name)
	require.NoError(t, err)
	assert.Nil(t, now.DeletionTimestamp)
}
