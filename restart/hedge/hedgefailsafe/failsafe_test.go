package hedgefailsafe_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/policy"
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
	return hedged.NewRoute(fixed(t))
}

// with returns the hedge policy of a route for such requests.
func with(r *hedged.Route, q hedge.Request, configure ...func(hedgepolicy.Builder[string])) failsafe.Policy[string] {
	return hedgefailsafe.New(r, func(context.Context) hedge.Request { return q }, configure...)
}

// answers makes an error of one run wait for the other run.
func answers(b hedgepolicy.Builder[string]) {
	b.CancelIf(func(_ string, err error) bool { return err == nil })
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
			got, err := failsafe.With(with(after(t), c.request)).GetWithExecution(runs(c.first, c.second, nil))
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
			began := time.Now()
			got, is := failsafe.With(with(route, safe, answers)).GetWithExecution(runs(60*ms, 0, err))
			assert.Equal(t, err, is)
			assert.Equal(t, "first", got)
			assert.Equal(t, 60*ms, time.Since(began))
		})
	}
}

// If the result of the first run is returned, its context lives as long as failsafe-go lets it, also if a refused second
// run ended last: the result may be a response whose body is still to be read.
func TestRefusedKeepsTheContextOfTheFirstRun(t *testing.T) {
	for range 20 {
		route := after(t)
		route.PushBack(time.Hour)
		var first context.Context
		var release func()
		_, err := failsafe.With(with(route, safe, answers)).GetWithExecution(
			func(exec failsafe.Execution[string]) (string, error) {
				first = exec.Context()
				release = exec.(policy.ExecutionInternal[string]).DeferCancel()
				time.Sleep(12 * ms)
				return "", errors.New("not final")
			})
		require.Error(t, err)
		require.NoError(t, first.Err())
		release()
		require.Error(t, first.Err())
	}
}

// An execution whose context has ended runs nothing, and is no request for the rule.
func TestAnEndedContext(t *testing.T) {
	rule := &counted{Rule: fixed(t)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := failsafe.With(with(hedged.NewRoute(rule), safe)).WithContext(ctx).Get(func() (string, error) {
		t.Error("the function runs")
		return "", nil
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, rule.started)
}

// A rule that says Wait again when the second run starts is asked again after that time.
func TestTheRuleWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		rule := &patient{Rule: fixed(t), waits: 2}
		got, err := failsafe.With(with(hedged.NewRoute(rule), safe)).GetWithExecution(runs(time.Hour, 5*ms, nil))
		require.NoError(t, err)
		assert.Equal(t, "second", got)
		assert.Equal(t, 55*ms, time.Since(began), "10 ms, twice 20 ms, and 5 ms")
	})
	synctest.Test(t, func(t *testing.T) { // the first run ends meanwhile
		rule := &patient{Rule: fixed(t), waits: 2}
		got, err := failsafe.With(with(hedged.NewRoute(rule), safe, answers)).GetWithExecution(runs(35*ms, 5*ms, nil))
		require.NoError(t, err)
		assert.Equal(t, "first", got)
	})
}

// patient is a rule that says Wait a few times when a second run could start.
type patient struct {
	hedge.Rule
	waits int
}

func (p *patient) Late(now time.Time, id hedge.ID) hedge.Decision {
	if p.waits--; p.waits >= 0 {
		return hedge.Decision{Action: hedge.Wait, After: 20 * ms}
	}
	return p.Rule.Late(now, id)
}

// If the context of the caller ends, a refused second run gives way at once, while the first run may still end.
func TestRefusedAndCancelled(t *testing.T) {
	for range 50 {
		route := after(t)
		route.PushBack(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 15*ms)
		_, err := failsafe.With(with(route, safe)).WithContext(ctx).GetWithExecution(runs(time.Hour, 0, nil))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
	}
}

// Each retry is a request of its own, also while the runs of the request before it still run.
func TestRetries(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rule := &counted{Rule: fixed(t)}
			policy := with(hedged.NewRoute(rule), safe)
			retries := retrypolicy.NewBuilder[string]().WithMaxRetries(3).Build()
			got, err := failsafe.With(retries, policy).GetWithExecution(func(exec failsafe.Execution[string]) (string, error) {
				switch {
				case exec.IsHedge() && exec.Attempts() < 6:
					return "", errors.New("unavailable") // a second run fails at once
				case deaf:
					time.Sleep(50 * ms)
				default:
					return runs(50*ms, 0, nil)(exec)
				}
				return "first", nil
			})
			require.NoError(t, err)
			assert.Contains(t, []string{"first", "second"}, got)
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Equal(t, []int{3, 3, 3}, []int{rule.started, rule.first, rule.second})
		})
	}
}

