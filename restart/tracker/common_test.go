package tracker_test

import (
	"flag"
	"reflect"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
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

// knowing returns a Knowledge with the given configuration.
func knowing(t testing.TB, c tracker.KnowledgeConfig) *tracker.Knowledge {
	t.Helper()
	know, err := tracker.NewKnowledge(c)
	require.NoError(t, err)
	return know
}

// noMachines are the settings of a Knowledge that remembers no machine, for tests in which the numbers of machines mean
// other machines in each phase.
var noMachines = machines.Config{MaxMachines: restart.Off}

// onlyKinds returns a Knowledge that remembers no machine.
func onlyKinds(t testing.TB) *tracker.Knowledge {
	t.Helper()
	return knowing(t, tracker.KnowledgeConfig{Machines: noMachines})
}

// running returns the keys of the attempts that run by a record of machines. The record shows them to nobody, so running
// reads its fields.
func running(know *tracker.Knowledge) (keys []uint64) {
	all := reflect.ValueOf(know.Machines()).Elem().FieldByName("machines")
	for i := range all.Len() {
		m := all.Index(i)
		for j := range int(m.FieldByName("presents").Uint()) {
			keys = append(keys, m.FieldByName("present").Index(j).FieldByName("key").Uint())
		}
	}
	return keys
}
