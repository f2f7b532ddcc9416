package laxity

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// NoDeadline is the time until the deadline of a job without a deadline. NoDeadline is also the laxity of such a job,
// and comes after every other laxity.
const NoDeadline time.Duration = math.MaxInt64

// Job is the current state of a job.
type Job struct {
	// UntilDeadline is the time from now until the job's deadline: Deadline_j minus the job's age. UntilDeadline is
	// negative after the deadline, and [NoDeadline] if the job has no deadline.
	UntilDeadline time.Duration
	// Projected is Proj_exec_time, the time that the job still needs; the function [Projected] computes it. Projected
	// is [estimate.Unknown] if the time is unknown. Any other negative time counts as 0.
	Projected time.Duration
	// Running says that the job uses the slot that is to be assigned. [Policy.Margin] favours a running job.
	Running bool
}

// Laxity returns UntilDeadline - Projected, the time that the job may wait and still meet its deadline [DynamicShare
// §3.2, equation 3]. The result is [NoDeadline] for a job without a deadline, and [estimate.Unknown] if Projected is
// unknown. The difference saturates.
func (j Job) Laxity() time.Duration {
	switch {
	case j.UntilDeadline == NoDeadline:
		return NoDeadline
	case j.Projected == estimate.Unknown:
		return estimate.Unknown
	}
	return clamp(num.Sub(j.UntilDeadline, max(j.Projected, 0)))
}

// most returns the laxity, or its upper bound: the laxity of a job with an unknown projected time is at most UntilDeadline.
func (j Job) most() time.Duration {
	if laxity := j.Laxity(); laxity != estimate.Unknown {
		return laxity
	}
	return clamp(j.UntilDeadline)
}

// clamp keeps a computed time away from estimate.Unknown and NoDeadline, which have their own meaning.
func clamp(d time.Duration) time.Duration {
	return min(max(d, estimate.Unknown+1), NoDeadline-1)
}

// toInstant converts a time from now to an instant of the clock. NoDeadline stays NoDeadline.
func toInstant(d, clock time.Duration) time.Duration {
	if d == NoDeadline {
		return NoDeadline
	}
	return clamp(num.Add(d, clock))
}

// fromInstant converts an instant of the clock to a time from now. NoDeadline stays NoDeadline.
func fromInstant(instant, clock time.Duration) time.Duration {
	if instant == NoDeadline {
		return NoDeadline
	}
	return clamp(num.Sub(instant, clock))
}

// Projected returns the time that a job needs. The stages of the job follow one another, and the tasks of a stage run in
// parallel. So the result is the sum of the longest task of each stage [DynamicShare §3.2]. The paper's jobs have two
// stages:
//
//	Projected(maps, reduces)
//
// For a job that runs already, pass the remaining time of each task, and leave out finished stages. If the time of a task
// is [estimate.Unknown], the result is unknown. Other negative times count as 0. O(n), no allocation. The sum saturates.
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
