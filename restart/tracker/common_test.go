package tracker_test

import (
	"flag"
	"runtime/debug"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time. Benchmarks are measured as a host would run the code.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(800)
	}
	m.Run()
}

// start is an arbitrary time at which the tests begin, because the package reads no clock.
var start = time.Unix(0, 0)

const minute = time.Minute

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// published are limits under which trials may lose any amount of slot time. A policy then decides exactly as it was
// published.
var published = restart.Limits{LossShare: restart.Off}

// asPublished returns the limits published. For a policy that reads the account of trials, it returns the zero
// limits, which are the defaults.
func asPublished(policy restart.Policy) (l restart.Limits) {
	if !rules.Describe(policy).Has(rules.Trials) {
		l = published
	}
	return l
}
