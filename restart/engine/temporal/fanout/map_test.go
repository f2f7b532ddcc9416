package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
	"github.com/straggler-go/straggler/restart/tracker"
)

// pool stands for four workers. The time of its activity depends on the task queue. Its snapshot shows the progress of
// the running activities, as the server would.
type pool struct {
	mu      sync.Mutex
	slow    map[string]float64 // by machine: factor of the run time; 1 for other machines
	running map[string]*run
	starts  []string // "input on machine"
	fail    func(input int) error
	size    func(input int) float64 // the number that an activity reports at its end; nil: 1
	blind   bool                    // the snapshot fails
}

type run struct {
	began   time.Time
	took    time.Duration
	machine string
	size    float64
}

const taskTime = 200 * time.Millisecond

func (p *pool) work(ctx context.Context, input int) (string, error) {
	info := activity.GetInfo(ctx)
	p.mu.Lock()
	factor := p.slow[info.TaskQueue]
	if factor == 0 {
		factor = 1
	}
	r := &run{began: time.Now(), took: time.Duration(factor * float64(taskTime)), machine: info.TaskQueue, size: 1}
	if p.size != nil {
		r.size = p.size(input)
	}
	p.running[info.ActivityID] = r
	p.starts = append(p.starts, fmt.Sprint(input, " on ", info.TaskQueue))
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.running, info.ActivityID)
		p.mu.Unlock()
	}()
	if p.fail != nil {
		if err := p.fail(input); err != nil {
			return "", err
		}
	}
	for time.Since(r.began) < r.took {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(5 * time.Millisecond):
			fanout.Report(ctx, float64(time.Since(r.began))/float64(r.took))
		}
	}
	return fmt.Sprint(input, " done"), nil
}

// started returns the attempts that have begun. Activities that were cancelled may still begin when the workflow has ended.
func (p *pool) started() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.starts)
}

func (p *pool) snapshot(context.Context, string) (all []fanout.Seen, err error) {
	if p.blind {
		return nil, errors.New("the server does not answer")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.running {
		all = append(all, fanout.Seen{
			ID: id, Machine: r.machine, Begun: r.began, AsOf: time.Now(),
			Done: r.size * min(1, float64(time.Since(r.began))/float64(r.took)), // it may be late to end
		})
	}
	return all, nil
}

func machines(slots int) (list []engine.Machine) {
	for i := range 4 {
		list = append(list, engine.Machine{Name: fmt.Sprint("h", i), Slots: slots})
	}
	return list
}

type outcome struct {
	results []string
	status  fanout.Status
	err     error
}

func quietSuite() *testsuite.WorkflowTestSuite {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return &suite
}

// alone runs one workflow in the SDK's test environment.
func alone(t *testing.T, p *pool, flow func(workflow.Context) error) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	suite := quietSuite()
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	p.running = map[string]*run{}
	env.RegisterActivityWithOptions(p.work, activity.RegisterOptions{Name: "work"})
	env.RegisterWorkflow(flow)
	env.ExecuteWorkflow(flow)
	require.True(t, env.IsWorkflowCompleted())
	return env
}

// execute runs a fan-out of n tasks in the SDK's test environment. Its clock goes on while activities run.
func execute(t *testing.T, p *pool, n int, tasks func(start time.Time, i int) fanout.Task, o fanout.Options) outcome {
	t.Helper()
	suite := quietSuite()
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetStartTime(time.Now())
	if p.running == nil {
		p.running = map[string]*run{}
	}
	env.RegisterActivityWithOptions(p.work, activity.RegisterOptions{Name: "work"})
	o.Snapshot, o.Interval = p.snapshot, 20*time.Millisecond
	flow := func(ctx workflow.Context) ([]string, error) {
		var err error
		if o.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: machines(4)}); err != nil {
			return nil, err
		}
		all := make([]fanout.Task, n)
		for i := range all {
			all[i] = fanout.Task{Input: i}
			if tasks != nil {
				all[i] = tasks(workflow.Now(ctx), i)
				all[i].Input = i
			}
		}
		return fanout.Map[string](ctx, "work", all, o)
	}
	env.RegisterWorkflow(flow)
	env.ExecuteWorkflow(flow)
	require.True(t, env.IsWorkflowCompleted())
	out := outcome{err: env.GetWorkflowError()}
	if out.err == nil {
		require.NoError(t, env.GetWorkflowResult(&out.results))
		assert.Len(t, out.results, n)
		for i, r := range out.results {
			assert.Equal(t, fmt.Sprint(i, " done"), r)
		}
	}
	answer, err := env.QueryWorkflow(fanout.Query(o.Name))
	require.NoError(t, err)
	require.NoError(t, answer.Get(&out.status))
	return out
}

