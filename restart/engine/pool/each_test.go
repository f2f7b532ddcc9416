package pool_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

type square = func(ctx context.Context, i int) (int, error)

// ways are Each and EachSeq with the items 0 to n-1.
var ways = map[string]func(ctx context.Context, n int, f square, o ...pool.Option) iter.Seq2[int, pool.Result[int]]{
	"Each": func(ctx context.Context, n int, f square, o ...pool.Option) iter.Seq2[int, pool.Result[int]] {
		return pool.Each(ctx, upTo(n), f, o...)
	},
	"EachSeq": func(ctx context.Context, n int, f square, o ...pool.Option) iter.Seq2[int, pool.Result[int]] {
		return pool.EachSeq(ctx, slices.Values(upTo(n)), f, o...)
	},
}

// eachOnce runs the loop to its end, and fails the test if an index is yielded twice. It returns the results by index.
func eachOnce(t *testing.T, results iter.Seq2[int, pool.Result[int]]) map[int]pool.Result[int] {
	t.Helper()
	got := map[int]pool.Result[int]{}
	for i, r := range results {
		if _, again := got[i]; again {
			require.Failf(t, "the index was yielded twice", "%d", i)
		}
		got[i] = r
	}
	return got
}

// count is an endless sequence of the numbers 0, 1, 2 and so on. It records how many numbers were read.
func count(read *atomic.Int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i++ {
			if read.Store(int64(i + 1)); !yield(i) {
				return
			}
		}
	}
}

func TestEachYieldsEveryItemOnce(t *testing.T) {
	quiet(t)
	for name, each := range ways {
		for _, n := range []int{0, 1, 2, 100, 1000} {
			for _, goroutines := range []int{0, 1, 3, 200} {
				for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
					got := eachOnce(t, each(t.Context(), n, func(_ context.Context, i int) (int, error) {
						if i%3 == 1 {
							return i, errLuck
						}
						return i * i, nil
					}, pool.Goroutines(goroutines), o))
					require.Len(t, got, n, name)
					for i, r := range got {
						want := pool.Result[int]{Value: i * i}
						if i%3 == 1 {
							want = pool.Result[int]{Err: errLuck} // an error has no value
						}
						if r != want {
							require.Equal(t, want, r)
						}
					}
				}
			}
		}
	}
}

// The same sequence of results can be used by two loops. Each loop calls the function again.
func TestEachMayBeRepeated(t *testing.T) {
	results := pool.Each(t.Context(), upTo(5), func(_ context.Context, i int) (int, error) { return i, nil })
	assert.Equal(t, eachOnce(t, results), eachOnce(t, results))
}

// If the body leaves the loop, the running calls are ended and no more begin. The goroutines end, too.
func TestLoopThatIsLeftEndsEverything(t *testing.T) {
	for name, each := range ways {
		for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
			for _, at := range []int{1, 2, 50} {
				t.Run(fmt.Sprint(name, at), func(t *testing.T) {
					quiet(t)
					var running, calls atomic.Int64
					seen := 0
					for range each(t.Context(), 10000, func(ctx context.Context, i int) (int, error) {
						calls.Add(1)
						running.Add(1)
						defer running.Add(-1)
						if i%7 == 6 {
							return i, sleep(ctx, time.Minute)
						}
						return i, sleep(ctx, time.Millisecond)
					}, pool.Goroutines(64), o) {
						if seen++; seen == at {
							break
						}
					}
					assert.Zero(t, running.Load())
					assert.LessOrEqual(t, calls.Load(), int64(at+64+64), "of 10000 items")
				})
			}
		}
	}
}

// A panic in the body of the loop reaches the caller, after all calls have returned.
func TestPanicInTheBodyOfTheLoop(t *testing.T) {
	quiet(t)
	for _, each := range ways {
		var running atomic.Int64
		assert.PanicsWithValue(t, "body", func() {
			for range each(t.Context(), 100, func(ctx context.Context, i int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				return i, sleep(ctx, time.Duration(i)*time.Millisecond)
			}, pool.Goroutines(8)) {
				panic("body")
			}
		})
		assert.Zero(t, running.Load())
	}
}

