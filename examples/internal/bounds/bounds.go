// Package bounds has what no scheduler can do and a comparison wants to know: how short phases would be if nothing
// straggled, if a reduce phase knew all bandwidths to come, or if the outputs that will be lost had been copied. They
// are the ideal schemes of Mantri's evaluation [Mantri §6.1]. They know the future, and so they are no part of the
// library.
package bounds

import (
	"math"
	"slices"
	"time"
)

// NoSkew is how long a phase takes on so many slots if each task takes the mean time [Mantri §6.1]: the tasks' number
// by that of the slots, rounded up, times the mean. 0 if there is no task or no slot. Times below 0 count as 0.
func NoSkew(times []time.Duration, slots int) time.Duration {
	return even(len(times), slots, mean(times))
}

// ChopTail is NoSkew+ChopTail: the worst quarter of the times is taken out, rounded down, and every task takes the
// mean of the rest [Mantri §6.1]. The number of tasks stays what it is.
func ChopTail(times []time.Duration, slots int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return even(len(times), slots, mean(sorted[:len(sorted)-len(sorted)/4]))
}

// WorkConserving is the longest that a phase can take if no slot is free while a task waits: what all tasks take by the
// number of slots, and the longest task [Mantri §3.1].
func WorkConserving(times []time.Duration, slots int) time.Duration {
	if len(times) == 0 || slots <= 0 {
		return 0
	}
	return seconds(mean(times)*float64(len(times))/float64(slots) + max(0, slices.Max(times).Seconds()))
}

// WithoutRecompute is IdealRecompute: each task's time without what it waited for lost input to be made again, as if
// just the outputs that were to be lost had been copied [Mantri §6.1, §6.5]. Waits longer than the task, or below 0,
// count as the nearest that makes sense. waited may be shorter than times; what it lacks is 0.
func WithoutRecompute(times, waited []time.Duration) []time.Duration {
	out := slices.Clone(times)
	for i := range min(len(out), len(waited)) {
		out[i] -= min(max(waited[i], 0), max(out[i], 0))
	}
	return out
}

// Reduction is (current - modified)/current [Mantri §6.1, equation 4]: the share by which something fell, negative if
// it rose; 0 if current is not positive.
func Reduction(current, modified time.Duration) float64 {
	if current <= 0 {
		return 0
	}
	return (current.Seconds() - modified.Seconds()) / current.Seconds()
}

func even(tasks, slots int, each float64) time.Duration {
	if tasks == 0 || slots <= 0 {
		return 0
	}
	return seconds(float64((tasks-1)/slots+1) * each)
}

func mean(times []time.Duration) float64 {
	sum := 0.0
	for _, t := range times {
		sum += max(0, t.Seconds())
	}
	return sum / float64(max(1, len(times)))
}

func seconds(s float64) time.Duration {
	return time.Duration(min(math.Round(s*1e9), math.MaxInt64/2))
}
