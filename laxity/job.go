package laxity

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// NoDeadline is the value of UntilDeadline for a job without a deadline. It is also the laxity of such a job, and
// it is larger than every other laxity.
const NoDeadline time.Duration = math.MaxInt64

// Job is the present state of a job.
type Job struct {
	// UntilDeadline is the time from now until the deadline of the job. It is negative after the deadline, and
	// [NoDeadline] if the job has no deadline. If the paper's Deadline_j is measured from the start of the job,
	// subtract the age of the job.
	UntilDeadline time.Duration
	// Projected is the time that the job still needs, which the paper calls Proj_exec_time. The function
	// [Projected] computes it. Projected is [estimate.Unknown] if the time is unknown. Any other negative time is
	// replaced by 0.
	Projected time.Duration
	// Running is true if the job runs now on the slot for which it is compared with waiting jobs. [Policy.Margin]
	// favours a running job.
	Running bool
}

// Laxity returns the time that the job may wait and still meet its deadline: UntilDeadline - Projected
// [DynamicShare §3.2, equation 3]. The result is [NoDeadline] for a job without a deadline, and [estimate.Unknown]
// if Projected is unknown. A difference that is too large for a time.Duration is replaced by the nearest possible
// value.
func (j Job) Laxity() time.Duration {
	switch {
	case j.UntilDeadline == NoDeadline:
		return NoDeadline
	case j.Projected == estimate.Unknown:
		return estimate.Unknown
	}
	return clamp(num.Sub(j.UntilDeadline, max(j.Projected, 0)))
}

// most returns the largest possible laxity of the job. If Projected is unknown, this is UntilDeadline. Otherwise
// it is the laxity.
func (j Job) most() time.Duration {
	if laxity := j.Laxity(); laxity != estimate.Unknown {
		return laxity
	}
	return clamp(j.UntilDeadline)
}

// clamp returns the computed time d, changed by a nanosecond if it equals estimate.Unknown or NoDeadline. These
// two values have special meanings.
func clamp(d time.Duration) time.Duration {
	return min(max(d, estimate.Unknown+1), NoDeadline-1)
}

// toInstant converts a time from now to an instant. The argument clock is the present instant. NoDeadline stays
// NoDeadline.
func toInstant(d, clock time.Duration) time.Duration {
	if d == NoDeadline {
		return NoDeadline
	}
	return clamp(num.Add(d, clock))
}

// fromInstant converts an instant to a time from now. The argument clock is the present instant. NoDeadline stays
// NoDeadline.
func fromInstant(instant, clock time.Duration) time.Duration {
	if instant == NoDeadline {
		return NoDeadline
	}
	return clamp(num.Sub(instant, clock))
}

// Projected returns the time that a job needs. The stages of a job run one after another, and the tasks of a stage
// run in parallel. So the result is the sum of the longest task of each stage [DynamicShare §3.2]. The paper's
// jobs have two stages:
//
//	Projected(maps, reduces)
//
// If the job runs already, pass the time that each task still needs, and leave out finished stages. If the time of
// a task is [estimate.Unknown], the result is estimate.Unknown. Other negative times are replaced by 0. A sum that
// is too large is replaced by the largest time.Duration. Cost: O(n) for n tasks, no allocation.
func Projected(stages ...[]time.Duration) time.Duration {
	var total time.Duration
	for _, tasks := range stages {
		var longest time.Duration
		for _, t := range tasks {
			if t == estimate.Unknown {
				return estimate.Unknown
			}
			longest = max(longest, t)
		}
		total = num.Add(total, longest)
	}
	return total
}
