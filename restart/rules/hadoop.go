package rules

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Hadoop is the native rule of Hadoop, which the LATE paper compares LATE with [LATE §2.2]. Its zero value has
// Hadoop's parameters. Safe for concurrent use.
//
// A task gets one copy if no task waits and the task has run for at least a minute. Its progress score must
// also be behind the mean score of its category by 0.2 or more. (The paper says "less than"; its example of
// §3.2, and every version of Hadoop's source, say "or more".) A difference below 1e-12 counts as rounding. No
// score exceeds 1, so a task with a score above 0.8 never gets a copy. All candidates are equal: Gain is 0, and
// the lowest index goes first.
type Hadoop struct {
	// ScoreLag is how far a task's score must be behind the mean score, in (0, 1]. 0 means 0.2.
	ScoreLag float64
	// MinAge is how long an attempt must have run. 0 means a minute; Off means no minimum.
	MinAge time.Duration
}

// Effective returns the policy with its defaults filled in, for logs.
func (h Hadoop) Effective() Hadoop {
	h.ScoreLag = check.Or(h.ScoreLag, 0.2)
	h.MinAge = check.Or(h.MinAge, time.Minute)
	return h
}

// Validate reports the first field that is out of range, with its value and its range.
func (h Hadoop) Validate() error {
	const place = "restart/rules: Hadoop"
	return cmp.Or(check.Share(place, "ScoreLag", h.ScoreLag, false), check.Age(place, "MinAge", h.MinAge))
}

// Decide returns Copy if the task is a candidate for a copy, and else Keep with the reason. O(1), no
// allocation.
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

// scoreNoise is a difference of scores that counts as rounding. The constant is far above the rounding error of
// a mean of millions of scores, and far below the differences that reports can show.
const scoreNoise = 1e-12

// MapReduce is the backup task of Google's MapReduce [Dean and Ghemawat, OSDI 2004, §3.6]: "when a MapReduce
// operation is close to completion" every task that still runs gets one copy. The paper does not say how close;
// NearEnd is our choice. All candidates are equal: Gain is 0, and the lowest index goes first. Safe for
// concurrent use.
type MapReduce struct {
	// NearEnd is the share of the phase's tasks that must have finished, in (0, 1]. 0 means 0.9.
	NearEnd float64
}

// Effective returns the policy with its defaults filled in, for logs.
func (m MapReduce) Effective() MapReduce {
	m.NearEnd = check.Or(m.NearEnd, 0.9)
	return m
}

// Validate reports the field that is out of range, with its value and its range.
func (m MapReduce) Validate() error {
	return check.Share("restart/rules: MapReduce", "NearEnd", m.NearEnd, false)
}

// Decide returns Copy if the task is a candidate for a copy, and else Keep with the reason. O(1), no
// allocation.
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