// EachSeq reads an item of an endless sequence only if a goroutine is free to run it.
func TestEndlessSequenceIsReadAsNeeded(t *testing.T) {
	for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
		for _, goroutines := range []int{1, 5} {
			quiet(t)
			var read atomic.Int64
			yielded := 0
			for range pool.EachSeq(t.Context(), count(&read), func(_ context.Context, i int) (int, error) {
				return i, nil
			}, pool.Goroutines(goroutines), o) {
				if yielded++; yielded == 2000 {
					break
				}
				if yielded%100 == 0 {
					time.Sleep(2 * time.Millisecond)
				}
				require.LessOrEqual(t, int(read.Load()), yielded+goroutines)
			}
		}
	}
}

// An endless sequence needs no more memory after many items, also if many of the items are copied and restarted.
func TestEndlessSequenceNeedsBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read atomic.Int64
		var l pool.Ledger
		var early, late runtime.MemStats
		r := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		yielded := 0
		for _, result := range pool.EachSeq(t.Context(), count(&read), func(ctx context.Context, i int) (int, error) {
			mu.Lock()
			takes := slowAttempts(r, 0, 0)
			mu.Unlock()
			return i, sleep(ctx, takes)
		}, pool.Goroutines(20), pool.Copies(), pool.Account(&l)) {
			require.NoError(t, result.Err)
			if yielded++; yielded == 2000 {
				runtime.GC()
				runtime.ReadMemStats(&early)
			}
			if yielded == 12000 {
				runtime.GC()
				runtime.ReadMemStats(&late)
				break
			}
		}
		assert.Less(t, int64(late.HeapAlloc)-int64(early.HeapAlloc), int64(200_000), "20 bytes an item")
		assert.Positive(t, l.Won, l)
		assert.Less(t, l.Wasted, 12000*typical)
	})
}

// Slow attempts of a sequence get copies while the sequence waits for its next item.
func TestWaitingSequenceDoesNotDelayCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		items := func(yield func(int) bool) {
			for i := range 10 {
				if !yield(i) {
					return
				}
			}
			time.Sleep(time.Minute)
		}
		var l pool.Ledger
		for _, r := range pool.EachSeq(t.Context(), items, func(ctx context.Context, i int) (int, error) {
			if a, _ := pool.AttemptOf(ctx); i == 8 && a.Number == 0 {
				return i, sleep(ctx, 30*time.Minute)
			}
			return i, sleep(ctx, typical)
		}, pool.Goroutines(4), pool.Copies(), pool.Account(&l)) {
			assert.NoError(t, r.Err)
			assert.Less(t, time.Since(began), 10*typical, "a result is yielded as soon as it is there")
		}
		assert.GreaterOrEqual(t, l.Won, 1)
	})
}

// Each uses the results of items that have ended before the end of ctx. All other items have the cause of ctx.
func TestItemsAfterTheEndOfTheContextHaveItsCause(t *testing.T) {
	why := errors.New("enough")
	for name, each := range ways {
		for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
			quiet(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			var calls atomic.Int64
			got := eachOnce(t, each(ctx, 1000, func(ctx context.Context, i int) (int, error) {
				calls.Add(1)
				if i == 20 {
					cancel(why)
				}
				return i, sleep(ctx, time.Millisecond)
			}, pool.Goroutines(4), o))
			if name == "Each" {
				assert.Len(t, got, 1000)
			} else {
				require.ErrorIs(t, got[len(got)-1].Err, why, "the last index is the index of the item that was not read")
			}
			for i, r := range got {
				if r.Err == nil {
					assert.Equal(t, i, r.Value)
				} else {
					assert.ErrorIs(t, r.Err, why)
				}
			}
			assert.LessOrEqual(t, calls.Load(), int64(30))
			before := calls.Load()
			got = eachOnce(t, each(ctx, 3, func(ctx context.Context, i int) (int, error) { calls.Add(1); return i, nil }, o))
			require.NotEmpty(t, got)
			for _, r := range got {
				assert.ErrorIs(t, r.Err, why)
			}
			assert.Equal(t, before, calls.Load(), "the function is not called after the end of the context")
		}
	}
}

