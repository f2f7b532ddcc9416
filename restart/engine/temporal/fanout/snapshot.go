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

// Seen is the state of a running activity, as the Temporal server shows it. The workflow's history contains it as
// JSON, so the names of the fields in JSON must not change.
type Seen struct {
	ID string // ID of the activity
	// Machine is the identity of the worker that runs the activity.
	Machine string    `json:"Host"`
	Begun   time.Time // when the activity began, by the server's clock
	AsOf    time.Time // when the last heartbeat was sent; zero: there was none
	Done    float64   // the last number that the activity has passed to [Report]
}

// Snapshot is a local activity. It lists the running activities of the workflow that calls it, if their IDs begin
// with prefix. [Map] runs it at each poll. Because it is a local activity, the workflow's history contains the list.
// If the server returns an error, Snapshot returns this error.
func Snapshot(ctx context.Context, prefix string) ([]Seen, error) {
	return SnapshotWith(ctx, prefix, converter.GetDefaultDataConverter())
}

// SnapshotWith does the same as [Snapshot], but decodes the heartbeats with the data converter c.
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

// running reports whether a worker runs the activity. A cancelled activity still runs until it has returned.
func running(p *workflowpb.PendingActivityInfo) bool {
	switch p.GetState() {
	case enumspb.PENDING_ACTIVITY_STATE_STARTED, enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
		enumspb.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
		return p.GetLastStartedTime() != nil
	}
	return false
}

// toSeen converts the server's data about a pending activity to a Seen. If the last heartbeat contains no number,
// Done is 0 and AsOf is the time of the heartbeat.
func toSeen(p *workflowpb.PendingActivityInfo, c converter.DataConverter) Seen {
	s := Seen{ID: p.GetActivityId(), Machine: p.GetLastWorkerIdentity(), Begun: p.GetLastStartedTime().AsTime()}
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
