package jobs

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// large is a Job of n pods that run, each as far as its index and the clock say, on nodes of a hundred each.
func large(b *testing.B, n int) (*toy, []any) {
	job := indexedJob(int32(n))
	y := newToy(b, job)
	begun := metav1.NewTime(y.now.Add(-time.Minute))
	pods := make([]any, n)
	for i := range pods {
		p := makePod(job, i, fmt.Sprint(i, ".1"), nil, false, 0)
		p.UID, p.CreationTimestamp, p.Status.Phase = types.UID(fmt.Sprint("pod-", i)), begun, v1.PodRunning
		p.Spec = v1.PodSpec{NodeName: fmt.Sprint("node-", i/100)}
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
		p.Status.ContainerStatuses = []v1.ContainerStatus{{State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: begun}}}}
		pods[i] = p
		require.NoError(b, y.client.Tracker().Add(p))
	}
	return y, pods
}

// proceed has a tenth of the pods report, and another hundred of them end.
func proceed(y *toy, pods []any, round int) {
	y.now = y.now.Add(time.Second)
	for i := round % 10; i < len(pods); i += 10 {
		p := pods[i].(*v1.Pod)
		p.Annotations[ProgressAnnotation] = fmt.Sprintf("%.4f@%d", 0.3+0.001*float64(round)+0.00001*float64(i), y.now.Unix())
	}
	for k := range 100 {
		if i := round*100 + k; i < len(pods)/2 {
			y.began[pods[i].(*v1.Pod).UID] = y.now.Add(-time.Minute)
			y.finish(pods[i].(*v1.Pod), 0)
		}
	}
}

// BenchmarkSync is one look at a Job of which a tenth of the pods have reported and a hundred have ended since the last
// one, with what is written to the API server; first is that of a controller that has just started.
func BenchmarkSync(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("indexes=%d", n), func(b *testing.B) {
			y, pods := large(b, n)
			require.NoError(b, y.c.pods.GetIndexer().Replace(pods, ""))
			require.NoError(b, y.c.jobs.GetIndexer().Replace([]any{y.job()}, ""))
			round := 0
			for b.Loop() {
				b.StopTimer()
				proceed(y, pods, round)
				round++
				require.NoError(b, y.c.pods.GetIndexer().Replace(pods, ""))
				b.StartTimer()
				_, err := y.c.sync(context.Background(), jobKey)
				b.StopTimer()
				require.NoError(b, err)
				require.NoError(b, y.c.jobs.GetIndexer().Replace([]any{y.job()}, ""))
				b.StartTimer()
			}
			b.StopTimer()
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/float64(n), "heap-B/index")
		})
		b.Run(fmt.Sprintf("first/indexes=%d", n), func(b *testing.B) {
			y, pods := large(b, n)
			for b.Loop() {
				b.StopTimer()
				y.restart(Config{})
				require.NoError(b, y.c.pods.GetIndexer().Replace(pods, ""))
				require.NoError(b, y.c.jobs.GetIndexer().Replace([]any{y.job()}, ""))
				b.StartTimer()
				_, err := y.c.sync(context.Background(), jobKey)
				require.NoError(b, err)
			}
		})
	}
}
