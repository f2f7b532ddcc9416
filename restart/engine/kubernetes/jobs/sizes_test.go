package jobs

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// fewAreLong is a Job with 48 indexes and 16 slots. The last five indexes take five times as long, and report their size.
func fewAreLong(t *testing.T, change ...func(*toy, *Config)) *toy {
	y := newToy(t, indexedJob(48, func(s *batchv1.JobSpec) { s.Parallelism = per(int32(16)) }), change...)
	y.totals = true
	y.takes = func(p *v1.Pod) time.Duration {
		if index(p) >= 43 {
			return 50 * time.Second
		}
		return 10 * time.Second
	}
	return y
}

// Large indexes get no copies if their pods report their size, even if the controller is restarted
// meanwhile.
func TestReportedSizesPreventCopies(t *testing.T) {
	for _, restarts := range []int{0, 3, 25, 40} {
		y := fewAreLong(t)
		y.steps(restarts)
		y.restart(Config{})
		require.True(t, holds(&y.steps(200).Status, batchv1.JobComplete))
		assert.Equal(t, 48, len(y.made), "restarted after %d s", restarts)
		oneWinner(t, y)
	}
}

// Slow pods are copied all the same. Of a phase and the phase that takes its place, only one says on which node an attempt
// was that has ended with a result. So the record of nodes counts each attempt once.
func TestSizedStragglersAreCopied(t *testing.T) {
	counted := 0
	y := fewAreLong(t, func(_ *toy, c *Config) {
		c.Configure = func(_ *batchv1.Job, c *engine.Config) {
			on := map[[2]int]int{} // by task and attempt
			c.OnEvent = func(e tracker.Event, a tracker.Answer) {
				switch e.Kind {
				case tracker.Started, tracker.Submitted:
					on[[2]int{e.Task, a.Attempt}] = e.Machine
				case tracker.Begun:
					on[[2]int{e.Task, e.Attempt}] = max(on[[2]int{e.Task, e.Attempt}], e.Machine)
				case tracker.Finished:
					if on[[2]int{e.Task, e.Attempt}] >= 0 {
						counted++
					}
				}
			}
		}
	})
	slowNode(y)
	require.True(t, holds(&y.steps(400).Status, batchv1.JobComplete))
	assert.Less(t, y.now.Sub(y.job().Status.StartTime.Time), 120*time.Second, "without copies it takes 500 s")
	assert.Less(t, len(y.made), 48+16)
	assert.LessOrEqual(t, counted, 48)
	assert.Positive(t, counted)
	oneWinner(t, y)
}

// The metrics include the run time of an attempt only once, although the attempt is reported to a second phase, too.
func TestMetricsCountAnAttemptOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	y := fewAreLong(t, func(_ *toy, c *Config) { c.Registry = registry })
	require.True(t, holds(&y.steps(200).Status, batchv1.JobComplete))
	families, err := registry.Gather()
	require.NoError(t, err)
	used := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "straggler_attempt_seconds_total" && m.GetLabel()[0].GetValue() == "used" {
				used = m.GetCounter().GetValue()
			}
		}
	}
	assert.InDelta(t, 43*10+5*50, used, 60)
}

// If the Job has WorkAnnotation, its sizes are used, whatever the pods report.
func TestWorkAnnotationCountsBeforeReports(t *testing.T) {
	y := fewAreLong(t)
	y.change(func(job *batchv1.Job) { job.Annotations = map[string]string{WorkAnnotation: "1*48"} })
	y.steps(40)
	assert.True(t, y.c.runs[jobKey].sizes.next.IsZero(), "no phase is made for the reports of the pods")
}

func TestNewSizesAreDueAfterGrowingPauses(t *testing.T) {
	var z sizes
	now, second := time.Unix(1e9, 0), time.Second
	assert.Nil(t, z.renew(now, second))
	for i := range 4 {
		z.note(i, 8, 100)
	}
	z.note(4, 8, 0)
	z.note(4, 8, 149)
	assert.Nil(t, z.renew(now, second), "the sizes are similar")
	z.note(5, 8, 500)
	works := z.renew(now, second)
	assert.Equal(t, []float64{100, 100, 100, 100, 149, 500}, works[:6])
	assert.True(t, math.IsNaN(works[6]) && math.IsNaN(works[7]), "an index without a report has no size")
	z.note(5, 8, 9000)
	assert.Nil(t, z.renew(now.Add(time.Hour), second), "the first report of an index counts")
	z.note(6, 8, 10)
	assert.NotNil(t, z.renew(now.Add(second), second), "a size much below the mean is a reason for a new phase")
	z.note(7, 8, 1)
	assert.Nil(t, z.renew(now.Add(3*second-1), second), "the third phase waits twice as long as the second")
	assert.NotNil(t, z.renew(now.Add(3*second), second))
}
