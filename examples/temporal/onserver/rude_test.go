package onserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
	"github.com/straggler-go/straggler/restart/rules"
)

// rude takes the end of its context for a request to stop, and returns what it has, without an error. Its copies fail
// one time in three.
func rude(host string, took time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, input int) (string, error) {
		id := activity.GetInfo(ctx).ActivityID
		copied := strings.HasPrefix(id, "task-") && !strings.HasSuffix(id, ".0") || strings.Contains(id, "/")
		fails := copied && rand.IntN(3) == 0
		for start := time.Now(); time.Since(start) < took; {
			select {
			case <-ctx.Done():
				return "a part", nil
			case <-time.After(took / 50):
				fanout.Report(ctx, float64(time.Since(start))/float64(took))
			}
			if fails && time.Since(start) > took/2 {
				return "", errors.New("no room for a copy")
			}
		}
		return fmt.Sprint(input, " ", host), nil
	}
}

// No result is a part, whatever the activities do, and whoever ends them: Map or Watch, by a cancellation or a reset,
// or their worker, which stops in the midst. STRAGGLER_RUNS=50 go test -run Rude -timeout 1h ./onserver does it fifty
// times.
func TestRudeActivities(t *testing.T) {
	flows := map[string]any{
		"map by copies":    mappedBy("rude", rules.Dryad{Percentile: 0.5}),
		"map by restarts":  mappedBy("rude", leave{machine: 3}),
		"watch by copies":  func(ctx workflow.Context) ([]string, error) { return foreignOf(ctx, "rude", 20) },
		"watch by restart": func(ctx workflow.Context) ([]string, error) { return foreignOf(ctx, "rude", 20) },
	}
	watched := map[string]restart.Policy{"watch by copies": rules.Dryad{Percentile: 0.5}, "watch by restart": leave{machine: 3}}
	order := []string{"map by restarts", "watch by restart", "map by copies", "watch by copies"}
	c, _, again := serve(t, func(r worker.WorkflowRegistry) {
		for name, flow := range flows {
			r.RegisterWorkflowWithOptions(flow, workflow.RegisterOptions{Name: name})
		}
	})
	runs, _ := strconv.Atoi(os.Getenv("STRAGGLER_RUNS"))
	for n := range max(runs, 2) {
		name := order[n%len(order)]
		t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
			run := begin(t, c, fmt.Sprint("rude ", n), name)
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				time.Sleep(goodTime / 2)
				again("h1")
			}()
			if policy := watched[name]; policy != nil {
				ledger, err := fanout.Watch(t.Context(), c, run.GetID(), run.GetRunID(), fanout.WatchOptions{
					Namespace: cluster.Namespace, Policy: policy, Machines: watchedMachines(t, 8), Interval: serverInterval,
				})
				require.NoError(t, err)
				t.Log(ledger)
			}
			var results []string
			require.NoError(t, run.Get(t.Context(), &results))
			<-stopped
			for i, r := range results {
				assert.True(t, strings.HasPrefix(r, fmt.Sprint(i, " h")), "%d: %q", i, r)
			}
		})
	}
}