// Each item has the error of an option that is out of range.
func TestEachYieldsTheErrorOfAnOption(t *testing.T) {
	f := func(context.Context, int) (int, error) { return 0, nil }
	assert.Len(t, eachOnce(t, pool.Each(t.Context(), upTo(3), f, pool.Goroutines(-1))), 3)
	for range pool.Each(t.Context(), upTo(3), f, pool.Goroutines(-1)) {
		break
	}
	var read atomic.Int64
	got := eachOnce(t, pool.EachSeq(t.Context(), count(&read), f, pool.Goroutines(-1)))
	require.Len(t, got, 1)
	assert.ErrorContains(t, got[0].Err, "pool: Goroutines is -1")
}

// A restart that is due when ctx ends does not begin: its item has the cause of ctx.
func TestNoRestartAfterTheEndOfTheContext(t *testing.T) {
	why := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var again atomic.Int64
		got := eachOnce(t, pool.Each(ctx, upTo(40), func(ctx context.Context, i int) (int, error) {
			if a, _ := pool.AttemptOf(ctx); a.Number > 0 {
				again.Add(1)
			}
			if i == 19 {
				<-ctx.Done()
				cancel(why) // the attempt was ended for a restart
				return i, ctx.Err()
			}
			return i, sleep(ctx, typical)
		}, pool.Goroutines(2), pool.Restarts()))
		assert.Len(t, got, 40)
		assert.ErrorIs(t, got[19].Err, why)
		assert.Zero(t, again.Load())
	})
}

// A panic of the function is the error of its item. Its stack names the function that has panicked.
func TestPanicIsAnError(t *testing.T) {
	quiet(t)
	f := func(_ context.Context, i int) (int, error) {
		if i == 3 {
			panic(fmt.Errorf("page %d: %w", i, io.ErrUnexpectedEOF))
		}
		return i, nil
	}
	for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
		_, err := pool.Map(t.Context(), upTo(10), f, o)
		got := map[string]error{"Map": err}
		for name, each := range ways {
			results := eachOnce(t, each(t.Context(), 10, f, o))
			require.Len(t, results, 10)
			got[name] = results[3].Err
			assert.Equal(t, 9, results[9].Value)
		}
		for name, err := range got {
			var panicked *pool.PanicError
			require.ErrorAs(t, err, &panicked, name)
			assert.Contains(t, string(panicked.Stack), "TestPanicIsAnError")
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "a panic with an error wraps the error")
			assert.True(t, strings.HasPrefix(err.Error(), "pool: panic: page 3: unexpected EOF\n"), err)
		}
	}
	_, err := pool.Map(t.Context(), upTo(2), f, pool.Work(func(int) float64 { panic("size") }))
	assert.ErrorContains(t, err, "pool: panic: size")
}

// If the function calls runtime.Goexit, its item has an error, and all other items have their results.
func TestGoexitIsTheErrorOfItsItem(t *testing.T) {
	quiet(t)
	for _, each := range ways {
		got := eachOnce(t, each(t.Context(), 100, func(_ context.Context, i int) (int, error) {
			if i%10 == 5 {
				runtime.Goexit()
			}
			return i, nil
		}, pool.Goroutines(3), pool.Copies()))
		require.Len(t, got, 100)
		for i, r := range got {
			assert.Equal(t, i%10 == 5, r.Err != nil)
		}
	}
}

