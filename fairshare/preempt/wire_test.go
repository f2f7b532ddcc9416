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

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Config{}, `{}`)
	wiretest.Settings(t, Config{
		Timeouts: Timeouts{Min: time.Minute, Fair: Off}, Target: ToThreshold, Cooldown: Off, ByMachine: true,
		Pools: []PoolConfig{{Protected: true}, {Timeouts: Timeouts{Fair: time.Hour}}},
	}, `{"timeouts":{"min":60,"fair":-1},"target":"to-threshold","cooldown":-1,"by-machine":true,`+
		`"pools":[{"protected":true},{"timeouts":{"fair":3600}}]}`)
}
