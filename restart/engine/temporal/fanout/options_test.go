package fanout_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// A worker is eight times slower. In shadow mode its activities run to their ends, and nothing is cloned. The bill is
// in the answer to the query.
func TestShadowMapStartsAndEndsNothing(t *testing.T) {
	t.Parallel()
	p := &pool{slow: map[string]float64{"h3": 8}}
	out := execute(t, p, 16, nil, fanout.Options{Shadow: true})
	assert.NoError(t, out.err)
	assert.Len(t, p.started(), 16)
	kinds := map[string]int{}
	for _, e := range out.status.Events {
		kinds[e.Kind]++
		if e.Kind == "shadow" {
			assert.Contains(t, e.Why, "copy ")
			assert.Empty(t, e.ID)
		}
	}
	assert.Equal(t, map[string]int{"submit": 16, "begin": 16, "succeed": 16, "shadow": kinds["shadow"]}, kinds)
	assert.GreaterOrEqual(t, kinds["shadow"], 4)
	assert.Equal(t, 16, out.status.Bill.Tasks)
	assert.Greater(t, out.status.Bill.Saved, .4, "%v", out.status.Bill)
	assert.Zero(t, out.status.Ledger.Copies+out.status.Ledger.Restarts+out.status.Ledger.Clones)
}

// In the bill a task with NoCopy is not copied, and a task with NoRestart is not restarted. LeastCost copies the slow
// tasks if it may.
func TestBillOfTasksThatMayNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ noCopy, noRestart, copies bool }{{true, true, false}, {false, true, true}} {
		p := &pool{slow: map[string]float64{"h3": 8}}
		out := execute(t, p, 16, func(_ time.Time, i int) fanout.Task {
			return fanout.Task{Input: i, NoCopy: c.noCopy, NoRestart: c.noRestart}
		}, fanout.Options{Shadow: true})
		assert.NoError(t, out.err)
		assert.Equal(t, 16, out.status.Bill.Tasks)
		assert.Equal(t, c.copies, out.status.Bill.Copies > 0, "%v", out.status.Bill)
		assert.Zero(t, out.status.Bill.Restarts, "%v", out.status.Bill)
	}
}

func TestShadowMapHasNoClones(t *testing.T) {
	t.Parallel()
	p := &pool{}
	out := execute(t, p, 3, nil, fanout.Options{Shadow: true, Clone: &fanout.Clone{
		Config: clone.Config{BudgetShare: clone.Off}, Straggler: 0.1,
	}})
	assert.NoError(t, out.err)
	assert.Len(t, p.started(), 3)
}

// The text of a policy may be part of the workflow's input.
func TestPolicyText(t *testing.T) {
	t.Parallel()
	out := execute(t, &pool{slow: map[string]float64{"h3": 3}}, 16, nil, fanout.Options{PolicyText: "never"})
	assert.NoError(t, out.err)
	assert.Zero(t, out.status.Ledger.Copies+out.status.Ledger.Restarts)
	out = execute(t, &pool{slow: map[string]float64{"h3": 20}}, 16, nil, fanout.Options{PolicyText: "mantri"})
	assert.NoError(t, out.err)
	assert.Positive(t, out.status.Ledger.Copies+out.status.Ledger.Restarts)
}

func TestConfigureChangesThePhase(t *testing.T) {
	t.Parallel()
	out := execute(t, &pool{slow: map[string]float64{"h3": 3}}, 16, nil, fanout.Options{
		Configure: func(c *engine.Config) { c.Policy = restart.Never{} },
	})
	assert.NoError(t, out.err)
	assert.Zero(t, out.status.Ledger.Copies+out.status.Ledger.Restarts)
}

func TestWrongOptionsAreErrors(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]fanout.Options{
		`fanout: Options.PolicyText is "best", want a policy`:                {PolicyText: "best"},
		`fanout: Options.PolicyText is "late", want no text beside a Policy`: {PolicyText: "late", Policy: restart.Never{}},
		"fanout: Options: restart/engine: Config.MaxLost is -1": {Configure: func(c *engine.Config) {
			c.MaxLost = -1
		}},
		"fanout: Options.MaxFailures is -1, want a positive number": {MaxFailures: -1, Lag: time.Second},
	} {
		o.Slots = 1
		env := alone(t, &pool{}, func(ctx workflow.Context) error {
			_, err := fanout.Map[string](ctx, "work", nil, o)
			return err
		})
		assert.ErrorContains(t, env.GetWorkflowError(), want)
	}
}