// If the sequence panics or calls runtime.Goexit, the item after its last item has the error.
func TestSequenceThatPanicsIsAnError(t *testing.T) {
	quiet(t)
	for want, end := range map[string]func(){"pool: panic: no more pages": func() { panic("no more pages") },
		"runtime.Goexit": runtime.Goexit} {
		for _, o := range []pool.Option{nil, pool.Copies()} {
			items := func(yield func(int) bool) {
				for i := range 20 {
					if !yield(i) {
						return
					}
				}
				end()
			}
			got := eachOnce(t, pool.EachSeq(t.Context(), items, func(_ context.Context, i int) (int, error) {
				return i, nil
			}, pool.Goroutines(3), o))
			require.Len(t, got, 21)
			assert.ErrorContains(t, got[20].Err, want)
			delete(got, 20)
			for i, r := range got {
				assert.Equal(t, pool.Result[int]{Value: i}, r)
			}
		}
	}
}

// After its timeout an attempt has failed, whatever error it returns. A result is used in spite of the timeout.
func TestTimeoutEndsAnAttempt(t *testing.T) {
	for name, each := range ways {
		for _, o := range []pool.Option{nil, pool.Copies(), pool.Restarts()} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got := eachOnce(t, each(t.Context(), 8, func(ctx context.Context, i int) (int, error) {
					switch i {
					case 1:
						<-ctx.Done()
						return 0, ctx.Err()
					case 2:
						<-ctx.Done()
						return 0, errLuck
					case 3:
						<-ctx.Done()
						return 3, nil
					case 4:
						return 0, errLuck
					}
					return i, sleep(ctx, typical)
				}, pool.Goroutines(8), pool.Timeout(10*typical), pool.Policy(restart.Mantri{MaxRestarts: restart.Off,
					MaxCopies: restart.Off}), o))
				require.Len(t, got, 8, name)
				assert.Equal(t, context.DeadlineExceeded, got[1].Err)
				assert.ErrorIs(t, got[2].Err, context.DeadlineExceeded)
				assert.ErrorIs(t, got[2].Err, errLuck)
				assert.Equal(t, pool.Result[int]{Value: 3}, got[3])
				assert.Equal(t, errLuck, got[4].Err)
				assert.Equal(t, pool.Result[int]{Value: 7}, got[7])
				assert.Equal(t, 10*typical, time.Since(began))
			})
		}
	}
	_, err := pool.Map(t.Context(), upTo(4), func(ctx context.Context, i int) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}, pool.Goroutines(4), pool.Copies(), pool.Timeout(20*time.Millisecond))
	assert.ErrorIs(t, err, context.DeadlineExceeded, "all goroutines hang from the beginning")
}

// If the first attempt has reached its timeout while a copy runs, the result of the copy is used.
func TestCopyWinsAfterTheTimeoutOfTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l pool.Ledger
		got, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
			if a, _ := pool.AttemptOf(ctx); i == 99 && a.Number == 0 {
				<-ctx.Done()
				return i, ctx.Err()
			} else if i == 99 {
				return i, sleep(ctx, 5*typical)
			}
			return i, sleep(ctx, typical)
		}, pool.Goroutines(20), pool.Copies(), pool.Policy(restart.Mantri{MaxRestarts: restart.Off}), pool.Account(&l),
			pool.Timeout(6*typical))
		require.NoError(t, err)
		assert.Equal(t, upTo(100), got)
		assert.Equal(t, 1, l.Failed, l)
		assert.Equal(t, 1, l.Won, l)
	})
}

// The context of each attempt has the index of the item, and the number of the attempt.
func TestContextHasItemAndAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, ok := pool.AttemptOf(t.Context())
		assert.False(t, ok)
		for _, each := range ways {
			for _, o := range []pool.Option{pool.Copies(), pool.Restarts()} {
				var next [100]atomic.Int64
				got := eachOnce(t, each(t.Context(), 100, func(ctx context.Context, i int) (int, error) {
					inner, cancel := context.WithTimeout(ctx, time.Hour)
					defer cancel()
					a, ok := pool.AttemptOf(inner)
					assert.True(t, ok)
					assert.Equal(t, i, a.Item)
					assert.EqualValues(t, next[i].Add(1)-1, a.Number)
					if tenth(i) && a.Number == 0 {
						return i, sleep(ctx, time.Minute)
					}
					return i, sleep(ctx, 10*time.Millisecond)
				}, pool.Goroutines(20), o))
				require.Len(t, got, 100)
				assert.Greater(t, next[7].Load(), int64(1))
			}
		}
	})
}

