package main

import (
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// interval is how often the workflow looks at its tasks. They take seconds here; where they take minutes, so may it.
const interval = 500 * time.Millisecond

// dolly is the policy that clones small fan-outs, and restarts nothing.
const dolly = "dolly"

// policies have the papers' parameters, but for LATE's MinAge, which is scaled to tasks of seconds, and Dolly's budget.
var policies = []string{"none", "naive", "late,min-age=1s", "mantri", "default", dolly}

// cloning tells Dolly that one host in four is slow, as is true here, and that half of the slots are to spare; the
// paper's budget is 5 % of a cluster that many jobs share.
var cloning = &fanout.Clone{Config: clone.Config{BudgetShare: 0.5}, Straggler: 0.25}

// optionsOf says how a fan-out is run under a policy.
func optionsOf(policy string) (o fanout.Options, err error) {
	if policy == dolly {
		o.Policy, o.Clone = restart.Never{}, cloning
	} else if o.Policy, err = kit.Policy(policy); err != nil {
		return o, err
	}
	o.Interval = interval
	o.Activity.HeartbeatTimeout = 3 * time.Second // a host that falls silent for so long is lost
	o.Activity.StartToCloseTimeout = 5 * time.Minute
	return o, nil
}
