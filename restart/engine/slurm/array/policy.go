package array

import (
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// ParsePolicy reads a policy as [rules.Parse] does, as in "late,min-age=5s,speculative-cap=0.2". Besides there are
// "none", which takes no action, and "naive".
func ParsePolicy(text string) (restart.Policy, error) {
	switch text {
	case "none":
		return restart.Never{}, nil
	case "naive":
		return Naive{}, nil
	}
	policy, err := rules.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("policy %q, which may also be none or naive: %w", text, err)
	}
	return policy, nil
}

// Naive is the rule that one writes first: once half of the tasks are done, copy each that has run for more than twice
// the median, once. It is here to compare with.
type Naive struct{}

// Decide implements [restart.Policy].
func (Naive) Decide(t restart.Task, p restart.Phase) restart.Decision {
	switch {
	case len(t.Copies) == 0:
		return restart.Decision{Reason: restart.NotRunning}
	case len(t.Copies) > 1 || t.SinceCopy > 0:
		return restart.Decision{Reason: restart.EnoughCopies}
	case 2*p.Finished < p.Tasks || p.Peers.Durations == nil:
		return restart.Decision{Reason: restart.TooFewFinished}
	}
	d := restart.Decision{Reason: restart.NotSlow}
	d.Value, d.Threshold = t.Copies[0].Elapsed.Seconds(), 2*p.Peers.Durations.Quantile(0.5)
	if d.Value > d.Threshold {
		d.Action, d.Reason = restart.Duplicate, restart.BeyondPeers
	}
	return d
}