// An item fails with the error of its first attempt, also while a copy runs. Otherwise Map would wait for the copy.
func TestErrorOfTheFirstAttemptCountsWhileACopyRuns(t *testing.T) {
	f := func(ctx context.Context, i int) (int, error) {
		a, _ := pool.AttemptOf(ctx)
		switch {
		case i < 99:
			return i, sleep(ctx, typical)
		case a.Number == 0:
			time.Sleep(10 * typical)
			return i, errLuck
		}
		return i, sleep(ctx, time.Hour)
	}
	synctest.Test(t, func(t *testing.T) {
		var l pool.Ledger
		options := []pool.Option{pool.Goroutines(20), pool.Copies(), pool.Account(&l),
			pool.Policy(restart.Mantri{MaxRestarts: restart.Off})}
		began := time.Now()
		_, err := pool.Map(t.Context(), upTo(100), f, options...)
		assert.ErrorIs(t, err, errLuck)
		assert.Equal(t, (4+10)*typical, time.Since(began))
		assert.Positive(t, l.Copies)
		got := eachOnce(t, pool.Each(t.Context(), upTo(100), f, options...))
		assert.Len(t, got, 100)
		assert.ErrorIs(t, got[99].Err, errLuck)
		assert.Positive(t, l.Copies)
	})
}

// With Work, an attempt that takes long because its item is large is not slow. Without Work it looks slow.
func TestLargeItemsAreNotSlow(t *testing.T) {
	for name, each := range ways {
		synctest.Test(t, func(t *testing.T) {
			size := func(i int) float64 { return float64(1 + 9*(i%10/9)) }
			run := func(o ...pool.Option) (l pool.Ledger) {
				var mu sync.Mutex
				r := rand.New(rand.NewPCG(3, 4))
				got := eachOnce(t, each(t.Context(), 300, func(ctx context.Context, i int) (int, error) {
					mu.Lock()
					takes := time.Duration(size(i) * (1 + 0.1*r.Float64()) * float64(typical))
					mu.Unlock()
					if a, _ := pool.AttemptOf(ctx); i == 200 && a.Number == 0 {
						takes = time.Hour
					}
					return i, sleep(ctx, takes)
				}, append(o, pool.Goroutines(15), pool.Copies(), pool.Account(&l))...))
				assert.Len(t, got, 300)
				return l
			}
			with, without := run(pool.Work(size)), run(pool.Work[int](nil))
			assert.LessOrEqual(t, with.Copies+with.Restarts, 3, "%s: only the attempt of item 200 hangs", name)
			assert.Greater(t, without.Copies+without.Restarts, 3, name)
			assert.Positive(t, with.Won)
		})
	}
}

// observer is a policy that copies each attempt that has run for longer than 2.5 typical times. If the item has had a
// copy, it sometimes wants a restart. It records the facts that it is given.
type observer struct {
	phases []restart.Phase
	tasks  []restart.Task
}

func (o *observer) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	o.phases, o.tasks = append(o.phases, p), append(o.tasks, t)
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed > 5*typical/2 {
		d.Action = restart.Copy
		if t.Copies > 0 && len(o.tasks)%20 < 10 {
			d.Action = restart.Restart
		}
	}
	return d
}

