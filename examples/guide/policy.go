// Command guide is the code of four pages of docs: fixture.md, logs.md, policy.md and scheduler.md. A test holds that
// each block of Go on these pages stands here. Run as a command, it compares Twice, a policy of a host's own, with the
// default and two published policies in two small worlds.
package main

import "github.com/straggler-go/straggler/restart"

// Twice copies a task once its attempt has run for more than twice the typical time of a new attempt. It makes one copy
// of a task at a time, and kills nothing.
type Twice struct{}

// Decide says what to do about a running task. It does not allocate.
func (Twice) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := restart.Decision{Action: restart.Keep, Fresh: t.Fresh.Expected()}
	typical := restart.Typical(&t.Fresh)
	switch {
	case len(t.Attempts) == 0 || typical <= 0: // no task has ended yet
		d.Reason = restart.NoEstimate
		return d
	case len(t.Attempts) > 1:
		d.Reason = restart.EnoughAttempts
		return d
	}
	elapsed := t.Attempts[0].Elapsed
	d.Comparison = restart.Compare(restart.RunSeconds, elapsed.Seconds(), 2*typical.Seconds())
	switch {
	case elapsed <= 2*typical:
		d.Reason = restart.NotSlow
	case p.FreeSlots <= 0:
		d.Reason = restart.NoFreeSlot
	default:
		d.Action, d.Reason = restart.Copy, restart.BeyondPeers
		d.Gain = elapsed - 2*typical // the task that is latest gets the first free slot
		d.Avoid = restart.Avoid(t, p)
	}
	return d
}
