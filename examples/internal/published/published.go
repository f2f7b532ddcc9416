// Package published has comparisons play each policy as it was published.
package published

import (
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Limits returns the limits around a policy in a comparison. Trials may lose any amount, as with the systems that published
// the policies, except those of a policy that reads what trials came to: the library's default.
func Limits(policy restart.Policy) restart.Limits {
	if rules.Describe(policy).Has(rules.Trials) {
		return restart.Limits{}
	}
	return restart.Limits{LossShare: restart.Off}
}
