package gate

import (
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Answer{},
		`wait not-asked have=0 limit=0`, `{"action":"wait","reason":"not-asked","have":0,"limit":0}`)
	wiretest.Same(t, Answer{Action: Admit, Reason: BelowLimits, Have: 3, Limit: math.MaxInt64},
		`admit below-limits have=3 limit=off`, `{"action":"admit","reason":"below-limits","have":3,"limit":null}`)
	wiretest.Same(t, Eviction{Job: -1, Leader: -1}, `keep latest-submitted`, `{"rule":"latest-submitted"}`)
	wiretest.Same(t, Eviction{Job: -1, Leader: 0, Rule: LeastProgress},
		`keep least-progress leader=0`, `{"rule":"least-progress","leader":0}`)
	wiretest.Same(t, Eviction{Job: 2, Leader: 0, Bytes: 50},
		`evict latest-submitted job=2 leader=0 bytes=50`,
		`{"rule":"latest-submitted","job":2,"leader":0,"bytes":50}`)
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Config{MaxCopying: Off, Reserved: 2, Memory: 1 << 40, MaxNetwork: .9},
		`{"max-copying":-1,"reserved":2,"memory":1099511627776,"max-network":0.9}`)
}
