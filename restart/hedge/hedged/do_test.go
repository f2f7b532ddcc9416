package hedged_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

const ms = time.Millisecond

var safe = hedge.Request{Safe: true, Machine: "a"}

// after returns a route that sends a second request after 10 ms.
func after(t testing.TB) *hedged.Route {
	t.Helper()
	rule, err := hedgerules.New(hedgerules.Fixed(10 * ms))
	require.NoError(t, err)
	return hedged.NewRoute(rule)
}

// sleep waits, or returns the error of the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runs returns a function of which the first run takes the first time, and the second run the second.
func runs(first, second time.Duration) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if avoid, ok := hedged.Second(ctx); ok {
			return "second, not on " + avoid, sleep(ctx, second)
		}
		return "first", sleep(ctx, first)
	}
}

// The first answer is returned when it comes, and the other run is cancelled. The bubble waits for every goroutine.
func TestTheFirstAnswerWins(t *testing.T) {
	for _, c := range []struct {
		first, second, took time.Duration
		want                string
	}{
		{5 * ms, 0, 5 * ms, "first"},
		{60 * ms, 7 * ms, 17 * ms, "second, not on a"},
		{30 * ms, time.Hour, 30 * ms, "first"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got, err := hedged.Do(t.Context(), after(t), safe, runs(c.first, c.second))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.took, time.Since(began))
			synctest.Wait()
			assert.Equal(t, c.took, time.Since(began), "the loser has ended")
		})
	}
}

// A second request is sent only if the rule says so. Otherwise the function runs on the goroutine of the caller.
func TestUnsafeRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := hedged.Do(t.Context(), after(t), hedge.Request{}, runs(time.Minute, 0))
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Panics(t, func() {
			hedged.Do(t.Context(), after(t), hedge.Request{}, func(context.Context) (int, error) { panic("here") })
		})
	})
}

// always wants a second request for each request, also for an unsafe one.
type always struct {
	hedge.Rule
	action hedge.Action
}

func (a always) Start(now time.Time, q hedge.Request) (hedge.ID, hedge.Decision) {
	id, _ := a.Rule.Start(now, q)
	return id, hedge.Decision{Action: a.action, After: ms}
}

func (a always) Late(time.Time, hedge.ID) hedge.Decision { return hedge.Decision{Action: hedge.Send} }

// An unsafe function runs once, whatever the rule wants.
func TestRuleThatIgnoresUnsafe(t *testing.T) {
	for _, action := range []hedge.Action{hedge.Wait, hedge.Send} {
		synctest.Test(t, func(t *testing.T) {
			rule, err := hedgerules.New(hedgerules.Fixed(ms))
			require.NoError(t, err)
			route := hedged.NewRoute(always{rule, action})
			_, d := route.Start(hedge.Request{})
			assert.Equal(t, "none not-safe", d.String())
			ctx, cancel := context.WithTimeout(t.Context(), 5*ms)
			defer cancel()
			ran := 0
			_, err = hedged.Do(ctx, route, hedge.Request{}, func(context.Context) (int, error) {
				time.Sleep(time.Minute) // it ignores its context
				ran++
				return 0, nil
			})
			require.NoError(t, err)
			assert.Equal(t, 1, ran, "Do has waited for the only run")
		})
	}
}

// The second run avoids the machine that the first run has chosen last, and else the machine of the request.
func TestSecondAvoidsTheChosenMachine(t *testing.T) {
	for _, chosen := range [][]string{nil, {"b"}, {"b", "c"}} {
		synctest.Test(t, func(t *testing.T) {
			q := hedge.Request{Safe: true, Machine: "a"}
			got, err := hedged.Do(t.Context(), after(t), q, func(ctx context.Context) (string, error) {
				if avoid, ok := hedged.Second(ctx); ok {
					hedged.Chose(ctx, "d") // nobody asks for the machine of a second run
					return avoid, nil
				}
				for _, machine := range chosen {
					hedged.Chose(ctx, machine)
				}
				return "", sleep(ctx, time.Hour)
			})
			require.NoError(t, err)
			assert.Equal(t, append([]string{"a"}, chosen...)[len(chosen)], got)
		})
	}
	hedged.Chose(t.Context(), "x")
}

