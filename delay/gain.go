package delay

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Gain returns how much sooner a task is expected to end if its job waits up to wait (w) for a local slot, instead of
// launching it on the first slot offered [FAIR §4.3.1]:
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// where local slots are offered at random, one every spacing (t) on average, and a task that runs elsewhere takes cost
// (D) longer. The formula is missing from the text of the paper; this one follows from its model by integration and has
// both of the properties that the text derives from it.
//
// It grows with the wait if D > t, so that the longest wait that users accept is best, and else no wait pays. As in the
// paper, t and D are the host's to know.
//
// [Forever] stands for infinity: a wait without end gains D-t, and slots that never come cost the wait, -w. Without a
// wait there is no gain. It is an error if an argument is negative. O(1), no allocation except for the error.
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

// LocalWithin returns the probability that at least one of the given number of local slots becomes free within the
// wait, when each runs tasks of the given length that end at any time with equal probability: 1-(1-wait/task)^slots
// [FAIR §4.2]. It is an error if wait is negative, task is not positive or slots is negative. O(1), no allocation
// except for the error.
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
