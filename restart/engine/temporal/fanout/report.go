package fanout

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// Report reports how much work the activity has done since it began. done is in the units of Task.Work, or a share from
// 0 to 1 if the task has no Work. Call Report a few times in each interval: it only records the number, and the SDK
// sends it with the next heartbeat. Further details of the heartbeat follow done, so activity.GetHeartbeatDetails
// returns done first.
//
// An activity that does not know its progress calls activity.RecordHeartbeat without details. The heartbeat shows that
// the activity lives, and brings the activity its cancellation. If no activity reports progress, ages are compared.
func Report(ctx context.Context, done float64, details ...any) {
	activity.RecordHeartbeat(ctx, append([]any{done}, details...)...)
}

// WorkerOptions returns the options of a worker with a number of slots. The worker sends heartbeats twice in an
// interval and runs no workflows. interval is the Interval of Map or Watch; 0 means a second.
//
// An activity of this worker has no result if its context has ended, because it was cancelled or reset, or because the
// worker stops. The activity may have stopped halfway, whatever it returns.
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

// noLateResults is an interceptor that drops a result if the context of the activity has ended.
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
