package restart

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Hadoop is the native rule of Hadoop that LATE was measured against [LATE §2.2]: a task gets one copy if no task waits,
// it has run for at least a minute, and its progress score is less, strictly, than the mean score of its category minus
// 0.2. What decimals leave in a float64, as in 0.9-0.2 against 0.7, does not make it less. Any such task is as good as
// another, so Gain is 0 and the lowest index is taken. As no score exceeds 1, a task beyond 0.8 never gets a copy. Its
// zero value has Hadoop's parameters. Safe for concurrent use.
type Hadoop struct {
	// ScoreLag is how far behind the mean score a task must be, in (0, 1]. 0 means 0.2.
	ScoreLag float64
	// MinAge is how long a copy must have run. 0 means a minute; Off: at once.
	MinAge time.Duration
}

// Effective returns the policy with its defaults filled in, for logs.
func (h Hadoop) Effective() Hadoop {
	h.ScoreLag = orDefault(h.ScoreLag, 0.2)
	if h.MinAge == 0 {
		h.MinAge = time.Minute
	}
	return h
}

// Validate reports the first field that is out of range, with its value and its range.
func (h Hadoop) Validate() error {
	if err := checkShare("Hadoop", "ScoreLag", h.ScoreLag, false); err != nil {
		return err
	}
	return checkAge("Hadoop", "MinAge", h.MinAge)
}

// Decide says whether the task is a candidate for a copy. O(1), no allocation.
func (h Hadoop) Decide(t Task, p Phase) Decision {
	h = h.Effective()
	if reason := single(t); reason != NoReason {
		return Decision{Reason: reason}
	}
	c := &t.Copies[0]
	if c.Elapsed < h.MinAge {
		return Decision{Reason: TooYoung, Value: c.Elapsed.Seconds(), Threshold: h.MinAge.Seconds()}
	}
	if !num.Finite(c.Score) || !num.Finite(p.Peers.MeanScore) {
		return Decision{Reason: NoEstimate}
	}
	d := Decision{Reason: NotSlow, Value: c.Score, Threshold: p.Peers.MeanScore - h.ScoreLag}
	if !(d.Threshold-d.Value > scoreNoise) {
		return d
	}
	if d.Reason = slot(p); d.Reason == NoReason {
		d.Action, d.Reason, d.Avoid = Duplicate, BehindAverage, Avoid(t, p)
	}
	return d
}

// scoreNoise is a difference of scores that means nothing: far above the rounding of a mean of millions of scores, far
// below what a report can tell apart.
const scoreNoise = 1e-12

// MapReduce is the backup task of Google's MapReduce [Dean and Ghemawat, OSDI 2004, §3.6]: "when a MapReduce operation is
// close to completion" every task that still runs gets one copy. The paper does not say how close; NearEnd is ours.
// Any such task is as good as another, so Gain is 0 and the lowest index is taken. Safe for concurrent use.
type MapReduce struct {
	// NearEnd is the share of the phase's tasks that must have finished, in (0, 1]. 0 means 0.9.
	NearEnd float64
}

// Effective returns the policy with its defaults filled in, for logs.
func (m MapReduce) Effective() MapReduce {
	m.NearEnd = orDefault(m.NearEnd, 0.9)
	return m
}

// Validate reports the field that is out of range, with its value and its range.
func (m MapReduce) Validate() error { return checkShare("MapReduce", "NearEnd", m.NearEnd, false) }

// Decide says whether the task is a candidate for a copy. O(1), no allocation.
func (m MapReduce) Decide(t Task, p Phase) Decision {
	m = m.Effective()
	if reason := single(t); reason != NoReason {
		return Decision{Reason: reason}
	}
	d := Decision{Reason: TooFewFinished, Value: finishedShare(p), Threshold: m.NearEnd}
	if d.Value < d.Threshold {
		return d
	}
	if d.Reason = slot(p); d.Reason == NoReason {
		d.Action, d.Reason, d.Avoid = Duplicate, NearEnd, Avoid(t, p)
	}
	return d
}
