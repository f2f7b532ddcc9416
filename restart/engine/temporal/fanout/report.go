package fanout

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// Report reports how much work an activity has done since it began. done is in the unit of Task.Work. If the task has
// no Work, done is the share of the work that is done, from 0 to 1. Call Report a few times in each Options.Interval.
// Report only records a heartbeat, and the SDK sends the heartbeats at intervals. done is the first detail of the
// heartbeat, and the arguments details follow it. So activity.GetHeartbeatDetails returns done first.
//
// If an activity does not know its progress, it should call activity.RecordHeartbeat without details. Such a
// heartbeat shows that the activity is alive. The answer to it tells the activity whether it is cancelled. If no
// activity reports progress, the policy compares how long activities have run.
func Report(ctx context.Context, done float64, details ...any) {
	activity.RecordHeartbeat(ctx, append([]any{done}, details...)...)
}

// WorkerOptions returns the options for a worker that runs at most the given number of activities at once. The worker
// sends the heartbeats of an activity up to twice in each interval, and runs no workflows. interval is the Interval
// in the options of Map or Watch; 0 means a second.
//
// If the context of an activity has ended, a worker with these options discards the activity's result and returns an
// error to the server. A context ends if the activity is cancelled or reset, or if the worker stops. The reason: the
// activity may have stopped halfway, even if it returns no error.
func WorkerOptions(slots int, interval time.Duration) worker.Options {
	if interval <= 0 {
		interval = defaultInterval
	}
	return worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		MaxHeartbeatThrottleInterval:       interval / 2,
		DefaultHeartbeatThrottleInterval:   interval / 2,
		DisableWorkflowWorker:              true,
		Interceptors:                       []interceptor.WorkerInterceptor{&noLateResults{}},
	}
}

// noLateResults is a worker interceptor. It replaces the result of an activity by an error if the context of the
// activity has ended.
type noLateResults struct {
	interceptor.WorkerInterceptorBase
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (*noLateResults) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	return &noLateResultsActivity{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type noLateResultsActivity struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (a *noLateResultsActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := a.Next.ExecuteActivity(ctx, in)
	if err == nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, err
}
