package laxity

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Choice{Reason: Reason(1)},
		`least-laxity ticket=0 laxity=0s until-deadline=0s`,
		`{"reason":"least-laxity","ticket":0,"laxity":0,"until-deadline":0}`)
	wiretest.Same(t, Choice{Reason: Reason(1), Laxity: 1, UntilDeadline: NoDeadline},
		`least-laxity ticket=0 laxity=1e-09s until-deadline=inf`,
		`{"reason":"least-laxity","ticket":0,"laxity":0.000000001,"until-deadline":9223372036.854775807}`)
	wiretest.Same(t, Transfer{Reason: Reason(2), Laxity: -time.Minute},
		`stay earliest-deadline laxity=-60s`, `{"move":false,"reason":"earliest-deadline","laxity":-60}`)
	wiretest.Same(t, Transfer{Move: true, Reason: Reason(2), Laxity: estimate.Unknown},
		`move earliest-deadline`, `{"move":true,"reason":"earliest-deadline"}`)
	wiretest.Same(t, Choice{Ticket: -1}, `no-reason`, `{"reason":"no-reason"}`)
}

func TestPoliciesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{Rule: DeadlineFirst, Margin: time.Second}, `{"rule":"deadline-first","margin":1}`)
}
