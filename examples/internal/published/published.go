// Package published has the limits with which comparisons run each policy as its paper or system published it.
package published

import (
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Naive is a rule such as a team writes first. While a slot is idle and no task waits, it copies the attempt that has
// run longest beyond twice the median of the tasks that have ended. A task has one copy at a time, on a machine on
// which the task has not run.
var Naive = rules.Spark{Quantile: 1e-9, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}

// Parse reads a policy as rules.Parse does, and the name "naive".
func Parse(text string) (restart.Policy, error) {
	if text == "naive" {
		return Naive, nil
	}
	policy, err := rules.Parse(text)
	if err != nil {
		err = fmt.Errorf("%w, or naive", err)
	}
	return policy, err
}

// Limits returns the limits for a policy in a comparison. The systems that published the policies have no bound on
// lost trials, so trials may lose any amount of slot time. An exception is a policy that reads the account of trials,
// such as the library's default: it gets the default limits.
func Limits(policy restart.Policy) restart.Limits {
	if rules.Describe(policy).Has(rules.Trials) {
		return restart.Limits{}
	}
	return restart.Limits{LossShare: restart.Off}
}
