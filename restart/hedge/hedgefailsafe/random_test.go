package hedgefailsafe_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgefailsafe"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// behaviours are the ways in which a run ends in TestRandomExecutions.
var behaviours = []string{"ok", "error", "panic", "cancel", "timeout", "nil reply"}

// answer is a result, with the execution that it belongs to.
type answer struct{ execution int }

// scene is one execution: how its runs behave, and what they returned.
type scene struct {
	number    int
	behaviour string
	first     bool // the first run of a request behaves so
	second    bool // the second run of a request behaves so
	retried   int  // the runs after so many runs are ok
	cancel    context.CancelFunc
	lock      sync.Mutex
	oks, nils int // runs that returned an answer, and that returned nil without an error
	begun     int
	run       func(failsafe.Execution[*answer]) (*answer, error)
}

// run is an execution inside of a run.
type run struct {
	failsafe.Execution[*answer]
	second bool
}

func (r run) IsHedge() bool { return r.second }

var errBroken = errors.New("broken")

// once is the function that is executed.
func (s *scene) once(exec failsafe.Execution[*answer]) (result *answer, err error) {
	s.lock.Lock()
	s.begun++
	behaves := s.first
	if exec.IsHedge() {
		behaves = s.second
	}
	behaves = behaves && s.begun <= s.retried
	s.lock.Unlock()
	defer func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		switch {
		case err == nil && result != nil:
			s.oks++
		case err == nil:
			s.nils++
		}
	}()
	short := time.Duration(rand.IntN(400)) * time.Microsecond
	if rand.IntN(4) == 0 { // the run is deaf
		time.Sleep(short)
	} else {
		select {
		case <-time.After(short):
		case <-exec.Canceled():
			return nil, context.Canceled
		}
	}
	if !behaves {
		return &answer{s.number}, nil
	}
	switch s.behaviour {
	case "error":
		return nil, errBroken
	case "panic":
		panic(s.number)
	case "cancel":
		s.cancel()
	case "timeout":
		<-exec.Canceled()
		return nil, context.Canceled
	case "nil reply":
		return nil, nil
	}
	return &answer{s.number}, nil
}

// Random executions crash no process, leave no goroutine and return a result of their own, whoever behaves badly, and
// whether retries are inside or outside. STRAGGLER_EXECUTIONS sets their number.
func TestRandomExecutions(t *testing.T) {
	n := 5000
	if text := os.Getenv("STRAGGLER_EXECUTIONS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	rule, err := hedgerules.New(hedgerules.Fixed(150 * time.Microsecond))
	require.NoError(t, err)
	route := hedged.NewRoute(rule)
	facts := func(context.Context) hedge.Request { return hedge.Request{Safe: true} }
	anyEnd := hedgefailsafe.New[*answer](route, facts)
	answered := hedgefailsafe.New(route, facts, func(b hedgepolicy.Builder[*answer]) {
		b.CancelIf(func(_ *answer, err error) bool { return err == nil })
	})
	retries := retrypolicy.NewBuilder[*answer]().WithMaxRetries(2).HandleErrors(errBroken, timeout.ErrExceeded).Build()
	short := timeout.New[*answer](2 * time.Millisecond)

	before := runtime.NumGoroutine()
	kinds, places := map[string]int{}, 64
	ends := sync.Map{}
	var all sync.WaitGroup
	free := make(chan struct{}, places)
	for i := range n {
		s := &scene{number: i, behaviour: behaviours[i%6], first: i/6%3 != 1, second: i/6%3 != 0,
			retried: []int{2, 100}[rand.IntN(2)]}
		policy, inside := answered, i/18%2 == 0
		if rand.IntN(2) == 0 {
			policy = anyEnd
		}
		executor := failsafe.With(retries, policy, short)
		s.run = s.once
		if inside {
			executor = failsafe.With(policy)
			s.run = func(exec failsafe.Execution[*answer]) (*answer, error) {
				return failsafe.With(retries, short).WithContext(exec.Context()).GetWithExecution(
					func(inner failsafe.Execution[*answer]) (*answer, error) { return s.once(run{inner, exec.IsHedge()}) })
			}
		}
		kinds[fmt.Sprint(s.behaviour, s.first, s.second, inside)]++
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			ends.Store(s.number, s.check(t, executor))
		})
	}
	all.Wait()
	for kind, count := range kinds {
		assert.GreaterOrEqual(t, count, n/36, kind)
	}
	require.Len(t, kinds, 36)
	count := map[string]int{}
	ends.Range(func(_, end any) bool { count[end.(string)]++; return true })
	t.Log(count)
	for _, end := range []string{"answer", "broken", "panic", "cancelled", "timeout", "nil"} {
		assert.Positive(t, count[end], end)
	}
	for limit := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before, "goroutines that are left")
}

// check executes a scene, and returns how it has ended.
func (s *scene) check(t *testing.T, executor failsafe.Executor[*answer]) (end string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.cancel = cancel
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		end = "panic"
		err, ok := value.(*hedged.PanicError)
		if assert.True(t, ok, "%v", value) {
			assert.Equal(t, "panic", s.behaviour)
			assert.Equal(t, s.number, err.Value)
		}
	}()
	result, err := executor.WithContext(ctx).GetWithExecution(s.run)
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case err == nil && result != nil:
		assert.Equal(t, s.number, result.execution)
		assert.Positive(t, s.oks)
		return "answer"
	case err == nil:
		assert.Equal(t, "nil reply", s.behaviour)
		assert.Positive(t, s.nils)
		return "nil"
	case errors.Is(err, errBroken):
		assert.Equal(t, "error", s.behaviour)
		return "broken"
	case errors.Is(err, context.Canceled):
		assert.Equal(t, "cancel", s.behaviour)
		return "cancelled"
	case errors.Is(err, timeout.ErrExceeded):
		return "timeout"
	}
	assert.Fail(t, "unexpected", "%v: %v", s.behaviour, err)
	return ""
}
