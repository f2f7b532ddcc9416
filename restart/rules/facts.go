package rules

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// This file holds the tests of facts that several rules share.

// single returns why a rule that allows one copy ignores a task, or NoReason.
func single(t restart.Task) restart.Reason {
	switch {
	case len(t.Attempts) == 0:
		return restart.NotRunning
	case len(t.Attempts) > 1: // also for clones: a clone counts as the copy
		return restart.EnoughAttempts
	case t.NoCopy:
		return restart.NotEligible
	}
	return restart.NoReason
}

// slot returns why no slot is free for a copy where waiting tasks go first, or NoReason.
func slot(p restart.Phase) restart.Reason {
	switch {
	case p.Waiting > 0:
		return restart.TasksWaiting
	case p.FreeSlots <= 0:
		return restart.NoFreeSlot
	}
	return restart.NoReason
}

// refuse returns Keep with a reason and the two numbers that were compared.
func refuse(why restart.Reason, of restart.Measure, value, threshold float64) restart.Decision {
	return restart.Decision{Reason: why, Comparison: restart.Compare(of, value, threshold)}
}

// beyond compares a task's run time with a threshold from its peers, in seconds or in seconds per unit of work.
// A value equal to the threshold is beyond it only if orEqual is set.
func beyond(of restart.Measure, value, threshold float64, orEqual bool) restart.Decision {
	d := refuse(restart.NotSlow, of, value, threshold)
	if d.Measure == restart.NoMeasure {
		return restart.Decision{Reason: restart.NoEstimate}
	}
	if value > threshold || orEqual && value == threshold {
		d.Action, d.Reason = restart.Copy, restart.BeyondPeers
		d.Gain, _ = num.Duration(value - threshold)
	}
	return d
}

// placed adds the machines to avoid to a decision that makes a copy.
func placed(d restart.Decision, t restart.Task, p restart.Phase) restart.Decision {
	if d.Action == restart.Copy {
		d.Avoid = restart.Avoid(t, p)
	}
	return d
}

// middle returns the middle value, the upper of two, of the k smallest of n values, from their distribution.
// The sample may hold fewer than n values, because a task that finished unseen has no run time. The sample may
// hold more than n values, because a task whose output was lost has run twice. Then middle returns the value at
// the same share of the sample.
func middle(d estimate.Distribution, k, n int) float64 {
	if e, ok := d.(*estimate.Empirical); ok {
		return e.At(int(int64(k) * int64(e.Len()) / int64(n) / 2))
	}
	return d.Quantile((float64(k/2) + 0.5) / float64(n))
}

// finishedShare is the share of the phase's tasks that have finished; 0 if there are none. The share is a
// quotient because a product is wrong at the boundary: in float64, 0.07*100 is more than 7.
func finishedShare(p restart.Phase) float64 {
	if p.Tasks <= 0 || p.Finished <= 0 {
		return 0
	}
	return float64(p.Finished) / float64(p.Tasks)
}
