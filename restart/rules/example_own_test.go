package rules_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// overTwoMinutes is a custom policy: it copies each attempt that has run for two minutes.
type overTwoMinutes struct{}

func (overTwoMinutes) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed >= 2*time.Minute {
		return restart.Decision{Action: restart.Copy, Reason: restart.BeyondPeers}
	}
	return restart.Decision{Reason: restart.NotSlow}
}

// Describe says that the policy reads only the plain facts and only makes copies.
func (overTwoMinutes) Describe() rules.Description { return rules.Description{CopiesOnly: true} }

// Which facts does a tracker keep for my own policy? The tracker asks the policy's own method Describe.
func ExampleDescribe() {
	d := rules.Describe(overTwoMinutes{})
	fmt.Println(d.Has(rules.Durations), d.CopiesOnly)

	d = rules.Describe(rules.Spark{})
	fmt.Println(d.Has(rules.Durations), d.CopiesOnly)
	// Output:
	// false true
	// true true
}