// A choice within an inner call is no choice of the run around it.
func TestChoicesOfInnerCalls(t *testing.T) {
	for _, inner := range []hedge.Request{safe, {}} {
		synctest.Test(t, func(t *testing.T) {
			route := after(t)
			got, err := hedged.Do(t.Context(), route, safe, func(ctx context.Context) (string, error) {
				if avoid, ok := hedged.Second(ctx); ok {
					return avoid, nil
				}
				hedged.Chose(ctx, "front")
				return hedged.Do(ctx, route, inner, func(ctx context.Context) (string, error) {
					hedged.Chose(ctx, "back")
					return "", sleep(ctx, time.Hour)
				})
			})
			require.NoError(t, err)
			assert.Equal(t, "front", got)
		})
	}
}

// One server of three is always slow. If the choice of the first run is told, the plan reaches its percentile, and no
// second request goes to the slow server.
func TestOneServerOfThreeIsSlow(t *testing.T) {
	for _, told := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			rule, err := hedge.New(hedge.Config{Percentile: 0.95, Budget: 0.5})
			require.NoError(t, err)
			route, r, slow := hedged.NewRoute(rule), rand.New(rand.NewPCG(1, 1)), 0
			var lock sync.Mutex // of r: the runs of a request draw at the same time
			draw := func(n int) int {
				lock.Lock()
				defer lock.Unlock()
				return r.IntN(n)
			}
			for i := range 3000 {
				began := time.Now()
				_, err := hedged.Do(t.Context(), route, hedge.Request{Safe: true}, func(ctx context.Context) (int, error) {
					servers := []string{"slow", "a", "b"}
					avoid, second := hedged.Second(ctx)
					servers = slices.DeleteFunc(servers, func(s string) bool { return second && s == avoid })
					server := servers[draw(len(servers))]
					if told {
						hedged.Chose(ctx, server)
					}
					takes := time.Duration(4000+draw(2000)) * time.Microsecond
					if server == "slow" {
						takes *= 20
					}
					return 0, sleep(ctx, takes)
				})
				require.NoError(t, err)
				if i >= 1000 && time.Since(began) > 20*ms {
					slow++
				}
			}
			if told {
				assert.Less(t, slow, 40, "of 2000")
			} else {
				assert.Greater(t, slow, 150, "the second request meets the slow server in one of three cases")
			}
		})
	}
}

// A function whose context has ended does not run, whether the rule would start a second run or not.
func TestAnEndedContext(t *testing.T) {
	for _, q := range []hedge.Request{safe, {}} {
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := hedged.Do(ctx, after(t), q, func(context.Context) (int, error) {
			t.Error("the function runs")
			return 0, nil
		})
		require.ErrorIs(t, err, cause)
	}
}

// An error is no answer while the other run goes on. The last error is returned.
func TestFailures(t *testing.T) {
	broken, worse := errors.New("broken"), errors.New("worse")
	for _, c := range []struct {
		first, second       time.Duration
		failFirst, failNext error
		want                error
		took                time.Duration
	}{
		{5 * ms, 0, broken, nil, broken, 5 * ms},                 // before the second request
		{20 * ms, 30 * ms, broken, nil, nil, 40 * ms},            // the second request answers
		{60 * ms, 5 * ms, nil, worse, nil, 60 * ms},              // the first request answers
		{60 * ms, 5 * ms, broken, worse, broken, 60 * ms},        // the first request fails last
		{20 * ms, 30 * ms, broken, worse, worse, 40 * ms},        // the second request fails last
		{20 * ms, time.Second, nil, worse, nil, 20 * ms},         // the second request is cancelled
		{time.Second, 20 * ms, broken, nil, nil, 30 * ms},        // the first request is cancelled
		{time.Second, 20 * ms, broken, worse, broken, 1000 * ms}, // both fail
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := hedged.Do(t.Context(), after(t), safe, func(ctx context.Context) (int, error) {
				if _, ok := hedged.Second(ctx); ok {
					return 0, errors.Join(sleep(ctx, c.second), c.failNext)
				}
				return 0, errors.Join(sleep(ctx, c.first), c.failFirst)
			})
			if c.want == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.want)
			}
			assert.Equal(t, c.took, time.Since(began), "%+v", c)
		})
	}
}

