package causes

import (
	"math"
)

// slowdown compares the speeds of the finished tasks, in bytes per second [Dolly §2.1.1]. It returns the lower
// median of the speeds divided by the lowest speed. If no task has bytes, all tasks are treated as having equal
// bytes. If some tasks have bytes, tasks without bytes are left out. slowdown returns 0 if there is no task. O(n)
// for n tasks; it allocates.
func slowdown(tasks []Task) float64 {
	rates, slowest := make([]float64, 0, len(tasks)), math.Inf(1)
	anyBytes := false
	for i := range tasks {
		anyBytes = anyBytes || tasks[i].Took > 0 && !tasks[i].Censored && units(tasks[i].Bytes) > 0
	}
	for i := range tasks {
		t, bytes := &tasks[i], 1.0
		if anyBytes {
			bytes = units(t.Bytes)
		}
		if t.Took > 0 && !t.Censored && bytes > 0 {
			rate := bytes / float64(t.Took)
			rates, slowest = append(rates, rate), min(slowest, rate)
		}
	}
	if len(rates) == 0 {
		return 0
	}
	return Median(rates) / slowest
}
