package hedgefailsafe

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/common"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/policy"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

// Facts returns the facts about a request: its class, its size, and whether it may be sent twice.
type Facts func(ctx context.Context) hedge.Request

// New returns a hedge policy of failsafe-go for which the rule of the route decides. The function facts must not be nil.
// Each function of configure may set the options of the hedge policy, such as CancelIf or OnHedge. The policy starts at
// most one second run, whatever WithMaxHedges says. It is safe for concurrent use, and for many executors.
func New[R any](route *hedged.Route, facts Facts, configure ...func(hedgepolicy.Builder[R])) failsafe.Policy[R] {
	builder := hedgepolicy.NewBuilderWithDelayFunc(delay[R])
	for _, set := range configure {
		set(builder)
	}
	return &hedging[R]{route: route, facts: facts, hedges: builder.Build()}
}

// hedging is the policy that New returns.
type hedging[R any] struct {
	route  *hedged.Route
	facts  Facts
	hedges hedgepolicy.HedgePolicy[R]
}

// ToExecutor returns the executor for one execution. failsafe-go calls it.
func (h *hedging[R]) ToExecutor(token R) any {
	return &executor[R]{h.hedges.ToExecutor(token).(policy.Executor[R]), h}
}

// executor is the executor of the hedge policy, with an operation of the rule around each first run.
type executor[R any] struct {
	policy.Executor[R]
	hedging *hedging[R]
}

// Apply starts an operation each time that an outer policy, such as a retry policy, runs the hedge policy.
func (e *executor[R]) Apply(
	inner func(failsafe.Execution[R]) *common.PolicyResult[R],
) func(failsafe.Execution[R]) *common.PolicyResult[R] {
	return func(exec failsafe.Execution[R]) *common.PolicyResult[R] {
		x := exec.(policy.ExecutionInternal[R])
		if cancelled, result := x.IsCanceledWithResult(); cancelled {
			return result
		}
		o := &operation[R]{route: e.hedging.route, inner: inner, ended: make(chan struct{})}
		request := e.hedging.facts(exec.Context())
		if deadline, ok := exec.Context().Deadline(); ok && request.Timeout == 0 {
			request.Timeout = max(time.Until(deadline), 1)
		}
		o.id, o.decision = o.route.Start(request)
		result := e.Executor.Apply(o.run)(execution[R]{x, o, hedge.First})
		if err, ok := result.Error.(panicked); ok {
			panic(err.PanicError)
		}
		return result
	}
}

// execution is an execution of failsafe-go that knows its operation. The hedge policy makes a copy for each run.
type execution[R any] struct {
	policy.ExecutionInternal[R]
	operation *operation[R]
	attempt   hedge.Attempt
}

// CopyForCancellable returns the execution of the first run.
func (e execution[R]) CopyForCancellable() failsafe.Execution[R] {
	return execution[R]{e.ExecutionInternal.CopyForCancellable().(policy.ExecutionInternal[R]), e.operation, hedge.First}
}

// CopyForHedge returns the execution of a second run.
func (e execution[R]) CopyForHedge() failsafe.Execution[R] {
	return execution[R]{e.ExecutionInternal.CopyForHedge().(policy.ExecutionInternal[R]), e.operation, hedge.Second}
}

// Cancel ends a run. If the result is the first run's own, which a refused second run has returned, the first run is the
// winner: its context may still be needed, such as to read the body of a response.
func (e execution[R]) Cancel(result *common.PolicyResult[R]) {
	if e.attempt == hedge.First {
		select {
		case <-e.operation.ended:
			if result == e.operation.again {
				result = nil
			}
		default:
		}
	}
	e.ExecutionInternal.Cancel(result)
}

// delay is the delay function of the hedge policy. After a negative delay the hedge policy starts no second run.
func delay[R any](exec failsafe.ExecutionAttempt[R]) time.Duration {
	if d := exec.(execution[R]).operation.decision; d.Action == hedge.Wait {
		return d.After
	}
	return -1
}

// operation is a first run, and the second run beside it.
type operation[R any] struct {
	route    *hedged.Route
	id       hedge.ID
	decision hedge.Decision
	inner    func(failsafe.Execution[R]) *common.PolicyResult[R]
	// True when a second run has begun.
	second atomic.Bool
	// Closed when the first run has ended.
	ended chan struct{}
	// The result of the first run, as a refused second run returns it.
	again *common.PolicyResult[R]
}

// panicked is the error of a run that has panicked.
type panicked struct{ *hedged.PanicError }

// run is a run of the operation. It tells the rule how the run ends.
func (o *operation[R]) run(exec failsafe.Execution[R]) *common.PolicyResult[R] {
	x := exec.(execution[R])
	if x.attempt == hedge.Second && !o.allows(x) {
		select {
		case <-x.Canceled():
			_, result := x.IsCanceledWithResult()
			return result
		case <-o.ended: // the policy may wait for this run, too, and returns its result
			return o.again
		}
	}
	result := o.call(x.ExecutionInternal)
	outcome := hedge.Failed
	switch {
	case result.Error == nil:
		outcome = hedge.Answered
	case x.IsCanceled():
		outcome = hedge.Cancelled
	}
	o.route.Done(o.id, x.attempt, outcome)
	if x.attempt == hedge.First {
		again := *result
		o.again = &again
		close(o.ended)
	}
	return result
}

// errGoexit is the error of a run that has called runtime.Goexit.
var errGoexit = errors.New("hedgefailsafe: a run has called runtime.Goexit")

// call calls what the hedge policy surrounds: the function, or the policies inside. The call has a goroutine of its own,
// because failsafe-go would wait forever for a run that ends its goroutine. A panic would end the process. So the panic
// becomes an error, and Apply panics with it on the goroutine of the caller.
func (o *operation[R]) call(exec failsafe.Execution[R]) *common.PolicyResult[R] {
	results := make(chan *common.PolicyResult[R], 1)
	go func() {
		result := &common.PolicyResult[R]{Error: errGoexit, Done: true}
		defer func() {
			if value := recover(); value != nil {
				err := panicked{&hedged.PanicError{Value: value, Stack: debug.Stack()}}
				result = &common.PolicyResult[R]{Error: err, Done: true}
			}
			results <- result
		}()
		result = o.inner(exec)
	}()
	return <-results
}

// allows asks the rule for the second run, and again when the rule says so. failsafe-go has decided after the delay of
// the first decision that the run starts, and the rule may have another answer now.
func (o *operation[R]) allows(x execution[R]) bool {
	if o.second.Swap(true) {
		return false
	}
	for {
		switch d := o.route.Late(o.id); d.Action {
		case hedge.Send:
			return true
		case hedge.Wait:
			select {
			case <-time.After(d.After):
			case <-o.ended:
				return false
			case <-x.Canceled():
				return false
			}
		default:
			return false
		}
	}
}
