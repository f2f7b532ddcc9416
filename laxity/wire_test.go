package laxity

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersReadBack(t *testing.T) {
	for _, left := range []time.Duration{0, 1, -time.Minute, estimate.Unknown, NoDeadline} {
		wiretest.Through(t, Choice{Reason: Reason(1), Ticket: 0, Laxity: left, UntilDeadline: left})
		wiretest.Through(t, Transfer{Move: left > 0, Reason: Reason(2), Laxity: left})
	}
	wiretest.Through(t, Choice{Ticket: -1})
}

func TestPoliciesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{Rule: DeadlineFirst, Margin: time.Second}, `{"rule":"deadline-first","margin":1}`)
}
