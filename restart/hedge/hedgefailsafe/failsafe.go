package hedgefailsafe

import (
	"context"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

// key is the key of the operation in a context.
type key struct{}

// execution is one execution under the hedge policy. Retries around the policy run it several times.
type execution struct {
	route   *hedged.Route
	request hedge.Request
	lock    sync.Mutex
	latest  *operation
}

// operation is a first run, and the second run beside it.
type operation struct {
	id    hedge.ID
	first hedge.Decision
	// Closed when the first run has ended with the result and the error.
	ended  chan struct{}
	result any
	err    error
}

// With returns a context for one execution with the facts about its request. Do not use it for another execution.
func With(ctx context.Context, route *hedged.Route, request hedge.Request) context.Context {
	return context.WithValue(ctx, key{}, &execution{route: route, request: request})
}

// of returns the execution of a context, or nil.
func of[R any](exec failsafe.ExecutionAttempt[R]) *execution {
	if exec, ok := exec.(failsafe.Execution[R]); ok {
		x, _ := exec.Context().Value(key{}).(*execution)
		return x
	}
	return nil
}

// operation returns the operation that runs. If its first run has ended, and anew is true, operation starts the next
// one. The delay function and the first run ask at the same time, in any order.
func (x *execution) operation(anew bool) *operation {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.latest != nil {
		select {
		case <-x.latest.ended:
			if !anew {
				return x.latest
			}
		default:
			return x.latest
		}
	}
	o := &operation{ended: make(chan struct{})}
	o.id, o.first = x.route.Start(x.request)
	x.latest = o
	return o
}

// Delay is the delay function of the hedge policy. It returns a negative delay, by which failsafe-go starts no second
// run, if the rule refuses one, and if the execution has no context of [With].
func Delay[R any](exec failsafe.ExecutionAttempt[R]) time.Duration {
	if x := of(exec); x != nil {
		if d := x.operation(false).first; d.Action == hedge.Wait {
			return d.After
		}
	}
	return -1
}

// Func returns the function to run: f, with the rule told of its end. The function f asks exec.IsHedge whether it is
// the second run.
func Func[R any](f func(exec failsafe.Execution[R]) (R, error)) func(exec failsafe.Execution[R]) (R, error) {
	return func(exec failsafe.Execution[R]) (result R, err error) {
		x := of[R](exec)
		if x == nil {
			return f(exec)
		}
		attempt, o := hedge.First, x.operation(!exec.IsHedge())
		if exec.IsHedge() {
			attempt = hedge.Second
			if !x.allows(o, exec.Canceled()) {
				select {
				case <-exec.Canceled(): // the first run may be writing its result
					return result, context.Canceled
				case <-o.ended: // the policy waits for this run, too, and returns its result
					result, _ = o.result.(R)
					return result, o.err
				}
			}
		}
		outcome := hedge.Failed // also if f panics
		defer func() {
			x.route.Done(o.id, attempt, outcome)
			if attempt == hedge.First {
				o.result, o.err = result, err
				close(o.ended)
			}
		}()
		result, err = f(exec)
		switch {
		case err == nil:
			outcome = hedge.Answered
		case exec.IsCanceled():
			outcome = hedge.Cancelled
		}
		return result, err
	}
}

// allows asks the rule for the second run, again if it says so.
func (x *execution) allows(o *operation, cancelled <-chan struct{}) bool {
	for {
		switch d := x.route.Late(o.id); d.Action {
		case hedge.Send:
			return true
		case hedge.Wait:
			select {
			case <-time.After(d.After):
			case <-cancelled:
				return false
			}
		default:
			return false
		}
	}
}
