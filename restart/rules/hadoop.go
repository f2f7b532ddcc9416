package rules

import (
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Hadoop is the original rule of Hadoop, with which the LATE paper compares LATE [LATE §2.2]. Its zero value has
// Hadoop's parameters. Safe for concurrent use.
//
// A task gets one copy if no task waits for a slot, and if the task has run for at least a minute. Its progress score
// must also be at least 0.2 below the mean score of its phase. (The paper's text says that more than 0.2 is needed.
// The paper's example in §3.2, and every version of Hadoop's source, say that exactly 0.2 is enough.) A difference
// below 1e-12 is treated as a rounding error. No mean score exceeds 1, so a task with a score above 0.8 never gets a
// copy. All slow tasks have the same rank: Gain is 0, and the task with the lowest index gets its copy first.
type Hadoop struct {
	// ScoreLag is how far a task's score must be below the mean score, in (0, 1]. 0 means 0.2.
	ScoreLag float64 `want:"share"`
	// MinAge is how long an attempt must have run at least. 0 means a minute; Off means that there is no minimum.
	MinAge time.Duration `want:"age"`
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (h Hadoop) Effective() Hadoop {
	h.ScoreLag = check.Or(h.ScoreLag, 0.2)
	h.MinAge = check.Or(h.MinAge, time.Minute)
	return h
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (h Hadoop) Validate() error { return check.Valid(h) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. O(1), no allocation.
func (h Hadoop) Decide(t restart.Task, p restart.Phase) restart.Decision {
	h = h.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	c := &t.Attempts[0]
	if c.Elapsed < h.MinAge {
		return refuse(restart.TooYoung, restart.RunSeconds, c.Elapsed.Seconds(), h.MinAge.Seconds())
	}
	if !num.Finite(c.Score) || !num.Finite(p.Peers.MeanScore) {
		return restart.Decision{Reason: restart.NoEstimate}
	}
	d := refuse(restart.NotSlow, restart.ProgressScore, c.Score, p.Peers.MeanScore-h.ScoreLag)
	if !(d.Threshold-d.Value >= -scoreNoise) {
		return d
	}
	if reason := slot(p); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	d.Action, d.Reason, d.Avoid = restart.Copy, restart.BehindAverage, restart.Avoid(t, p)
	return d
}

// scoreNoise is a difference of two progress scores. A smaller difference is treated as a rounding error. The
// constant is much larger than the rounding error of a mean of millions of scores, and much smaller than the
// differences that reports can show.
const scoreNoise = 1e-12

// MapReduce is the rule for backup tasks of Google's MapReduce [Dean and Ghemawat, OSDI 2004, §3.6]: "when a
// MapReduce operation is close to completion", every task that still runs gets one copy. The paper does not define
// "close"; the default of NearEnd is this library's choice. All running tasks have the same rank: Gain is 0, and the
// task with the lowest index gets its copy first. Safe for concurrent use.
type MapReduce struct {
	// NearEnd is the share of the phase's tasks that must have finished, in (0, 1]. 0 means 0.9.
	NearEnd float64 `want:"share"`
}

// Effective returns the policy with a zero NearEnd replaced by its default, for logs.
func (m MapReduce) Effective() MapReduce {
	m.NearEnd = check.Or(m.NearEnd, 0.9)
	return m
}

// Validate returns an error if NearEnd is out of range. The error states the value and the allowed range.
func (m MapReduce) Validate() error { return check.Valid(m) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. O(1), no allocation.
func (m MapReduce) Decide(t restart.Task, p restart.Phase) restart.Decision {
	m = m.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	d := refuse(restart.TooFewFinished, restart.FinishedShare, finishedShare(p), m.NearEnd)
	if d.Value < d.Threshold {
		return d
	}
	if reason := slot(p); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	d.Action, d.Reason, d.Avoid = restart.Copy, restart.NearEnd, restart.Avoid(t, p)
	return d
}
