package restart

import (
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// What the policies' rules share: tests of the facts, and checks of the policies' own fields.

// single returns what keeps a rule that allows one copy beside the original from looking at a task, or NoReason.
func single(t Task) Reason {
	switch {
	case len(t.Copies) == 0:
		return NotRunning
	case len(t.Copies) > 1:
		return EnoughCopies
	case t.NoDuplicate:
		return NotEligible
	}
	return NoReason
}

// slot returns what keeps a copy from a slot where waiting tasks go first, or NoReason.
func slot(p Phase) Reason {
	switch {
	case p.Waiting > 0:
		return TasksWaiting
	case p.FreeSlots <= 0:
		return NoFreeSlot
	}
	return NoReason
}

// num0 keeps what is not a finite number out of decisions.
func num0(x float64) float64 {
	if !num.Finite(x) {
		return 0
	}
	return x
}

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
		d.Avoid = Avoid(t, p)
	}
	return d
}

// order returns the i-th smallest of n values, counted from 0, from their distribution.
func order(d estimate.Distribution, i, n int) float64 {
	if e, ok := d.(*estimate.Empirical); ok {
		return e.At(i)
	}
	return d.Quantile((float64(i) + 0.5) / float64(n))
}

// finishedShare is the share of the phase's tasks that have finished; 0 if there are none. A quotient is right on the
// boundary where a share times the number of tasks is not: 0.07*100 is more than 7.
func finishedShare(p Phase) float64 {
	if p.Tasks <= 0 || p.Finished <= 0 {
		return 0
	}
	return float64(p.Finished) / float64(p.Tasks)
}

// times returns factor*d for what must not be negative, saturating.
func times(d time.Duration, factor float64) time.Duration {
	product := math.Round(float64(d) * factor)
	if product < float64(num.MaxDuration) { // and so not NaN
		return max(time.Duration(product), 0)
	}
	return num.MaxDuration
}

func orDefault(v, usual float64) float64 {
	if v == 0 {
		return usual
	}
	return v
}

func badField(policy, field string, value any, want string) error {
	return fmt.Errorf("restart: %s.%s is %v, want %s", policy, field, value, want)
}

// checkShare accepts a share in (0, 1], 0 for the default and Off where that has a meaning.
func checkShare(policy, field string, v float64, off bool) error {
	switch {
	case v >= 0 && v <= 1, off && v == Off:
		return nil
	case off:
		return badField(policy, field, v, "a share in (0, 1], 0 for the default, or Off")
	}
	return badField(policy, field, v, "a share in (0, 1], or 0 for the default")
}

func checkFactor(policy, field string, v float64) error {
	if v >= 0 && !math.IsInf(v, 1) {
		return nil
	}
	return badField(policy, field, v, "a positive finite number, or 0 for the default")
}

func checkAge(policy, field string, v time.Duration) error {
	if v >= 0 || v == Off {
		return nil
	}
	return badField(policy, field, v, "a positive duration, 0 for the default, or Off")
}
