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
	// Share is the part of the task's progress score that this subphase stands for: a third each in Hadoop.
	Share float64
	// Score is how much of Share is done, in [0, Share].
	Score float64
	// Age is how long the task has been, or was, in this subphase.
	Age time.Duration
	// PeerRate is the mean progress rate of the phase's other tasks in this subphase, in score per second; 0 is
	// unknown.
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
// begun, shows no progress and has no others to compare it with. Scores beyond their share count as done.
// O(len(parts)), no allocation.
func TimeLeftBySubphase(parts []Subphase) time.Duration {
	var score float64
	var age time.Duration
	for _, p := range parts {
		if !(p.Share >= 0 && p.Score >= 0) || math.IsInf(p.Share, 1) || p.Age < 0 {
			return Unknown
		}
		score += min(p.Score, p.Share)
		age = num.Add(age, p.Age)
	}
	if len(parts) == 0 {
		return Unknown
	}
	left := 0.0
	for _, p := range parts {
		todo := p.Share - p.Score
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

// MeanRate is a running mean of the rates of several tasks in one subphase, from which the mean of the others follows.
// The zero value is empty. Not safe for concurrent use; one per subphase of a phase.
//
// "The average progress rate" of LATE §4.2 is read as the arithmetic mean of the rates.
type MeanRate struct {
	sum num.Sum
	n   int
}

// Replace exchanges one task's rate, in score per second, and returns what to pass as old next. Old is its rate so far,
// or a negative number if it had none; a rate that is not a number in [0, MaxSample] is none. O(1), no allocation.
func (m *MeanRate) Replace(old, rate float64) float64 {
	if old >= 0 {
		m.sum.Add(-old)
		m.n--
	}
	if !(rate >= 0 && rate <= MaxSample) {
		return -1
	}
	m.sum.Add(rate)
	m.n++
	return rate
}

// Without returns the mean rate of all tasks but the one whose rate is own (negative: it has none); 0 if there is none.
// O(1), no allocation.
func (m *MeanRate) Without(own float64) float64 {
	rest := *m
	rest.Replace(own, -1)
	if rest.n <= 0 {
		return 0
	}
	return max(0, rest.sum.Value()/float64(rest.n))
}
