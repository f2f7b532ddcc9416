// Package queuetest checks stores of package queue: every store of this repository, and yours.
//
//	func TestStore(t *testing.T) {
//		queuetest.Test(t, func(t *testing.T) queuetest.Backend { ... })
//	}
//
// The checks run batches and single jobs with real workers, while calls to the store go wrong, coordinators die, two
// coordinators run at once, workers fall silent and come back, and handlers fail. Each job must get one result, which
// never changes. [Memory] is a store in memory that passes them.
package queuetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Backend is a new, empty store that is checked.
type Backend struct {
	Store queue.Store
	// Insert adds a batch, or single jobs if batch is "".
	Insert func(batch string, jobs []queue.Job) error
	// Results returns the results of a batch, or of all single jobs if batch is "", in the order of their insertion.
	// ended is false if a job has not ended.
	Results func(batch string) (all []queue.Result, ended bool, err error)
	// Source is the store as workers see it. If the store's library has workers of its own, Source is nil, and Work
	// starts a worker. stop kills it: it reports nothing more, and the contexts of its handlers end.
	Source queue.Source
	Work   func(t *testing.T, name string, slots int, handle queue.Handler) (stop func())
}

const (
	interval = 20 * time.Millisecond
	silence  = 400 * time.Millisecond
	within   = 30 * time.Second // a batch must end in this time
	kind     = "square"
)

// options are the options of the coordinators in the checks.
func options() queue.Options {
	return queue.Options{
		Interval: interval, Silence: silence, Takeover: silence, Log: slog.New(slog.DiscardHandler),
		Kinds: map[string]queue.Kind{kind: {
			Copies: true, Timeout: 15 * time.Second,
			BackOff: func(_ queue.Job, failures int) time.Duration { return time.Duration(failures) * interval },
		}},
	}
}

// Test checks the stores that open returns.
func Test(t *testing.T, open func(t *testing.T) Backend) {
	for name, check := range map[string]func(*testing.T, Backend){
		"batch": batch, "failures": failures, "hung": hung, "stream": stream, "two coordinators": twoCoordinators,
		"coordinators die": coordinatorsDie, "worker falls silent": workerFallsSilent, "workers restart": workersRestart,
		"fences": fences, "knowledge": knowledge, "rests": rests, "a stream fails": streamFails,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
	for fault := Refused; fault <= Slow; fault++ {
		t.Run("coordinator's calls are "+fault.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t)
			f := &Faults{Fault: fault, At: 1, Every: 7, Delay: 2 * interval}
			b.Store = f.Store(b.Store)
			batch(t, b)
			t.Logf("%d calls", f.Calls())
		})
		t.Run("worker's calls are "+fault.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t)
			if b.Source == nil {
				t.Skip("the workers are the library's own")
			}
			f := &Faults{Fault: fault, At: 3, Every: 5, Delay: 2 * interval}
			b.Source = f.Source(b.Source)
			batch(t, b)
		})
	}
}

// jobs returns n jobs of one kind.
func jobs(n int) []queue.Job {
	var inputs [][]byte
	for i := range n {
		inputs = append(inputs, fmt.Append(nil, i))
	}
	return queue.Batch(kind, inputs...)
}

// square is a handler that takes a moment, and returns the square of its input.
func square(ctx context.Context, input []byte) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(interval):
	}
	var n int
	_, err := fmt.Sscan(string(input), &n)
	return fmt.Append(nil, n*n), err
}

