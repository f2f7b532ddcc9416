package main

import (
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
	"github.com/straggler-go/straggler/restart/rules"
)

// interval is how often the workflow looks at its tasks. They take seconds here; where they take minutes, so may it.
const interval = 500 * time.Millisecond

// policy is a way to run a fan-out.
type policy struct {
	name, about string
	options     fanout.Options
}

// cloning tells Dolly that one host in four is slow, as is true here, and that half of the slots are to spare; the
// paper's budget is 5 % of a cluster that many jobs share.
var cloning = &fanout.Clone{Config: clone.Config{BudgetShare: 0.5}, Straggler: 0.25}

// policies has the papers' parameters, but for LATE's MinAge, which is scaled to tasks of seconds, and Dolly's budget.
func policies() []policy {
	return []policy{
		{"none", "nothing is done", fanout.Options{Policy: restart.Never{}}},
		{"naive", "once half of the tasks are done, one copy of every task that has run for twice the median",
			fanout.Options{Policy: naive{}}},
		{"late", "LATE, with MinAge 1 s instead of 1 min", fanout.Options{Policy: rules.LATE{MinAge: time.Second}}},
		{"mantri", "Mantri, the paper's parameters", fanout.Options{Policy: restart.Mantri{}}},
		{"guarded", "the library's default: Mantri, with guards for what is not known", fanout.Options{Policy: restart.Guarded{}}},
		{"dolly", "small fan-outs are cloned, within half of the slots; nothing is restarted",
			fanout.Options{Policy: restart.Never{}, Clone: cloning}},
	}
}

// choosePolicies picks policies by name, in the order given.
func choosePolicies(list string) ([]policy, error) {
	return choose("policy", list, policies(), func(p policy) string { return p.name })
}

func policyNames() (names []string) {
	for _, p := range policies() {
		names = append(names, p.name)
	}
	return names
}

// optionsOf says how a fan-out is run under the policy of that name.
func optionsOf(name string) (fanout.Options, error) {
	chosen, err := choosePolicies(name)
	if err != nil {
		return fanout.Options{}, err
	}
	o := chosen[0].options
	o.Interval = interval
	o.Activity.HeartbeatTimeout = 3 * time.Second // a host that falls silent for so long is lost
	o.Activity.StartToCloseTimeout = 5 * time.Minute
	return o, nil
}

// naive is the rule that everybody writes first, as a policy of one's own: a type with one method. Once half of the
// tasks are done it copies every task that has run for more than twice their median and has no copy.
type naive struct{}

func (naive) Decide(t restart.Task, p restart.Phase) restart.Decision {
	if 2*p.Finished < p.Tasks || p.Peers.Durations == nil || len(t.Copies) != 1 {
		return restart.Decision{Reason: restart.TooFewFinished}
	}
	elapsed, bar := t.Copies[0].Elapsed.Seconds(), 2*p.Peers.Durations.Quantile(0.5)
	if elapsed <= bar {
		return restart.Decision{Reason: restart.NotSlow, Value: elapsed, Threshold: bar}
	}
	return restart.Decision{Action: restart.Duplicate, Reason: restart.BeyondPeers, Value: elapsed, Threshold: bar,
		Gain: time.Duration((elapsed - bar) * float64(time.Second)), Avoid: restart.Avoid(t, p)}
}
