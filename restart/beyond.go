package restart

import "github.com/straggler-go/straggler/internal/num"

// beyond compares what a task has run with what its peers took, in seconds or in seconds per unit of work. An equal
// value is beyond only if orEqual is set.
func beyond(value, threshold float64, orEqual bool) Decision {
	if !num.Finite(value) || !num.Finite(threshold) {
		return Decision{Reason: NoEstimate}
	}
	d := Decision{Reason: NotSlow, Value: value, Threshold: threshold}
	if value > threshold || orEqual && value == threshold {
		d.Action, d.Reason = Duplicate, BeyondPeers
		d.Gain, _ = num.Duration(value - threshold)
	}
	return d
}

// placed adds the machines to avoid to a decision that launches a copy.
func (d Decision) placed(t Task, p Phase) Decision {
	if d.Action == Duplicate {
		d.Avoid = avoid(t, p)
	}
	return d
}
