// Package published has the limits with which comparisons run each policy as its paper or system published it.
package published

import (
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Limits returns the limits for a policy in a comparison. The systems that published the policies have no bound on
// lost trials, so trials may lose any amount of slot time. An exception is a policy that reads the account of trials,
// such as the library's default: it gets the default limits.
func Limits(policy restart.Policy) restart.Limits {
	if rules.Describe(policy).Has(rules.Trials) {
		return restart.Limits{}
	}
	return restart.Limits{LossShare: restart.Off}
}
