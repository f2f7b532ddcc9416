package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// TimeLeft is LATE's estimate of the time that a task still needs, from its progress score in [0, 1] and its age
// [LATE §4]: progress goes on at its mean rate so far, score/age, so that
//
//	time left = (1 - score) * age/score
//
// A score of 0 gives the longest duration there is and a score of 1 or more gives 0. It is [Unknown] for a score that
// is negative or NaN, for an age that is negative, and for progress at the age of 0, which makes no rate. O(1), no
// allocation.
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

// Subphase is one of the parts that a task goes through in order, such as the copy, sort and reduce of a reduce task.
type Subphase struct {
	// Weight is the part of the task's progress score that this subphase stands for: a third each in Hadoop.
	Weight float64
	// Score is how much of Weight is done, in [0, Weight].
	Score float64
	// Age is how long the task has been, or was, in this subphase.
	Age time.Duration
	// PeerRate is the mean progress rate of the phase's other tasks in this subphase, in score per second; 0 is unknown.
	// "The average progress rate" of LATE §4.2 is the arithmetic mean.
	PeerRate float64
}

// TimeLeftBySubphase is the estimate that LATE sketches for tasks which change their speed from subphase to subphase
// [LATE §4.2]: a subphase that has begun goes on at its own rate, and one that has not begun goes at the mean rate of
// the other tasks in it. Where that is not known either, the task's own rate so far, over all its subphases, stands
// in.
//
// Taken literally, a task that has just entered a subphase would need for ever. Here a subphase that has begun and
// shows no progress counts as one that has not, but is given at least its age, so that one that hangs does not go
// unnoticed.
//
// It answers [Unknown] if there are no parts or no rate to go by, and the longest duration there is for a task that has
// begun, shows no progress and has no others to compare it with. Scores beyond their weight count as done.
// O(len(parts)), no allocation.
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
			left += float64(todo / p.Score * p.Age.Seconds()) // no fused multiply-add: one answer everywhere
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
