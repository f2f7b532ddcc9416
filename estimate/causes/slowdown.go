package causes

import (
	"math"
)

// slowdown returns how many times faster than the slowest finished task the median finished task progressed, in
// bytes per second [Dolly §2.1.1]. If no task has bytes, only times count. In a phase with bytes, tasks without
// bytes do not count. The median is the lower median; slowdown is 0 without a task. O(n); it allocates.
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
	return median(rates) / slowest
}
