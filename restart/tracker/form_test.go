package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// One of each kind as this version writes it, which every later one reads, or refuses by the number of its version.
func TestFormOfThisVersion(t *testing.T) {
	wiretest.Same(t, tracker.Answer{Task: 7, Attempt: 3, Decision: restart.Decision{
		Action: restart.Kill, Reason: restart.SlowerCopy, Copy: 1, Remaining: 9 * time.Second,
	}}, "task=7 kill slower-copy attempt=3 remaining=9s",
		`{"task":7,"attempt":3,"action":"kill","reason":"slower-copy","copy":1,"remaining":9}`)
	wiretest.Same(t, tracker.Event{
		Kind: tracker.Reported, Time: time.Unix(1e9, 5).UTC(), Task: 3, Report: tracker.Report{Done: 0.25, Remaining: 90 * time.Second},
	}, "report time=2001-09-09T01:46:40.000000005Z task=3 attempt=0 done=0.25 remaining=90s",
		`{"kind":"report","time":"2001-09-09T01:46:40.000000005Z","task":3,"attempt":0,"done":0.25,"remaining":90}`)
	wiretest.Same(t, tracker.Ledger{Started: 5, Restarts: 2, BadAnswers: 1, Used: time.Minute},
		"started=5 restarts=2 bad-answers=1 used=60s", `{"started":5,"restarts":2,"bad-answers":1,"used":60}`)

	b, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 100, Rate: restart.Off})
	require.NoError(t, err)
	b.CopyLaunched()
	snapshottest.Same(t, "02c8019a9999999999b93f000000000000f0bf06c801020000000000000040fc4d20a5", b)
}
