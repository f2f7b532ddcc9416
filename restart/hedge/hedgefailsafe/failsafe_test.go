package hedgefailsafe_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgefailsafe"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

const ms = time.Millisecond

var safe = hedge.Request{Safe: true}

// after returns a route that sends a second request after 10 ms.
func after(t *testing.T) *hedged.Route {
	t.Helper()
	rule, err := hedgerules.New(hedgerules.Fixed(10 * ms))
	require.NoError(t, err)
	return hedged.NewRoute(rule)
}

// run executes f once under the hedge policy, and around it other policies.
func run(
	ctx context.Context, f func(exec failsafe.Execution[string]) (string, error), outer ...failsafe.Policy[string],
) (string, error) {
	policy := hedgepolicy.NewWithDelayFunc(hedgefailsafe.Delay[string])
	return failsafe.With(append(outer, policy)...).WithContext(ctx).GetWithExecution(hedgefailsafe.Func(f))
}

// runs returns a function of which each run takes its time, or less if it is cancelled.
func runs(first, second time.Duration, err error) func(exec failsafe.Execution[string]) (string, error) {
	return func(exec failsafe.Execution[string]) (string, error) {
		took, name := first, "first"
		if exec.IsHedge() {
			took, name = second, "second"
		}
		select {
		case <-time.After(took):
			return name, err
		case <-exec.Canceled():
			return "", context.Canceled
		}
	}
}

func TestTheFirstAnswerWins(t *testing.T) {
	for _, c := range []struct {
		first, second, took time.Duration
		want                string
		request             hedge.Request
	}{
		{5 * ms, 0, 5 * ms, "first", safe},
		{60 * ms, 7 * ms, 17 * ms, "second", safe},
		{30 * ms, time.Hour, 30 * ms, "first", safe},
		{60 * ms, 7 * ms, 60 * ms, "first", hedge.Request{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got, err := run(hedgefailsafe.With(t.Context(), after(t), c.request), runs(c.first, c.second, nil))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.took, time.Since(began))
		})
	}
}

// A second run that the rule refuses does not start. It gives way to the result of the first run, also where the policy
// waits for both.
func TestRefused(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range []error{nil, broken} {
		synctest.Test(t, func(t *testing.T) {
			route := after(t)
			route.PushBack(time.Hour)
			both := hedgepolicy.NewBuilderWithDelayFunc(hedgefailsafe.Delay[string]).
				CancelIf(func(_ string, err error) bool { return err == nil }).Build()
			began := time.Now()
			ctx := hedgefailsafe.With(t.Context(), route, safe)
			got, is := failsafe.With[string](both).WithContext(ctx).GetWithExecution(hedgefailsafe.Func(runs(60*ms, 0, err)))
			assert.Equal(t, err, is)
			assert.Equal(t, "first", got)
			assert.Equal(t, 60*ms, time.Since(began))
		})
	}
}

// If the context of the caller ends, a refused second run gives way at once, while the first run may still end.
func TestRefusedAndCancelled(t *testing.T) {
	for range 50 {
		route := after(t)
		route.PushBack(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 15*ms)
		_, err := run(hedgefailsafe.With(ctx, route, safe), runs(time.Hour, 0, nil))
		require.Error(t, err)
		cancel()
	}
}

// Each retry is an operation of its own.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := hedge.New(hedge.Config{})
		require.NoError(t, err)
		route, tries := hedged.NewRoute(rule), 0
		got, err := run(hedgefailsafe.With(t.Context(), route, safe), func(failsafe.Execution[string]) (string, error) {
			if tries++; tries < 3 {
				return "", errors.New("again")
			}
			return "third", nil
		}, retrypolicy.NewWithDefaults[string]())
		require.NoError(t, err)
		assert.Equal(t, "third", got)
		l := route.Ledger()
		assert.Equal(t, []int64{3, 1}, []int64{l.Started, l.Answered})
	})
}

// The Hedger learns from the executions, and their second runs are counted.
func TestHedgerLearns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := hedge.New(hedge.Config{Budget: 0.1})
		require.NoError(t, err)
		route := hedged.NewRoute(rule)
		for i := range 1000 {
			first := 5*ms + time.Duration(i%19)*100*time.Microsecond
			if i%20 == 0 {
				first = 60 * ms
			}
			_, err := run(hedgefailsafe.With(t.Context(), route, safe), runs(first, 5*ms, nil))
			require.NoError(t, err)
		}
		l := route.Ledger()
		assert.Equal(t, int64(1000), l.Answered)
		assert.Greater(t, l.Won, int64(30))
	})
}

// Without a context of With, the function runs once.
func TestWithoutAContext(t *testing.T) {
	got, err := run(context.Background(), runs(20*ms, 0, nil))
	require.NoError(t, err)
	assert.Equal(t, "first", got)
}