// A panic reaches the caller, with the stack of the run. A panic of the loser after the answer does not.
func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		defer func() {
			err, ok := recover().(*hedged.PanicError)
			require.True(t, ok)
			require.ErrorIs(t, err, broken)
			assert.Contains(t, err.Error(), "do_test.go")
		}()
		hedged.Do(t.Context(), after(t), safe, func(ctx context.Context) (int, error) {
			if _, ok := hedged.Second(ctx); ok {
				panic(broken)
			}
			return 0, sleep(ctx, time.Hour)
		})
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := hedged.Do(t.Context(), after(t), safe, func(ctx context.Context) (int, error) {
			if _, ok := hedged.Second(ctx); ok {
				return 1, nil
			}
			<-ctx.Done()
			panic("too late")
		})
		require.NoError(t, err)
	})
}

// A run that calls runtime.Goexit has failed: the other run may still answer, and Do does not wait forever.
func TestGoexitIsAFailureOfTheRun(t *testing.T) {
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			got, err := hedged.Do(t.Context(), after(t), safe, func(ctx context.Context) (string, error) {
				if _, second := hedged.Second(ctx); answers && !second {
					return "first", sleep(ctx, 30*ms)
				}
				runtime.Goexit()
				return "never", nil
			})
			if answers {
				require.NoError(t, err)
				assert.Equal(t, "first", got)
			} else {
				require.EqualError(t, err, "hedged: a run has called runtime.Goexit")
			}
		})
	}
}

// The first run of a call within a second run is a first run.
func TestCallsWithinCalls(t *testing.T) {
	for _, inner := range []hedge.Request{safe, {}} {
		synctest.Test(t, func(t *testing.T) {
			route := after(t)
			got, err := hedged.Do(t.Context(), route, safe, func(ctx context.Context) (string, error) {
				if _, second := hedged.Second(ctx); !second {
					return "outer", sleep(ctx, time.Hour)
				}
				return hedged.Do(ctx, route, inner, runs(5*ms, 0))
			})
			require.NoError(t, err)
			assert.Equal(t, "first", got)
		})
	}
}

// A panic of Failed reaches the caller as a panic of Run does, on both ways through Race.
func TestFailedPanics(t *testing.T) {
	for _, safe := range []bool{false, true} {
		var run context.Context
		call := hedged.Call[string]{
			Request: hedge.Request{Safe: safe},
			Run:     func(ctx context.Context) (string, error) { run = ctx; return "", nil },
			Failed:  func(string) bool { panic("failed") },
		}
		assert.Panics(t, func() { call.Race(t.Context(), after(t)) }, "safe: %v", safe)
		assert.Error(t, run.Err(), "the context of the run has ended")
	}
}

// If the context of the caller ends, Do returns at once, also if the function does not.
func TestTheCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*ms)
		defer cancel()
		began := time.Now()
		_, err := hedged.Do(ctx, after(t), safe, func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return 1, nil
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 15*ms, time.Since(began))
		time.Sleep(2 * time.Second)
	})
}

// The context of the winner lives until end is called. Results that are not returned are discarded, each once.
func TestRaceKeepsTheWinnersContext(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var discarded atomic.Int32
			var winner context.Context
			call := hedged.Call[int]{
				Request: safe,
				Run: func(ctx context.Context) (int, error) {
					if _, ok := hedged.Second(ctx); ok {
						winner = ctx
						return 2, sleep(ctx, 5*ms)
					}
					if deaf {
						time.Sleep(time.Second)
						return 1, nil
					}
					return 1, sleep(ctx, time.Second)
				},
				Discard: func(n int) { discarded.Add(int32(n)) },
			}
			got, end, err := call.Race(t.Context(), after(t))
			require.NoError(t, err)
			assert.Equal(t, 2, got)
			assert.NoError(t, winner.Err())
			end()
			assert.Error(t, winner.Err())
			time.Sleep(2 * time.Second)
			assert.Equal(t, deaf, discarded.Load() == 1)
		})
	}
}