func TestCopiesAvoidTheSlowWorker(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h3": 20}}
	out := execute(t, p, 64, nil, fanout.Options{Journal: true}) // some tasks wait, so there is no slot for a copy
	assert.NoError(t, out.err)
	assert.Equal(t, 64, out.status.Ledger.Finished)
	assert.GreaterOrEqual(t, out.status.Ledger.Restarts+out.status.Ledger.Copies, 4)
	assert.Contains(t, out.status.Journal, "restart bad-machine", "the worker is known to be slow, so no copy is needed before a restart")
	kinds := map[string]int{}
	for _, e := range out.status.Events {
		kinds[e.Kind]++
		if e.Kind == "submit" && e.Why != "" {
			assert.NotEqual(t, "h3", e.Machine, "%+v", e)
		}
	}
	assert.Equal(t, 64, kinds["succeed"])
}

// sized returns a task that has Work if its index is odd, and no Work if its index is even.
func sized(_ time.Time, i int) fanout.Task {
	if i%2 == 0 {
		return fanout.Task{}
	}
	return fanout.Task{Work: 1000}
}

func TestTasksWithoutWorkReportShares(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h3": 20}, size: func(input int) float64 {
		return max(1, sized(time.Time{}, input).Work)
	}}
	out := execute(t, p, 16, sized, fanout.Options{})
	assert.NoError(t, out.err)
	assert.GreaterOrEqual(t, out.status.Ledger.Restarts+out.status.Ledger.Copies, 4, "all tasks of the slow worker are copied or restarted")
	assert.Zero(t, out.status.Ledger.BadUnits+out.status.Ledger.SmallUnits)
}

// Heartbeats without details show only that an activity is alive. Then Map finds slow activities by their age,
// whatever their Work is.
func TestSlowActivitiesAreFoundByTheirAge(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h3": 20}, size: func(int) float64 { return 0 }}
	out := execute(t, p, 16, sized, fanout.Options{})
	assert.NoError(t, out.err)
	assert.GreaterOrEqual(t, out.status.Ledger.Restarts+out.status.Ledger.Copies, 4)
	for _, e := range out.status.Events {
		if e.Kind == "submit" && e.Why != "" {
			assert.NotEqual(t, "h3", e.Machine, "%+v", e)
			assert.Contains(t, e.Why, " basis=age")
		}
	}
}

func TestNeverTakesNoAction(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h3": 3}}
	out := execute(t, p, 16, nil, fanout.Options{Policy: restart.Never{}, Name: "all"})
	assert.NoError(t, out.err)
	assert.Equal(t, tracker.Ledger{Started: 16, Finished: 16, Used: out.status.Ledger.Used}, out.status.Ledger)
	assert.Len(t, p.started(), 16)
}

func TestSmallFanOutIsCloned(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h0": 20}}
	out := execute(t, p, 3, nil, fanout.Options{
		Policy: restart.Never{},
		Clone:  &fanout.Clone{Config: clone.Config{BudgetShare: clone.Off}, Straggler: 0.1},
	})
	assert.NoError(t, out.err)
	assert.Equal(t, 3, out.status.Ledger.Clones, "p = 0.1 and three tasks need two clones of each")
	large := execute(t, &pool{}, 16, nil, fanout.Options{Clone: &fanout.Clone{Straggler: 0.1}})
	assert.Zero(t, large.status.Ledger.Copies, "a large fan-out has no room for clones")
}

// The task with the least time to spare before its deadline starts first. Tasks without a deadline start last.
func TestLeastLaxityStartsFirst(t *testing.T) {
	t.Parallel()
	p := &pool{}
	out := execute(t, p, 20, func(now time.Time, i int) fanout.Task {
		if i < 2 {
			return fanout.Task{}
		}
		return fanout.Task{Deadline: now.Add(time.Hour - time.Duration(i)*time.Minute)}
	}, fanout.Options{Policy: restart.Never{}})
	assert.NoError(t, out.err)
	var order []int
	for _, e := range out.status.Events {
		if e.Kind == "submit" {
			order = append(order, e.Task)
		}
	}
	want := []int{19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 0, 1}
	assert.Equal(t, want, order)
}

func TestAFailedTaskIsTriedOnOtherWorkers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	failed := map[int]int{}
	p := &pool{fail: func(input int) error {
		mu.Lock()
		defer mu.Unlock()
		if failed[input]++; input%3 == 0 && failed[input] < 3 {
			return errors.New("a disk is full")
		}
		return nil
	}}
	out := execute(t, p, 8, nil, fanout.Options{})
	assert.NoError(t, out.err)
	assert.Equal(t, 6, out.status.Ledger.Failed, "three tasks fail twice each")

	p = &pool{fail: func(input int) error {
		if input == 2 {
			return errors.New("the record is bad")
		}
		return nil
	}}
	out = execute(t, p, 8, nil, fanout.Options{})
	assert.ErrorContains(t, out.err, "task 2: too many attempts without a result")
	assert.ErrorContains(t, out.err, "the record is bad")
	tried := slices.DeleteFunc(p.started(), func(s string) bool { return s[0] != '2' })
	assert.ElementsMatch(t, []string{"2 on h0", "2 on h1", "2 on h2", "2 on h3"}, tried, "each attempt runs on another worker")

	p = &pool{fail: func(int) error { return temporal.NewNonRetryableApplicationError("no such file", "x", nil) }}
	out = execute(t, p, 1, nil, fanout.Options{})
	assert.ErrorContains(t, out.err, "no such file")
	assert.Len(t, p.started(), 1)
}
