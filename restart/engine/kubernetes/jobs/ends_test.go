package jobs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A straggler is deleted, and its program exits with 0 because it was told to stop. That is no result: the index runs again,
// also where the controller has died before it saw the end.
func TestExitAsToldIsNoResult(t *testing.T) {
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
