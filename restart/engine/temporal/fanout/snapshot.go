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

// Seen is what Temporal shows of an activity that runs.
type Seen struct {
	ID    string
	Host  string // the worker's identity
	Begun time.Time
	AsOf  time.Time // of the last heartbeat; zero if there was none
	Done  float64
}

// Snapshot lists the running activities of its own workflow whose ID begins with the prefix. Map runs it as a local
// activity: what it returns is recorded in the history.
func Snapshot(ctx context.Context, prefix string) ([]Seen, error) {
	return SnapshotWith(ctx, prefix, converter.GetDefaultDataConverter())
}

// SnapshotWith is [Snapshot] for heartbeats that another converter reads.
func SnapshotWith(ctx context.Context, prefix string, c converter.DataConverter) ([]Seen, error) {
	run := activity.GetInfo(ctx).WorkflowExecution
	d, err := activity.GetClient(ctx).DescribeWorkflowExecution(ctx, run.ID, run.RunID)
	if err != nil {
		return nil, err
	}
	var all []Seen
	for _, p := range d.GetPendingActivities() {
		if strings.HasPrefix(p.GetActivityId(), prefix) && running(p) {
			all = append(all, see(p, c))
		}
	}
	return all, nil
}

// running reports whether a worker has the activity: it has begun, or was told to stop and has not yet.
func running(p *workflowpb.PendingActivityInfo) bool {
	switch p.GetState() {
	case enumspb.PENDING_ACTIVITY_STATE_STARTED, enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
		enumspb.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
		return p.GetLastStartedTime() != nil
	}
	return false
}

// see reads an activity. Heartbeats of another form than Report's count as a sign of life without progress.
func see(p *workflowpb.PendingActivityInfo, c converter.DataConverter) Seen {
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
