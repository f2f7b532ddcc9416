// Package bounds computes lower bounds for the time of a phase, to compare policies with. The bounds are the ideal
// schemes of Mantri's evaluation [Mantri §6.1]: no task straggles, a reduce phase knows all future bandwidths, or the
// outputs that will be lost have been copied. The bounds know the future, so no scheduler can reach them in general,
// and they are not a part of the library.
package bounds

import (
	"math"
	"slices"
	"time"
)

// NoSkew returns the time of a phase on a number of slots if each task takes the mean time [Mantri §6.1]. It is the
// number of tasks divided by the number of slots, rounded up, times the mean. It is 0 if there is no task or no slot.
// Times below 0 are used as 0.
func NoSkew(times []time.Duration, slots int) time.Duration {
	return even(len(times), slots, mean(times))
}

// ChopTail returns the time of a phase in the scheme NoSkew+ChopTail [Mantri §6.1]: every task takes the mean of the
// times without the slowest quarter. The number of removed times is rounded down. The number of tasks stays the same.
func ChopTail(times []time.Duration, slots int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return even(len(times), slots, mean(sorted[:len(sorted)-len(sorted)/4]))
}

// WorkConserving returns an upper bound for the time of a phase in which no slot is free while a task waits [Mantri
// §3.1]: the sum of the times divided by the number of slots, plus the time of the longest task.
func WorkConserving(times []time.Duration, slots int) time.Duration {
	if len(times) == 0 || slots <= 0 {
		return 0
	}
	return seconds(mean(times)*float64(len(times))/float64(slots) + max(0, slices.Max(times).Seconds()))
}

// WithoutRecompute returns the times of the tasks without their waits for lost input, in the scheme IdealRecompute:
// exactly the outputs that would be lost have been copied [Mantri §6.1, §6.5]. A wait below 0 is used as 0, and a
// wait longer than its task as the time of the task. If waited is shorter than times, the missing waits are 0.
func WithoutRecompute(times, waited []time.Duration) []time.Duration {
	out := slices.Clone(times)
	for i := range min(len(out), len(waited)) {
		out[i] -= min(max(waited[i], 0), max(out[i], 0))
	}
	return out
}

// Reduction returns (current - modified)/current [Mantri §6.1, equation 4]: the share by which a time fell. It is
// negative if the time rose, and 0 if current is not positive.
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
