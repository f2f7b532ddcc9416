package causes

import (
	"math"
	"time"
)

// Median returns the lower median of the times of the tasks that finished: the least that at least half of them do not
// exceed; 0 if there is none. O(n); it allocates.
func Median(tasks []Task) time.Duration {
	times := make([]float64, 0, len(tasks))
	for i := range tasks {
		if t := &tasks[i]; t.Took > 0 && !t.Censored {
			times = append(times, float64(t.Took)/1e9)
		}
	}
	return duration(median(times))
}

// Outliers appends to dst the indices of the tasks that take over 1.5 times the median of those that finished
// [Mantri §4.1], strictly. A task that still runs is one as soon as it has run for so long. O(n); it allocates.
func Outliers(dst []int, tasks []Task) []int { return Config{}.Outliers(dst, tasks) }

// Outliers appends to dst the indices of the tasks that take over Config.Outlier times the median. O(n); it allocates.
func (c Config) Outliers(dst []int, tasks []Task) []int {
	bar := c.Effective().Outlier * float64(Median(tasks))
	for i := range tasks {
		if took := tasks[i].Took; took > 0 && bar > 0 && float64(took) > bar {
			dst = append(dst, i)
		}
	}
	return dst
}

// Slowdown returns how many times faster than the slowest of the finished tasks the median one progressed, in bytes per
// second [Dolly §2.1.1]; by their times alone if no task has bytes. In a phase that has some, tasks without bytes do
// not count. The median is the lower one; 0 if there is no task. O(n); it allocates.
func Slowdown(tasks []Task) float64 {
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
