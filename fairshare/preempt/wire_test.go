package preempt

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersReadBack(t *testing.T) {
	wiretest.Through(t, Claim{})
	wiretest.Through(t, Claim{Pool: 1, Cause: BelowShare, Deficit: 2, Waited: time.Minute + 1, Usage: 3, Due: 4, Granted: 2})
	wiretest.Through(t, Victim{Task: 3, For: 1, Reason: AcrossShare})
}
