package fanout_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	t.Parallel()
	risky := clone.Config{AcceptableRisk: 2}
	for want, o := range map[string]fanout.Options{
		"Options.Interval is -1s":                           {Interval: -time.Second, Slots: 1},
		"Options.Slots is 0":                                {},
		"Options.MaxFailures is -1, want a positive number": {Slots: 1, MaxFailures: -1},
		"Options.Clone.Straggler is 1, want a probability":  {Slots: 1, Clone: &fanout.Clone{Straggler: 1}},
		"Limits.Restarts is -7":                             {Slots: 1, Limits: restart.Limits{Restarts: -7}},
		"Mantri.MaxRestarts is -7":                          {Slots: 1, Policy: restart.Mantri{MaxRestarts: -7}},
		"AcceptableRisk is 2":                               {Slots: 1, Clone: &fanout.Clone{Config: risky}},
	} {
		suite := quietSuite()
		env := suite.NewTestWorkflowEnvironment()
		flow := func(ctx workflow.Context) error {
			_, err := fanout.Map[string](ctx, "work", make([]fanout.Task, 1), o)
			return err
		}
		env.RegisterWorkflow(flow)
		env.ExecuteWorkflow(flow)
		assert.ErrorContains(t, env.GetWorkflowError(), want)
	}
}

func TestTooManySlotsAreAnError(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3000} {
		env := alone(t, &pool{}, func(ctx workflow.Context) error {
			_, err := fanout.Map[string](ctx, func(context.Context) (string, error) { return "", nil },
				make([]fanout.Task, n), fanout.Options{Slots: 3000})
			return err
		})
		if err := env.GetWorkflowError(); n > 1 {
			assert.ErrorContains(t, err, "Options.Slots is 3000, with those of Machines, want 2000 or less")
		} else {
			assert.ErrorContains(t, err, "unable to find activity", "as many slots are no error for few tasks")
		}
	}
}

func TestTasksMayHaveNoInput(t *testing.T) {
	t.Parallel()
	none := func(context.Context) (string, error) { return "none", nil }
	suite := quietSuite()
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(none)
	flow := func(ctx workflow.Context) ([]string, error) {
		o := fanout.Options{Slots: 1, Snapshot: (&pool{}).snapshot}
		if empty, err := fanout.Map[string](ctx, none, nil, o); err != nil || len(empty) > 0 {
			return empty, err
		}
		return fanout.Map[string](ctx, none, make([]fanout.Task, 2), o)
	}
	env.RegisterWorkflow(flow)
	env.ExecuteWorkflow(flow)
	var results []string
	require.NoError(t, env.GetWorkflowResult(&results))
	assert.Equal(t, []string{"none", "none"}, results)
}

// A worker that shuts down may end its activities as cancelled, although Map has not cancelled them. Map takes these
// activities to be lost.
func TestUnrequestedCancellationCountsAsALoss(t *testing.T) {
	t.Parallel()
	p := &pool{fail: func(int) error { return temporal.NewCanceledError() }}
	out := execute(t, p, 1, nil, fanout.Options{})
	assert.ErrorContains(t, out.err, "too many attempts without a result: activity error")
	assert.Len(t, p.started(), 10)
}

func TestMapGoesOnIfTheSnapshotFails(t *testing.T) {
	t.Parallel()
	p := &pool{blind: true}
	out := execute(t, p, 20, nil, fanout.Options{})
	assert.NoError(t, out.err)
	assert.NotZero(t, out.status.FailedPolls)
}

// Two fan-outs with the same Machines never use more slots than the Machines have.
func TestTwoFanOutsShareTheSlots(t *testing.T) {
	t.Parallel()
	p := &pool{}
	most := 0
	p.fail = func(int) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		most = max(most, len(p.running))
		return nil
	}
	env := alone(t, p, func(ctx workflow.Context) error {
		known, err := engine.NewMachines(engine.MachinesConfig{Machines: machines(2)})
		if err != nil {
			return err
		}
		tasks := make([]fanout.Task, 8)
		for i := range tasks {
			tasks[i].Input = i
		}
		var futures []workflow.Future
		for _, name := range []string{"left", "right"} {
			future, set := workflow.NewFuture(ctx)
			futures = append(futures, future)
			workflow.Go(ctx, func(ctx workflow.Context) {
				set.Set(fanout.Map[string](ctx, "work", tasks, fanout.Options{
					Name: name, Machines: known, Interval: 20 * time.Millisecond, Policy: restart.Never{},
					Snapshot: p.snapshot,
				}))
			})
		}
		for _, f := range futures {
			if err := f.Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	})
	assert.NoError(t, env.GetWorkflowError())
	assert.Len(t, p.started(), 16)
	assert.LessOrEqual(t, most, 8)
	for _, name := range []string{"left", "right"} {
		answer, err := env.QueryWorkflow(fanout.Query(name))
		require.NoError(t, err)
		var status fanout.Status
		require.NoError(t, answer.Get(&status))
		assert.Equal(t, 8, status.Ledger.Finished, name)
	}
}