// The policy is told the facts of a slice or a sequence. After an item has failed, its copy is no longer at risk. An
// attempt that has reached its timeout is known to take at least so long.
func TestPolicyIsToldTheFacts(t *testing.T) {
	for name, each := range ways {
		synctest.Test(t, func(t *testing.T) {
			o, longest, l := new(observer), 0., pool.Ledger{}
			got := eachOnce(t, each(t.Context(), 60, func(ctx context.Context, i int) (int, error) {
				a, _ := pool.AttemptOf(ctx)
				switch {
				case i == 3 && a.Number == 0:
					time.Sleep(5 * typical)
					return i, errLuck
				case i == 3:
					return i, sleep(ctx, time.Hour)
				case i == 20 || i == 59:
					return i, sleep(ctx, time.Hour)
				}
				return i, sleep(ctx, typical)
			}, pool.Goroutines(4), pool.Copies(), pool.Policy(o), pool.Timeout(8*typical),
				pool.OnAction(func(int, restart.Decision) { longest = o.phases[0].Peers.Durations.(*survival.Curve).Longest() }),
				pool.Account(&l)))
			require.Len(t, got, 60)
			assert.Equal(t, errLuck, got[3].Err)
			assert.ErrorIs(t, got[20].Err, context.DeadlineExceeded)
			last := o.phases[len(o.phases)-1]
			assert.Equal(t, name == "EachSeq", last.Stream)
			assert.Equal(t, 60, last.Tasks, "the end of the sequence is known")
			assert.Zero(t, last.Waiting)
			assert.LessOrEqual(t, o.phases[0].Tasks, 60)
			assert.Positive(t, o.phases[0].Waiting)
			atRisk := time.Duration(math.MaxInt64)
			for i, p := range o.phases {
				if p.Finished == 59 && o.tasks[i].Copies == 0 {
					atRisk = min(atRisk, p.Trials.AtRisk)
				}
			}
			assert.Zero(t, l.Restarts, "after a timeout an item gets no restart")
			assert.Zero(t, atRisk, "no copy runs before the last item is copied")
			assert.LessOrEqual(t, slices.MaxFunc(o.tasks, func(a, b restart.Task) int {
				return cmp.Compare(a.Copies, b.Copies)
			}).Copies, 1, "after a timeout an item gets no more copies")
			assert.Greater(t, longest, 7*typical.Seconds())
		})
	}
}

// Each item is yielded once, with its own result or error, whatever the policy decides and however the calls end.
func TestAThousandRandomRounds(t *testing.T) {
	t.Parallel()
	for name, each := range ways {
		for seed := range uint64(500) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				items, goroutines, fails := r.IntN(60), 1+r.IntN(9), r.IntN(3) == 0
				options := []pool.Option{pool.Goroutines(goroutines), pool.Interval(time.Millisecond),
					[]pool.Option{nil, pool.Copies(), pool.Restarts()}[r.IntN(3)],
					[]pool.Option{nil, pool.Policy(wild{r})}[r.IntN(2)],
					[]pool.Option{nil, pool.Timeout(20 * time.Millisecond)}[r.IntN(2)]}
				got := eachOnce(t, each(t.Context(), items, func(ctx context.Context, i int) (int, error) {
					a, _ := pool.AttemptOf(ctx)
					r := rand.New(rand.NewPCG(seed*1000+uint64(i), uint64(a.Number)))
					takes := time.Duration(r.Int64N(int64(6 * time.Millisecond)))
					if r.IntN(20) == 0 {
						takes *= 10
					}
					switch luck := r.IntN(8); {
					case luck < 2:
						time.Sleep(takes)
						return i, nil
					case fails && luck == 3:
						panic(errLuck)
					case fails && luck == 4:
						return i, errLuck
					case fails && luck == 5:
						runtime.Goexit()
					}
					return i, sleep(ctx, takes)
				}, options...))
				assert.Len(t, got, items, "%s %d", name, seed)
				for i, result := range got {
					switch late := errors.Is(result.Err, context.DeadlineExceeded); {
					case result.Err == nil && result.Value != i:
						assert.Equal(t, i, result.Value)
					case result.Err != nil && !fails && !late:
						assert.NoError(t, result.Err, "%s %d", name, seed)
					}
				}
			})
		}
	}
}
