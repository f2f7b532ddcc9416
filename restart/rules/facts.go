package rules

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// This file contains the conditions that several rules have in common.

// single returns the reason why a task must not be copied, or NoReason if it may be copied. A task may be copied if
// it has exactly one running attempt and the host allows copies of it.
func single(t restart.Task) restart.Reason {
	switch {
	case len(t.Attempts) == 0:
		return restart.NotRunning
	case len(t.Attempts) > 1:
		// A second first attempt (clone) is also treated as the copy.
		return restart.EnoughAttempts
	case t.NoCopy:
		return restart.NotEligible
	}
	return restart.NoReason
}

// slot returns the reason why no slot may be used for a copy, or NoReason. If tasks wait, a free slot is for them and
// not for a copy.
func slot(p restart.Phase) restart.Reason {
	switch {
	case p.Waiting > 0:
		return restart.TasksWaiting
	case p.FreeSlots <= 0:
		return restart.NoFreeSlot
	}
	return restart.NoReason
}

// refuse returns a decision to keep the task, with a reason and the two numbers that were compared.
func refuse(why restart.Reason, of restart.Measure, value, threshold float64) restart.Decision {
	return restart.Decision{Reason: why, Comparison: restart.Compare(of, value, threshold)}
}

// beyond decides to copy a task if its value is above the threshold that follows from other tasks. Both are in
// seconds, or in seconds for each unit of work. If orEqual is true, a value equal to the threshold is enough.
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

// placed sets the machines to avoid in a decision that makes a copy. It returns other decisions unchanged.
func placed(d restart.Decision, t restart.Task, p restart.Phase) restart.Decision {
	if d.Action == restart.Copy {
		d.Avoid = restart.Avoid(t, p)
	}
	return d
}

// middle returns a middle value of a sample: of the k smallest of n values, in ascending order, the value at index
// k/2. The sample d may contain fewer than n values, because a task that finished unseen has no run time. It may
// contain more than n values, because a task whose output was lost has run twice. In both cases middle returns the
// value at the same share of the sample.
func middle(d estimate.Distribution, k, n int) float64 {
	if e, ok := d.(*estimate.Empirical); ok {
		return e.At(int(int64(k) * int64(e.Len()) / int64(n) / 2))
	}
	return d.Quantile((float64(k/2) + 0.5) / float64(n))
}

// finishedShare returns the share of the phase's tasks that have finished. Without tasks it returns 0. The rules
// compare this quotient and not a product, because a product can be wrong at the boundary: in float64, 0.07*100 is
// more than 7.
func finishedShare(p restart.Phase) float64 {
	if p.Tasks <= 0 || p.Finished <= 0 {
		return 0
	}
	return float64(p.Finished) / float64(p.Tasks)
}
