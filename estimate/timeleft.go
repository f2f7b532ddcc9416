package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// TimeLeft is the LATE paper's estimate of the time that a task still needs. The estimate is computed from the
// progress score, which is the share of the task that is done, in [0, 1], and the age of the task [LATE §4]. It
// assumes that progress continues at its mean rate so far, score/age:
//
//	time left = (1 - score) * age/score
//
// A score of 0 gives the longest time.Duration, and a score of 1 or more gives 0. TimeLeft returns [Unknown] for a
// score that is negative or NaN, and for a negative age. Progress at the age of 0 gives no rate, so the answer is
// [Unknown] as well. O(1), no allocation.
func TimeLeft(score float64, age time.Duration) time.Duration {
	switch {
	case !(score >= 0) || age < 0:
		return Unknown
	case score >= 1:
		return 0
	case score == 0:
		return num.MaxDuration
	case age == 0:
		return Unknown
	}
	left, _ := num.Duration((1 - score) * age.Seconds() / score)
	return left
}

// Subphase is a part of a task, such as the copy, sort and reduce parts of a reduce task. A task goes through its
// subphases in order.
type Subphase struct {
	// Weight is the share of the task's progress score that belongs to this subphase. In Hadoop each of the three
	// subphases has the Weight 1/3.
	Weight float64
	// Score is the part of Weight that is done, in [0, Weight].
	Score float64
	// Age is how long the task has spent in this subphase so far.
	Age time.Duration
	// PeerRate is the mean progress rate of the phase's other tasks in this subphase, as score per second. 0 means
	// that the rate is unknown. LATE §4.2 says "the average progress rate", and this package uses the arithmetic
	// mean.
	PeerRate float64
}

// TimeLeftBySubphase returns the time that a task still needs, by the method that the paper sketches for tasks
// which change their speed between subphases [LATE §4.2]. A subphase that has begun continues at its own rate. A
// subphase that has not begun runs at the mean rate of the other tasks in that subphase. If that mean is unknown,
// TimeLeftBySubphase uses the task's own rate so far, over all its subphases.
//
// Taken literally, the sketch gives an infinite time to a task that has just entered a subphase. Here a subphase
// without progress is treated as not begun. The estimate for such a subphase is at least the time that the task has
// already spent in it. So a task that hangs in a subphase is noticed.
//
// TimeLeftBySubphase returns [Unknown] if there are no parts, if no rate is known for a task of age 0, or if a
// number of a part is out of range. TimeLeftBySubphase returns the longest time.Duration for a task that has begun,
// shows no progress and cannot be compared with other tasks. A subphase with a Score above its Weight is treated as
// done. O(len(parts)), no allocation.
func TimeLeftBySubphase(parts []Subphase) time.Duration {
	var score float64
	var age time.Duration
	for _, p := range parts {
		if !(p.Weight >= 0 && p.Score >= 0) || math.IsInf(p.Weight, 1) || p.Age < 0 {
			return Unknown
		}
		score += min(p.Score, p.Weight)
		age = num.Add(age, p.Age)
	}
	if len(parts) == 0 {
		return Unknown
	}
	left := 0.0
	for _, p := range parts {
		todo := p.Weight - p.Score
		switch {
		case !(todo > 0):
		case p.Score > 0 && p.Age > 0:
			// The conversion prevents a fused multiply-add, so that all processors give the same result.
			left += float64(todo / p.Score * p.Age.Seconds())
		case p.PeerRate > 0 && !math.IsInf(p.PeerRate, 1):
			left += max(todo/p.PeerRate, p.Age.Seconds())
		case age == 0:
			return Unknown
		default:
			left += max(todo/score*age.Seconds(), p.Age.Seconds()) // infinite if score is 0
		}
	}
	d, _ := num.Duration(left)
	return d
}
