package main

import (
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// interval is the time between two decisions of the workflow. It is short because tasks take seconds here. For tasks of
// minutes, a longer interval is enough.
const interval = 500 * time.Millisecond

// dolly is the name of the policy that clones small fan-outs and has no restarts.
const dolly = "dolly"

// policies have the parameters of their papers, except LATE's MinAge, which is scaled to tasks of seconds, and Dolly's
// budget.
var policies = []string{"none", "naive", "late,min-age=1s", "mantri", "default", dolly}

// cloning tells Dolly that one host in four is slow, which is true here, and that clones may use half of the slots.
// In the paper, many jobs share a cluster, and the budget is 5 % of its slots.
var cloning = &fanout.Clone{Config: clone.Config{BudgetShare: 0.5}, Straggler: 0.25}

// optionsOf returns the options of a fan-out under a policy.
func optionsOf(policy string) (o fanout.Options, err error) {
	if policy == dolly {
		o.Policy, o.Clone = restart.Never{}, cloning
	} else if o.Policy, err = kit.Policy(policy); err != nil {
		return o, err
	}
	o.Interval = interval
	o.Activity.HeartbeatTimeout = 3 * time.Second // a host that is silent for this time is lost
	o.Activity.StartToCloseTimeout = 5 * time.Minute
	return o, nil
}
