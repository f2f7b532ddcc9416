package fanout

import (
	"context"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
)

// Seen is a running activity as Temporal shows it. The history holds it as JSON, so its fields keep their names.
type Seen struct {
	ID    string    // the activity's ID
	Host  string    // the worker's identity
	Begun time.Time // when the activity began, by the server's clock
	AsOf  time.Time // the time of the last heartbeat; zero: none
	Done  float64   // the number of [Report]
}

// Snapshot lists the running activities of its own workflow with an ID that begins with prefix. Map runs Snapshot as a
// local activity, so the history holds its result. Snapshot returns the error of the server.
func Snapshot(ctx context.Context, prefix string) ([]Seen, error) {
	return SnapshotWith(ctx, prefix, converter.GetDefaultDataConverter())
}

// SnapshotWith is [Snapshot] with another data converter for the heartbeats.
func SnapshotWith(ctx context.Context, prefix string, c converter.DataConverter) ([]Seen, error) {
	run := activity.GetInfo(ctx).WorkflowExecution
	d, err := activity.GetClient(ctx).DescribeWorkflowExecution(ctx, run.ID, run.RunID)
	if err != nil {
		return nil, err
	}
	var all []Seen
	for _, p := range d.GetPendingActivities() {
		if strings.HasPrefix(p.GetActivityId(), prefix) && running(p) {
			all = append(all, toSeen(p, c))
		}
	}
	return all, nil
}

// running reports whether a worker runs the activity. A cancelled activity runs until it has stopped.
func running(p *workflowpb.PendingActivityInfo) bool {
	switch p.GetState() {
	case enumspb.PENDING_ACTIVITY_STATE_STARTED, enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
		enumspb.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
		return p.GetLastStartedTime() != nil
	}
	return false
}

// toSeen converts a pending activity. A heartbeat without a number shows that the activity lives, without progress.
func toSeen(p *workflowpb.PendingActivityInfo, c converter.DataConverter) Seen {
	s := Seen{ID: p.GetActivityId(), Host: p.GetLastWorkerIdentity(), Begun: p.GetLastStartedTime().AsTime()}
	if t := p.GetLastHeartbeatTime(); t != nil && !t.AsTime().Before(s.Begun) {
		s.AsOf = t.AsTime()
		if details := p.GetHeartbeatDetails().GetPayloads(); len(details) > 0 {
			if err := c.FromPayload(details[0], &s.Done); err != nil {
				s.Done = 0
			}
		}
	}
	return s
}
