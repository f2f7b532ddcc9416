package tracker_test

import (
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// start is an arbitrary instant, because the package reads no clock.
var start = time.Unix(0, 0)

const minute = time.Minute

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// published are the limits of a policy as it was published: its trials may lose any amount.
var published = restart.Limits{LossShare: restart.Off}

// asPublished returns these limits, or the zero limits for a policy that reads the account of trials.
func asPublished(policy restart.Policy) (l restart.Limits) {
	if !rules.Describe(policy).Has(rules.Trials) {
		l = published
	}
	return l
}
