package laxity

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// NoDeadline is the time left of a job that has no deadline, and its laxity. It comes after every other.
const NoDeadline time.Duration = math.MaxInt64

// Job is what is known about a job, as of now.
type Job struct {
	// TimeLeft is the time until the job's deadline: Deadline_j less the job's age. It is negative once that has passed,
	// and [NoDeadline] if there is none.
	TimeLeft time.Duration
	// Projected is Proj_exec_time, what the job still needs; see [Projected]. [estimate.Unknown] if nothing is known;
	// any other negative time counts as 0.
	Projected time.Duration
	// Running says that the job holds the slot that is to be given. [Policy.Margin] favours it.
	Running bool
}

// Laxity returns TimeLeft - Projected [DynamicShare §3.2, equation 3]: how long the job may wait and still end in
// time. It is [NoDeadline] for a job without one and [estimate.Unknown] for one whose need is unknown, and saturates.
func (j Job) Laxity() time.Duration {
	switch {
	case j.TimeLeft == NoDeadline:
		return NoDeadline
	case j.Projected == estimate.Unknown:
		return estimate.Unknown
	}
	return between(num.Sub(j.TimeLeft, max(j.Projected, 0)))
}

// most returns the laxity, or the most that it can be: a job whose need is unknown has at most the time left.
func (j Job) most() time.Duration {
	if laxity := j.Laxity(); laxity != estimate.Unknown {
		return laxity
	}
	return between(j.TimeLeft)
}

// between keeps a computed time off the two values that mean something else.
func between(d time.Duration) time.Duration {
	return min(max(d, estimate.Unknown+1), NoDeadline-1)
}

// until turns a time from now into an instant, and since an instant into a time from now. No deadline remains none.
func until(d, clock time.Duration) time.Duration {
	if d == NoDeadline {
		return NoDeadline
	}
	return between(num.Add(d, clock))
}

func since(instant, clock time.Duration) time.Duration {
	if instant == NoDeadline {
		return NoDeadline
	}
	return between(num.Sub(instant, clock))
}

// Projected returns the time that a job needs whose stages follow one another while the tasks of a stage run in
// parallel: the sum over the stages of the longest task [DynamicShare §3.2]. The paper's jobs have two stages:
//
//	Projected(maps, reduces)
//
// For a job that has begun, pass what is left of each task; a finished stage may be left out. A task whose time is
// [estimate.Unknown] makes the answer unknown; other negative times count as 0. O(n), no allocation. The sum saturates.
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