// Each run has an executor with retries of its own, as the doc comment of the package recommends. For the rule both runs
// are one request. The retries of the first run go on while the second run is tried.
func TestRetriesInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, tries := &counted{Rule: fixed(t)}, map[bool]*atomic.Int64{false: {}, true: {}} // by whether it is the second run
		retries := retrypolicy.NewBuilder[string]().WithMaxRetries(3).WithDelay(7 * ms).Build()
		got, err := failsafe.With(with(hedged.NewRoute(rule), safe)).GetWithExecution(
			func(exec failsafe.Execution[string]) (string, error) {
				return failsafe.With[string](retries).WithContext(exec.Context()).Get(func() (string, error) {
					if tries[exec.IsHedge()].Add(1) < 3 {
						return "", errors.New("again")
					}
					return "third", nil
				})
			})
		require.NoError(t, err)
		assert.Equal(t, "third", got)
		synctest.Wait()
		assert.Equal(t, []int64{3, 1}, []int64{tries[false].Load(), tries[true].Load()})
		assert.Equal(t, []int{1, 1, 1}, []int{rule.started, rule.first, rule.second})
	})
}

// A run that calls runtime.Goexit ends with an error, which the rule and the caller learn. The other run may still answer.
func TestGoexitIsAnErrorOfTheRun(t *testing.T) {
	for _, second := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rule := &counted{Rule: fixed(t)}
			got, err := failsafe.With(with(hedged.NewRoute(rule), safe, answers)).GetWithExecution(
				func(exec failsafe.Execution[string]) (string, error) {
					if second && exec.IsHedge() {
						return "second", nil
					}
					runtime.Goexit()
					return "never", nil
				})
			synctest.Wait()
			assert.Equal(t, []int{1, 1, 1}, []int{rule.started, rule.first, rule.second})
			if second {
				require.NoError(t, err)
				assert.Equal(t, "second", got)
			} else {
				require.EqualError(t, err, "hedgefailsafe: a run has called runtime.Goexit")
			}
		})
	}
}

// Below a second run of another hedge policy, the first run is a first run.
func TestInsideOfAnotherHedgePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := &counted{Rule: fixed(t)}
		outer := hedgepolicy.NewWithDelay[string](5 * ms)
		_, err := failsafe.With[string](outer, with(hedged.NewRoute(rule), safe)).Get(func() (string, error) {
			time.Sleep(9 * ms)
			return "", nil
		})
		require.NoError(t, err)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, []int{2, 2, 0}, []int{rule.started, rule.first, rule.second})
	})
}

// There is at most one second run, whatever the options say.
func TestOneSecondRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, policy := 0, with(after(t), safe, answers, func(b hedgepolicy.Builder[string]) { b.WithMaxHedges(5) })
		got, err := failsafe.With(policy).GetWithExecution(func(exec failsafe.Execution[string]) (string, error) {
			if exec.IsHedge() {
				began++
			}
			return runs(100*ms, 200*ms, nil)(exec)
		})
		require.NoError(t, err)
		assert.Equal(t, "first", got)
		assert.Equal(t, 1, began)
	})
}

// A panic of a run reaches the caller if no other run answers.
func TestPanics(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := func(exec failsafe.Execution[string]) (string, error) {
				if exec.IsHedge() {
					panic("broken")
				}
				return runs(50*ms, 0, nil)(exec)
			}
			if late {
				got, err := failsafe.With(with(after(t), safe, answers)).GetWithExecution(f)
				require.NoError(t, err)
				assert.Equal(t, "first", got)
				return
			}
			defer func() {
				err, ok := recover().(*hedged.PanicError)
				require.True(t, ok)
				assert.Equal(t, "broken", err.Value)
				assert.Contains(t, err.Error(), "failsafe_test.go")
			}()
			failsafe.With(with(after(t), safe)).GetWithExecution(f)
		})
	}
}

// The rule learns the deadline of the context.
func TestDeadlineIsAFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := &counted{Rule: fixed(t)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := failsafe.With(with(hedged.NewRoute(rule), safe)).WithContext(ctx).GetWithExecution(runs(ms, 0, nil))
		require.NoError(t, err)
		assert.Equal(t, time.Minute, rule.timeout)
	})
}

// fixed returns the rule that sends a second request after 10 ms.
func fixed(t *testing.T) hedge.Rule {
	t.Helper()
	rule, err := hedgerules.New(hedgerules.Fixed(10 * ms))
	require.NoError(t, err)
	return rule
}

// counted counts the requests that begin, and how many first and second runs end.
type counted struct {
	hedge.Rule
	started, first, second int
	timeout                time.Duration
}

func (c *counted) Start(now time.Time, q hedge.Request) (hedge.ID, hedge.Decision) {
	c.started++
	c.timeout = q.Timeout
	return c.Rule.Start(now, q)
}

func (c *counted) Done(now time.Time, id hedge.ID, attempt hedge.Attempt, outcome hedge.Outcome) {
	if attempt == hedge.First {
		c.first++
	} else {
		c.second++
	}
	c.Rule.Done(now, id, attempt, outcome)
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
			_, err := failsafe.With(with(route, safe)).GetWithExecution(runs(first, 5*ms, nil))
			require.NoError(t, err)
		}
		l := route.Ledger()
		assert.Equal(t, int64(1000), l.Answered)
		assert.Greater(t, l.Won, int64(30))
	})
}
