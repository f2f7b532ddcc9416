package jobs

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/journal"
)

// eventsOf returns the texts of the events with a reason.
func (y *toy) eventsOf(reason string) (texts []string) {
	for len(y.events.Events) > 0 {
		if _, text, ok := strings.Cut(<-y.events.Events, " "+reason+" "); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// total returns the sum of a counter over its labels.
func total(t *testing.T, registry *prometheus.Registry, name string) (sum float64) {
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// A node is ten times slower. In shadow mode no pod is copied or deleted. The decisions and the bill are events and
// metrics, and the bill is near the saving of a controller that acts.
func TestShadowMakesAndDeletesNothing(t *testing.T) {
	took := func(y *toy) float64 {
		slowNode(y)
		job := y.steps(400)
		require.True(t, holds(&job.Status, batchv1.JobComplete), "%+v", job.Status)
		return job.Status.CompletionTime.Sub(job.Status.StartTime.Time).Seconds()
	}
	acting := took(newToy(t, indexedJob(16)))
	for name, c := range map[string]struct{ annotation, config bool }{"annotation": {true, false}, "config": {false, true}} {
		t.Run(name, func(t *testing.T) {
			registry, ends := prometheus.NewRegistry(), []Summary{}
			job := indexedJob(16)
			if c.annotation {
				job.Annotations = map[string]string{ShadowAnnotation: "true"}
			}
			y := newToy(t, job, func(_ *toy, to *Config) {
				to.Shadow, to.Registry, to.Journal = c.config, registry, true
				to.OnEnd = func(s Summary) { ends = append(ends, s) }
			})
			without := took(y)
			assert.Len(t, y.made, 16)
			oneWinner(t, y)
			require.Len(t, ends, 1)
			sum := ends[0]
			assert.Equal(t, "j", sum.Job.Name)
			assert.Equal(t, 16, sum.Ledger.Finished)
			assert.Zero(t, sum.Ledger.Copies+sum.Ledger.Restarts)
			_, err := journal.Replay(sum.Journal, journal.Options{})
			require.NoError(t, err)
			assert.InDelta(t, without, sum.Bill.Without.Seconds(), 5, "%v", sum.Bill)
			assert.InDelta(t, 1-acting/without, sum.Bill.Saved, .1, "%v", sum.Bill)
			assert.InDelta(t, 4, total(t, registry, "straggler_shadow_decisions_total"), 0)
			both := sum.Bill.Without + sum.Bill.With
			assert.InDelta(t, both.Seconds(), total(t, registry, "straggler_shadow_seconds_total"), 1e-6)
			assert.Zero(t, total(t, registry, "straggler_copies_total"))
			events := map[string]int{}
			for len(y.events.Events) > 0 {
				event := <-y.events.Events
				events[strings.Fields(event)[1]]++
				assert.NotContains(t, event, "avoid=")
				if strings.Contains(event, "StragglerBill") {
					assert.Contains(t, event, "The policy saves ")
				}
			}
			assert.Equal(t, map[string]int{"SuccessfulCreate": 16, "StragglerShadow": 4, "StragglerBill": 1, "Completed": 1}, events)
		})
	}
}

// If the annotation changes, the controller acts from the next sync on. A Job that is suspended gets no bill.
func TestShadowEndsWithItsAnnotation(t *testing.T) {
	job := indexedJob(16)
	job.Annotations = map[string]string{ShadowAnnotation: "true"}
	ends := 0
	y := newToy(t, job, func(_ *toy, c *Config) { c.OnEnd = func(Summary) { ends++ } })
	slowNode(y)
	y.steps(40)
	assert.Len(t, y.made, 16)
	y.change(func(j *batchv1.Job) { j.Annotations[ShadowAnnotation] = "false" })
	y.steps(2)
	assert.Greater(t, len(y.made), 16)
	y.change(func(j *batchv1.Job) { j.Spec.Suspend = per(true) })
	y.steps(3)
	assert.Zero(t, ends)
	y.change(func(j *batchv1.Job) { j.Spec.Suspend = per(false) })
	y.steps(400)
	assert.Equal(t, 1, ends)
}

// The bill knows how long pods take to start, and whether they report their progress.
func TestBillKnowsThePods(t *testing.T) {
	var bills [2]shadow.Bill
	for i := range bills {
		y := newToy(t, indexedJob(16), func(y *toy, c *Config) {
			c.Shadow, c.OnEnd, y.silent = true, func(s Summary) { bills[i] = s.Bill }, i == 1
		})
		y.slow["n3"] = 2
		y.steps(400)
	}
	assert.Zero(t, bills[0].Copies, "progress shows that the slow pods will soon end")
	assert.Equal(t, 4, bills[1].Copies, "silent pods do not show it")

	now := metav1.NewTime(time.Unix(1e9, 0))
	pod := func(began time.Duration) *v1.Pod {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: now}}
		p.Status.ContainerStatuses = []v1.ContainerStatus{{State: v1.ContainerState{
			Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(began))},
		}}}
		return p
	}
	p := plan{winners: []*v1.Pod{pod(9 * time.Second), nil, pod(time.Second), pod(-time.Hour), pod(4 * time.Second)}}
	assert.Equal(t, 4500*time.Millisecond, p.startup(), "a kubelet cuts times to whole seconds")
	assert.Zero(t, (&plan{}).startup())
}