// work starts a worker, and returns a function that kills it.
func (b *Backend) work(t *testing.T, name string, handle queue.Handler) (stop func()) {
	if b.Source == nil {
		return b.Work(t, name, 2, handle)
	}
	source := &mortal{Source: b.Source}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := queue.Worker{Name: name, Slots: 2, Interval: interval / 2, Log: slog.New(slog.DiscardHandler)}
		_ = w.Run(ctx, source, map[string]queue.Handler{kind: handle, "other": handle})
	}()
	stop = sync.OnceFunc(func() {
		source.dead.Store(true)
		cancel()
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

// mortal is a source that answers nothing after its worker's death.
type mortal struct {
	queue.Source
	dead atomic.Bool
}

var errDead = errors.New("queuetest: the worker is dead")

func (m *mortal) Beat(ctx context.Context, b queue.Beat) (queue.Orders, error) {
	if m.dead.Load() {
		return queue.Orders{}, errDead
	}
	return m.Source.Beat(ctx, b)
}

func (m *mortal) End(ctx context.Context, e queue.End) error {
	if m.dead.Load() {
		return nil // as far as this worker is concerned
	}
	return m.Source.End(ctx, e)
}

// serve coordinates the store until the test ends, or until stop is called.
func (b *Backend) serve(t *testing.T, o queue.Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		assert.ErrorIs(t, queue.Serve(ctx, b.Store, o), context.Canceled)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

// wait waits until the jobs have ended. A result must not change once it is there.
func (b *Backend) wait(t *testing.T, batch string) (results []queue.Result) {
	t.Helper()
	known := map[int]string{}
	for deadline := time.Now().Add(within); ; {
		all, ended, err := b.Results(batch)
		require.NoError(t, err)
		for i, r := range all {
			if was, ok := known[i]; ok {
				require.Equal(t, was, r.Attempt, "the result of job %d has changed", i)
			}
			if r.Attempt != "" {
				known[i] = r.Attempt
			}
		}
		if ended {
			return all
		}
		require.True(t, time.Now().Before(deadline), "jobs of %q have not ended after %v: %d of %d have", batch, within,
			len(known), len(all))
		time.Sleep(interval / 4)
	}
}

// squares demands that the results are the squares of 0, 1, 2, ...
func squares(t *testing.T, n int, results []queue.Result) {
	t.Helper()
	require.Len(t, results, n)
	for i, r := range results {
		require.NoError(t, r.Err)
		require.Equal(t, fmt.Sprint(i*i), string(r.Output), "job %d, attempt %s", i, r.Attempt)
	}
}

func batch(t *testing.T, b Backend) {
	b.work(t, "a", square)
	b.work(t, "b", square)
	b.serve(t, options())
	require.NoError(t, b.Insert("first", jobs(20)))
	squares(t, 20, b.wait(t, "first"))
	require.NoError(t, b.Insert("second", jobs(7)))
	squares(t, 7, b.wait(t, "second"))
}

// A job fails three times and is tried again; another one always fails.
func failures(t *testing.T, b Backend) {
	var mu sync.Mutex
	calls := map[string]int{}
	b.work(t, "a", func(ctx context.Context, input []byte) ([]byte, error) {
		mu.Lock()
		calls[string(input)]++
		n := calls[string(input)]
		mu.Unlock()
		switch string(input) {
		case "3":
			if n <= 3 {
				return nil, errors.New("not yet")
			}
		case "4":
			panic("never")
		}
		return square(ctx, input)
	})
	o := options()
	k := o.Kinds[kind]
	k.Tries, k.Copies = 5, false
	o.Kinds[kind] = k
	b.serve(t, o)
	require.NoError(t, b.Insert("x", jobs(6)))
	results := b.wait(t, "x")
	require.Len(t, results, 6)
	require.ErrorContains(t, results[4].Err, "never")
	results[4] = queue.Result{Output: []byte("16")}
	squares(t, 6, results)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, 4, calls["3"])
	assert.Equal(t, 5, calls["4"])
}

// An attempt hangs. The job gets a copy on another worker if its kind allows that, and else a new attempt when the hard
// timeout has passed.
func hung(t *testing.T, b Backend) {
	var hangs sync.Map
	handle := func(ctx context.Context, input []byte) ([]byte, error) {
		if _, again := hangs.LoadOrStore(string(input), true); !again && string(input) == "5" {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return square(ctx, input)
	}
	b.work(t, "a", handle)
	b.work(t, "b", handle)
	o := options()
	stop := b.serve(t, o)
	began := time.Now()
	require.NoError(t, b.Insert("copies", jobs(30)))
	squares(t, 30, b.wait(t, "copies"))
	require.Less(t, time.Since(began), 12*time.Second, "a copy is faster than the timeout")
	stop()

	hangs.Clear()
	o.Kinds[kind] = queue.Kind{Timeout: 2 * time.Second}
	b.serve(t, o)
	began = time.Now()
	require.NoError(t, b.Insert("no copies", jobs(30)))
	squares(t, 30, b.wait(t, "no copies"))
	require.Greater(t, time.Since(began), 2*time.Second, "no copy was allowed")
}

// Single jobs of two kinds come one by one.
func stream(t *testing.T, b Backend) {
	b.work(t, "a", square)
	b.work(t, "b", square)
	b.serve(t, options())
	for i, j := range jobs(30) {
		if i%3 == 0 {
			j.Kind = "other"
		}
		require.NoError(t, b.Insert("", []queue.Job{j}))
		time.Sleep(interval / 4)
	}
	squares(t, 30, b.wait(t, ""))
}

func twoCoordinators(t *testing.T, b Backend) {
	b.work(t, "a", square)
	b.work(t, "b", square)
	b.serve(t, options())
	b.serve(t, options())
	require.NoError(t, b.Insert("x", jobs(40)))
	squares(t, 40, b.wait(t, "x"))
}

// Coordinators die without a word, after a random number of calls, again and again. Now and then a dead coordinator
// goes on.
func coordinatorsDie(t *testing.T, b Backend) {
	handle := func(ctx context.Context, input []byte) ([]byte, error) {
		time.Sleep(10 * interval)
		return square(ctx, input)
	}
	b.work(t, "a", handle)
	b.work(t, "b", handle)
	require.NoError(t, b.Insert("x", jobs(60)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	deaths := 0
	go func() {
		defer close(ended)
		r := rand.New(rand.NewPCG(1, 2))
		var dead *queue.Coordinator
		o := options()
		o.Takeover = interval
		for ctx.Err() == nil {
			f := &Faults{Fault: AnswerLost, At: 2 + r.Int64N(20)}
			c, err := queue.NewCoordinator(f.Store(b.Store), o)
			assert.NoError(t, err)
			for f.Calls() < f.At && ctx.Err() == nil {
				_ = c.Turn(ctx, time.Now())
				time.Sleep(interval / 5)
			}
			if dead != nil && r.IntN(4) == 0 {
				_ = dead.Turn(ctx, time.Now())
			}
			dead = c
			deaths++
			time.Sleep(interval)
		}
	}()
	squares(t, 60, b.wait(t, "x"))
	cancel()
	<-ended
	t.Logf("%d deaths", deaths)
}

// A worker is not heard from for so long that it counts as lost, and comes back.
func workerFallsSilent(t *testing.T, b Backend) {
	if b.Source == nil {
		t.Skip("the workers are the library's own")
	}
	paused := &pausing{Source: b.Source}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := queue.Worker{Name: "a", Slots: 2, Interval: interval / 2, Log: slog.New(slog.DiscardHandler)}
		_ = w.Run(ctx, paused, map[string]queue.Handler{kind: square})
	}()
	defer func() { cancel(); <-ended }()
	b.work(t, "b", square)
	b.serve(t, options())
	for round := range 3 {
		name := fmt.Sprint("round-", round)
		require.NoError(t, b.Insert(name, jobs(40)))
		time.Sleep(3 * interval)
		paused.mu.Lock()
		time.Sleep(2 * silence)
		paused.mu.Unlock()
		squares(t, 40, b.wait(t, name))
	}
}

// pausing is a source that does not answer while its lock is held.
type pausing struct {
	queue.Source
	mu sync.Mutex
}

func (p *pausing) Beat(ctx context.Context, b queue.Beat) (queue.Orders, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Source.Beat(ctx, b)
}

func (p *pausing) End(ctx context.Context, e queue.End) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Source.End(ctx, e)
}

// Workers are killed and started again under the same names.
func workersRestart(t *testing.T, b Backend) {
	b.serve(t, options())
	stop := b.work(t, "a", square)
	b.work(t, "b", square)
	require.NoError(t, b.Insert("x", jobs(60)))
	for range 4 {
		time.Sleep(5 * interval)
		stop()
		time.Sleep(2 * interval)
		stop = b.work(t, "a", square)
	}
	squares(t, 60, b.wait(t, "x"))
}

// A store has one coordinator at a time, and carries out nothing for another one.
func fences(t *testing.T, b Backend) {
	ctx := context.Background()
	const short = 300 * time.Millisecond
	first, _, err := b.Store.Open(ctx, "one", short)
	require.NoError(t, err)
	_, _, err = b.Store.Open(ctx, "two", short)
	require.ErrorIs(t, err, queue.ErrHeld)
	require.NoError(t, b.Store.Commit(ctx, queue.Commit{Epoch: first, Term: short, State: []byte("of one")}))
	again, state, err := b.Store.Open(ctx, "one", short)
	require.NoError(t, err)
	require.Equal(t, "of one", string(state))
	require.Greater(t, again, first)
	require.ErrorIs(t, b.Store.Commit(ctx, queue.Commit{Epoch: first, Term: short}), queue.ErrFenced)
	time.Sleep(short + 100*time.Millisecond)
	second, state, err := b.Store.Open(ctx, "two", short)
	require.NoError(t, err)
	require.Equal(t, "of one", string(state))
	require.ErrorIs(t, b.Store.Commit(ctx, queue.Commit{Epoch: again, Term: short, State: []byte("late")}), queue.ErrFenced)
	require.NoError(t, b.Store.Commit(ctx, queue.Commit{Epoch: second}))
	_, state, err = b.Store.Open(ctx, "three", short)
	require.NoError(t, err, "two has let go")
	require.Equal(t, "of one", string(state))
}

// A single job that rests does not wait before its time. It then has its failures. The commit may come twice.
func rests(t *testing.T, b Backend) {
	ctx := context.Background()
	const pause = 500 * time.Millisecond
	epoch, _, err := b.Store.Open(ctx, "one", time.Minute)
	require.NoError(t, err)
	require.NoError(t, b.Insert("", jobs(2)))
	commit := func(c queue.Commit) {
		c.Epoch, c.Term = epoch, time.Minute
		require.NoError(t, b.Store.Commit(ctx, c))
	}
	waiting := func() []queue.Job {
		all, err := b.Store.Waiting(ctx, 9)
		require.NoError(t, err)
		return all
	}
	both := waiting()
	require.Len(t, both, 2)
	first := both[0]
	commit(queue.Commit{Take: both})
	require.Empty(t, waiting())
	first.Failures = 3
	began := time.Now()
	again := queue.Commit{Rest: []queue.Rest{{Job: first, For: pause}}}
	commit(again)
	early := waiting()
	if time.Since(began) < pause {
		require.Empty(t, early)
	}
	time.Sleep(pause)
	commit(again)
	require.Equal(t, []queue.Job{first}, waiting(), "a job that waits already is not put off")
	commit(queue.Commit{Take: []queue.Job{first}})
	require.Empty(t, waiting())
	commit(queue.Commit{Fail: []queue.Failure{{Job: first, Error: "no"}}})
	commit(again)
	require.Empty(t, waiting(), "it has failed for good")
	commit(queue.Commit{Reset: true})
	require.Equal(t, both[1:], waiting())
}

// Single jobs fail at first, and coordinators die meanwhile. Each job is tried as often as it needs, and a job that
// always fails has failed for good after its tries.
func streamFails(t *testing.T, b Backend) {
	var mu sync.Mutex
	calls := map[string]int{}
	handle := func(ctx context.Context, input []byte) ([]byte, error) {
		mu.Lock()
		calls[string(input)]++
		n := calls[string(input)]
		mu.Unlock()
		if string(input) == "7" || n <= 2 {
			return nil, errors.New("not yet")
		}
		return square(ctx, input)
	}
	b.work(t, "a", handle)
	b.work(t, "b", handle)
	o := options()
	k := o.Kinds[kind]
	k.Tries, k.Copies = 5, false
	o.Kinds[kind] = k
	require.NoError(t, b.Insert("", jobs(12)))
	for range 3 {
		stop := b.serve(t, o)
		time.Sleep(3 * interval)
		stop()
	}
	b.serve(t, o)
	results := b.wait(t, "")
	require.Len(t, results, 12)
	require.ErrorContains(t, results[7].Err, "not yet")
	results[7] = queue.Result{Output: []byte("49")}
	squares(t, 12, results)
	mu.Lock()
	defer mu.Unlock()
	for input, n := range calls {
		want := map[bool]int{true: 5, false: 3}[input == "7"]
		assert.GreaterOrEqual(t, n, want, input)
		assert.LessOrEqual(t, n, want+2, "an attempt begins anew only if it was withdrawn from its worker as it began")
	}
}

// Knowledge is replaced only by a process that has read it.
func knowledge(t *testing.T, b Backend) {
	ctx := context.Background()
	value, version, err := b.Store.Get(ctx, "k")
	require.NoError(t, err)
	require.Nil(t, value)
	require.Zero(t, version)
	require.NoError(t, b.Store.Put(ctx, "k", []byte("one"), version))
	require.ErrorIs(t, b.Store.Put(ctx, "k", []byte("two"), version), queue.ErrConflict)
	value, version, err = b.Store.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "one", string(value))
	require.NoError(t, b.Store.Put(ctx, "k", []byte("three"), version))
	require.ErrorIs(t, b.Store.Put(ctx, "k", []byte("four"), version), queue.ErrConflict)
}