// A result that counts as failed is returned only if there is no other.
func TestFailedResults(t *testing.T) {
	for _, both := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var discarded atomic.Int32
			call := hedged.Call[int]{
				Request: safe,
				Run: func(ctx context.Context) (int, error) {
					if _, ok := hedged.Second(ctx); ok {
						return 503, sleep(ctx, 5*ms)
					}
					if both {
						return 502, sleep(ctx, 30*ms)
					}
					return 200, sleep(ctx, 30*ms)
				},
				Failed:  func(status int) bool { return status >= 500 },
				Discard: func(status int) { discarded.Store(int32(status)) },
			}
			got, end, err := call.Race(t.Context(), after(t))
			require.NoError(t, err)
			end()
			assert.Equal(t, both, got == 502)
			assert.Equal(t, int32(503), discarded.Load())
		})
	}
}

// The deadline of the context is told to the rule, and the Hedger learns from all runs.
func TestHedgerLearnsAndKeepsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := hedge.New(hedge.Config{Budget: 0.1})
		require.NoError(t, err)
		route := hedged.NewRoute(rule)
		for i := range 2000 {
			first := 5*ms + time.Duration(i%19)*100*time.Microsecond
			if i%20 == 0 {
				first = 60 * ms
			}
			_, err := hedged.Do(t.Context(), route, safe, runs(first, 5*ms))
			require.NoError(t, err)
		}
		synctest.Wait()
		l := route.Ledger()
		assert.Equal(t, int64(2000), l.Answered)
		assert.Greater(t, l.Won, int64(80))
		refused := l.Refused[hedge.DeadlineNear]
		ctx, cancel := context.WithTimeout(t.Context(), 9*ms)
		defer cancel()
		_, err = hedged.Do(ctx, route, safe, runs(time.Second, 5*ms))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, refused+1, route.Ledger().Refused[hedge.DeadlineNear])
		route.PushBack(time.Second)
		_, err = hedged.Do(t.Context(), route, safe, runs(60*ms, 5*ms))
		require.NoError(t, err)
		assert.Equal(t, int64(1), route.Ledger().Refused[hedge.PushedBack])
	})
	assert.Zero(t, after(t).Ledger())
	rule, err := hedge.New(hedge.Config{})
	require.NoError(t, err)
	route := hedged.NewRoute(struct{ *hedge.Hedger }{rule})
	route.Start(safe)
	assert.Equal(t, int64(1), route.Ledger().Started, "a rule that embeds a Hedger has its ledger")
}

// Many goroutines share a route.
func TestManyGoroutines(t *testing.T) {
	rule, err := hedge.New(hedge.Config{})
	require.NoError(t, err)
	route := hedged.NewRoute(rule)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for i := range 200 {
				_, err := hedged.Do(context.Background(), route, safe, func(ctx context.Context) (int, error) {
					return i, sleep(ctx, time.Duration(i%10)*100*time.Microsecond)
				})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	assert.Equal(t, int64(4000), route.Ledger().Answered)
}

// Start and Done of a request through the lock, by one goroutine and by all processors.
func BenchmarkRoute(b *testing.B) {
	rule, _ := hedge.New(hedge.Config{})
	route := hedged.NewRoute(rule)
	request := func() {
		id, _ := route.Start(safe)
		route.Done(id, hedge.First, hedge.Answered)
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			request()
		}
	})
	b.Run("all", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				request()
			}
		})
	})
}

func BenchmarkDo(b *testing.B) {
	rule, _ := hedge.New(hedge.Config{Wins: hedge.Off})
	route := hedged.NewRoute(rule)
	for _, q := range []hedge.Request{{}, safe} {
		b.Run(map[bool]string{false: "alone", true: "with a timer"}[q.Safe], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				hedged.Do(context.Background(), route, q, func(context.Context) (int, error) { return 1, nil })
			}
		})
	}
}
