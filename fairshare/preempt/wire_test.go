package preempt

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Claim{},
		`claim no-cause pool=0 deficit=0 waited=0s usage=0 due=0 granted=0`,
		`{"cause":"no-cause","pool":0,"deficit":0,"waited":0,"usage":0,"due":0,"granted":0}`)
	wiretest.Same(t, Claim{Pool: 1, Cause: BelowShare, Deficit: 2, Waited: time.Minute + 1, Usage: 3, Due: 4, Granted: 2},
		`claim below-share pool=1 deficit=2 waited=60s usage=3 due=4 granted=2`,
		`{"cause":"below-share","pool":1,"deficit":2,"waited":60.000000001,"usage":3,"due":4,"granted":2}`)
	wiretest.Same(t, Victim{Task: 3, For: 1, Reason: AcrossShare},
		`kill across-share task=3 for=1`, `{"reason":"across-share","task":3,"for":1}`)
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Config{}, `{}`)
	wiretest.Settings(t, Config{
		Timeouts: Timeouts{Min: time.Minute, Fair: Off}, Target: ToThreshold, Cooldown: Off, ByMachine: true,
		Pools: []PoolConfig{{Protected: true}, {Timeouts: Timeouts{Fair: time.Hour}}},
	}, `{"timeouts":{"min":60,"fair":-1},"target":"to-threshold","cooldown":-1,"by-machine":true,`+
		`"pools":[{"protected":true},{"timeouts":{"fair":3600}}]}`)
}
