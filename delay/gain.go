package delay

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Gain returns how much earlier a task ends, on average, if its job waits for a slot on a machine with the task's
// data. The job waits for at most wait (w). Without waiting, the job would launch the task on the first offered
// slot [FAIR §4.3.1]:
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// Slots on machines with the data are offered at random times, and spacing (t) is the mean time between them. On
// another machine the task takes cost (D) longer. For example, with a wait of 15 s, a spacing of 4 s and a cost of
// 10 s, the gain is 5.86 s. The formula is missing in the text of the paper. This formula follows from the paper's
// model by integration, and it has both properties that the text derives from the missing formula.
//
// If D > t, a longer wait gains more, so the longest acceptable wait is best. If D ≤ t, no wait gains anything. As
// in the paper, the host must know t and D.
//
// [Forever] means infinity. A wait that never ends gains D-t. If no slot with the data is ever offered, the gain
// is -w, because the wait is lost. A wait of 0 gains 0. Gain returns an error for a negative argument. Cost: O(1),
// no allocation except for the error.
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
	if wait != Forever {
		// A spacing of 0 divides the wait to infinity, and a slot with the data is found.
		found = -math.Expm1(-float64(wait) / float64(spacing))
	}
	gain, _ := num.Duration(found * (cost - spacing).Seconds())
	return gain, nil
}

// LocalWithin returns the probability that a slot on a machine with a job's data becomes free within the time wait
// [FAIR §4.2]. The argument slots is the number of slots on such machines. A task runs on each slot. The argument
// task is the duration of each task from its start to its end. A task may be at any point of its duration with equal
// probability. The result is 1-(1-wait/task)^slots. For example, with a wait of 15 s, tasks of 60 s and 15 slots, the
// probability is 0.987. LocalWithin returns an error if wait or slots is negative, or if task is 0 or less. Cost:
// O(1), no allocation except for the error.
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
