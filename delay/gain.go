package delay

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Gain returns how much earlier a task ends on average if its job waits for a local slot. The job waits at most wait (w).
// Without a wait the job would launch the task on the first offered slot [FAIR §4.3.1]:
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// Local slots are offered at random, one every spacing (t) on average. A task on another machine takes cost (D)
// longer. For example, with a wait of 15 s, a local slot every 4 s and a cost of 10 s, the gain is 5.86 s. The text
// of the paper lacks its formula. The formula above follows from the paper's model by integration, and has both
// properties that the text derives from the missing formula.
//
// If D > t, the gain grows with the wait, so the longest acceptable wait is best. If D ≤ t, no wait pays. As in the paper,
// the host must know t and D.
//
// [Forever] stands for infinity. An endless wait gains D-t. If local slots never come, the gain is -w, the lost wait. A
// wait of 0 gains 0. The error names a negative argument. O(1), no allocation except for the error.
func Gain(wait, spacing, cost time.Duration) (time.Duration, error) {
	if err := cmp.Or(
		check.Least("delay", "wait", wait, 0),
		check.Least("delay", "spacing", spacing, 0),
		check.Least("delay", "cost", cost, 0),
	); err != nil {
		return 0, err
	}
	switch {
	case wait == 0:
		return 0, nil
	case spacing == Forever:
		return -wait, nil
	case cost == Forever:
		return Forever, nil
	}
	found := 1.0
	if wait != Forever && spacing > 0 {
		found = -math.Expm1(-float64(wait) / float64(spacing))
	}
	gain, _ := num.Duration(found * (cost - spacing).Seconds())
	return gain, nil
}

// LocalWithin returns the probability that a local slot becomes free within the wait: 1-(1-wait/task)^slots [FAIR
// §4.2]. slots is the number of local slots, and task is the duration of the tasks on them. A task may end at any
// time with equal probability. For example, with a wait of 15 s, tasks of 60 s and 15 local slots, the probability is
// 0.987. The error names a negative wait, a task of 0 or less, or negative slots. O(1), no allocation except for the
// error.
func LocalWithin(wait, task time.Duration, slots int) (float64, error) {
	if err := cmp.Or(
		check.Least("delay", "wait", wait, 0), check.Least("delay", "task", task, 1), check.Least("delay", "slots", slots, 0),
	); err != nil {
		return 0, err
	}
	if slots == 0 {
		return 0, nil
	}
	return -math.Expm1(float64(slots) * math.Log1p(-min(1, float64(wait)/float64(task)))), nil
}