// The annotation "false" turns the shadow mode of the controller off for a Job, and a wrong annotation is an event.
func TestShadowAnnotation(t *testing.T) {
	for text, want := range map[string]int{"false": 20, "perhaps": 16} {
		job := indexedJob(16)
		job.Annotations = map[string]string{ShadowAnnotation: text}
		y := newToy(t, job, func(_ *toy, c *Config) { c.Shadow = true })
		slowNode(y)
		y.steps(400)
		assert.Len(t, y.made, want, text)
		assert.Equal(t, text == "perhaps", len(y.eventsOf("BadSpec")) == 1)
	}
}

// A pod that has failed is made again in shadow mode, too.
func TestShadowReplacesFailedPods(t *testing.T) {
	y := newToy(t, indexedJob(4), func(y *toy, c *Config) {
		c.Shadow = true
		y.exits = func(p *v1.Pod) int32 { return map[string]int32{"1.0": 1}[attemptOf(p)] }
	})
	job := y.steps(200)
	assert.True(t, holds(&job.Status, batchv1.JobComplete))
	assert.Equal(t, 5, len(y.made))
}

// In shadow mode no pod of the built-in controller is evicted. The bill has restarts in place of copies.
func TestShadowEvictsNothing(t *testing.T) {
	var ends []Summary
	job := builtIn(16)
	job.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: Gate}}
	y := newToy(t, job, func(_ *toy, c *Config) {
		c.Evict, c.Shadow, c.OnEnd = true, true, func(s Summary) { ends = append(ends, s) }
	})
	slowNode(y)
	evicted := evictable(y)
	y.c.marks.evicted["n0"] = y.now
	for seconds := 0; seconds < 300 && !complete(y); seconds++ {
		controls(y)
		require.NoError(t, y.sync())
		y.now = y.now.Add(time.Second)
		y.run()
		controls(y)
	}
	require.True(t, complete(y))
	y.change(func(j *batchv1.Job) {
		ended := batchv1.JobCondition{Type: batchv1.JobComplete, Status: v1.ConditionTrue}
		j.Status.Conditions = append(j.Status.Conditions, ended)
	})
	require.NoError(t, y.sync())
	require.NoError(t, y.sync())
	assert.Zero(t, *evicted)
	for _, pod := range y.pods() {
		assert.Empty(t, pod.Annotations[AvoidAnnotation], "the gate is removed, and the scheduler chooses the node")
	}
	require.Len(t, ends, 1)
	assert.Equal(t, 16, ends[0].Bill.Tasks)
	assert.Zero(t, ends[0].Bill.Copies)
	assert.Positive(t, ends[0].Bill.Restarts)
	assert.Len(t, y.eventsOf("StragglerShadow"), 4)
}

// OnAction sees each pod that is made or deleted by an action, and Configure changes the phase.
func TestOnActionAndConfigure(t *testing.T) {
	var mu sync.Mutex
	ops := map[engine.Op]int{}
	y := newToy(t, indexedJob(16), func(_ *toy, c *Config) {
		c.Workers, c.Policy = 1, restart.Never{}
		c.OnAction = func(job *batchv1.Job, a engine.Action) {
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, "j", job.Name)
			ops[a.Op]++
		}
		c.Configure = func(job *batchv1.Job, c *engine.Config) {
			assert.Equal(t, "j", job.Name)
			c.Policy = restart.Mantri{}
		}
	})
	slowNode(y)
	y.steps(400)
	assert.Len(t, y.made, 20)
	assert.Equal(t, 20, ops[engine.Submit])
	assert.LessOrEqual(t, ops[engine.Cancel], 4)
}

func TestWrongChoicesAreErrors(t *testing.T) {
	for want, c := range map[string]Config{
		"kubernetes/jobs: Config.Policy: restart: Mantri.MaxCopies is -7": {Policy: restart.Mantri{MaxCopies: -7}},
		"kubernetes/jobs: Config.Policy: restart: Policy is \"a nil *":    {Policy: (*restart.Mantri)(nil)},
		"kubernetes/jobs: Config.Limits: restart: Limits.Copies is -7":    {Limits: restart.Limits{Copies: -7}},
	} {
		c.Client = newToy(t, indexedJob(1)).client
		_, err := New(c)
		assert.ErrorContains(t, err, want)
	}
}
