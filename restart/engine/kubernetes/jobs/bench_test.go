package jobs

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// large makes a Job of n running pods, a hundred on each node. The progress of a pod depends on its index and on the
// time.
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
		running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: begun}}
		p.Status.ContainerStatuses = []v1.ContainerStatus{{State: running}}
		pods[i] = p
		require.NoError(b, y.client.Tracker().Add(p))
	}
	return y, pods
}

// proceed lets a tenth of the pods report new progress, and ends a hundred pods.
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

// processorTime returns the CPU time that the process has used, or 0 if it is not known. On a busy machine the CPU
// time is a better measure than the elapsed time.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSync measures one sync of a Job, with its writes to the API server. Since the last sync, a tenth of the
// pods have reported progress, and a hundred pods have ended. The metric "first" is the time of the first sync of a
// new controller.
func BenchmarkSync(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("indexes=%d", n), func(b *testing.B) {
			y, pods := large(b, n)
			require.NoError(b, y.c.pods.GetIndexer().Replace(pods, ""))
			require.NoError(b, y.c.jobs.GetIndexer().Replace([]any{y.job()}, ""))
			round, busy := 0, time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				proceed(y, pods, round)
				round++
				require.NoError(b, y.c.pods.GetIndexer().Replace(pods, ""))
				began := processorTime()
				b.StartTimer()
				_, err := y.c.sync(context.Background(), jobKey)
				b.StopTimer()
				busy += processorTime() - began
				require.NoError(b, err)
				require.NoError(b, y.c.jobs.GetIndexer().Replace([]any{y.job()}, ""))
				b.StartTimer()
			}
			b.StopTimer()
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/float64(n), "heap-B/index")
			b.ReportMetric(float64(busy)/float64(b.N), "cpu-ns/op")
			runtime.KeepAlive(y)
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
