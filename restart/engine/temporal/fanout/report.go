package fanout

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// Report tells how much work the activity has done since it began, in the units of Task.Work, or as a share of 1 if the
// task has none. Call it a few times in each interval; it only notes the number, and the SDK sends it when it is time.
// What else a heartbeat is to carry follows: activity.GetHeartbeatDetails gives done first.
//
// An activity that does not know how far it is calls activity.RecordHeartbeat without details, so that it is known to
// live and hears that it is cancelled. Where no activity of a fan-out knows, their ages decide.
func Report(ctx context.Context, done float64, details ...any) {
	activity.RecordHeartbeat(ctx, append([]any{done}, details...)...)
}

// WorkerOptions are those of a host with so many slots: heartbeats go out twice in an interval, and no workflow runs
// there. The interval is Map's or Watch's; 0 is a second here, too. An activity whose context has ended, since it was
// cancelled or reset, or its worker stops, has no result there, whatever it returns: it may have ended halfway.
func WorkerOptions(slots int, interval time.Duration) worker.Options {
	if interval <= 0 {
		interval = defaultInterval
	}
	return worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		MaxHeartbeatThrottleInterval:       interval / 2,
		DefaultHeartbeatThrottleInterval:   interval / 2,
		DisableWorkflowWorker:              true,
		Interceptors:                       []interceptor.WorkerInterceptor{&whole{}},
	}
}

// whole takes no result of an activity whose context has ended.
type whole struct {
	interceptor.WorkerInterceptorBase
}

func (*whole) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	return &wholeActivity{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type wholeActivity struct {
	interceptor.ActivityInboundInterceptorBase
}

func (a *wholeActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := a.Next.ExecuteActivity(ctx, in)
	if err == nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, err
}
