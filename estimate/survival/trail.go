package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Parts is the number of equal parts into which the work of a task is divided. The end of a part is called a stage.
// The number is a choice.
const Parts = 12

// Trail contains the progress of one attempt: the age at which the attempt passed the end of each part of its work.
// The zero value is an attempt that has just begun. It takes 36 bytes. It is not safe for concurrent use; keep a
// Trail for each attempt.
type Trail struct {
	// For each part of the work, the age of the attempt when the part was done.
	passed [Parts]packed
	// The age of the attempt, in seconds, at the latest report that showed progress.
	age float32
	// The share of the work that was done at the latest report that showed progress.
	done float32
	// The number of parts that are done.
	n int8
}

// Report records a progress report: the age of the attempt, and the share of its work that is done. A share above 1
// is treated as 1. A report is ignored if its share is not larger than before, or its age is smaller than before.
// Between two reports the progress is assumed to be even. O(1), no allocation.
func (t *Trail) Report(age time.Duration, done float64) {
	share, seconds := float32(min(done, 1)), age.Seconds()
	if !(share > t.done) || !(seconds >= float64(t.age)) {
		return
	}
	for edge(int(t.n)+1) <= float64(share) {
		t.passed[t.n] = pack(t.between(edge(int(t.n)+1), seconds, float64(share)))
		t.n++
	}
	t.done, t.age = share, float32(seconds)
}

// edge returns the share of the work that is done at the end of the first k parts.
func edge(k int) float64 { return float64(float32(k) / Parts) }

// between returns the age at which the attempt had done a certain share of its work. The attempt had done less at its
// latest recorded report, and has done the larger share done at the given age. Between the two the progress is
// assumed to be even.
func (t *Trail) between(share, age, done float64) float64 {
	before := float64(t.done)
	at := float64(t.age)
	return at + float64((share-before)/(done-before)*(age-at))
}

// Passed returns how many parts of its work the attempt has done, from 0 to [Parts]. O(1).
func (t *Trail) Passed() int { return int(t.n) }

// packed is a time in 16 bits: from a millisecond to seven weeks, with an error of at most 1 in 4,000. The 16 bits
// are the middle bits of a float32: the lower bits of the exponent and the upper bits of the fraction.
type packed uint16

const (
	// The number of low bits of the 23-bit fraction of a float32 that are dropped. The other bits distinguish times
	// that differ by 1 in 4,000.
	droppedBits = 12
	// The bits of the float32 2^-10, the smallest time.
	leastPacked = (num.Bias32 - 10) << num.Fraction32
)

// pack rounds a number of seconds to the nearest packed time. A time below 2^-10 s becomes 2^-10 s.
func pack(seconds float64) packed {
	// The added number makes the result the nearest packed time. A damaged snapshot can make seconds negative.
	bits := max(math.Float32bits(float32(max(seconds, 0)))+1<<(droppedBits-1), leastPacked)
	return packed(min((bits-leastPacked)>>droppedBits, math.MaxUint16))
}

// seconds returns the packed time in seconds.
func (p packed) seconds() float64 {
	return float64(math.Float32frombits(uint32(p)<<droppedBits + leastPacked))
}

// Done returns the largest share of its work that the attempt has reported, at most 1. It returns 0 before the first
// report. O(1).
func (t *Trail) Done() float64 { return float64(t.done) }

// Advanced returns the age of the attempt, in seconds, at the latest report that showed progress; 0 before the first
// such report. O(1).
func (t *Trail) Advanced() float64 { return float64(t.age) }

// Alike is the factor within which two times are called alike: the longer is less than Alike times the shorter. It is
// the largest ratio of the longest to the shortest total time that the progress of an even attempt has predicted. It was
// chosen by a simulation, which TestEvenShares repeats. If the parts of an attempt take equal times, and only its
// reports are wrong by a log-normal factor (σ is .3 for each attempt and .1 for each report), 85 % of the attempts are
// even after six parts. If the parts take log-normal times (σ is .5), 20 to 37 % of the attempts are.
const Alike = 1.3

// Even reports whether the attempt progressed evenly through the first parts of its work; the argument parts is their
// number. If the attempt has done fewer parts, Even uses these. At the end of each part, the age of the attempt
// predicts a total time. The attempt progressed evenly if the longest of these totals is at most 1.3 times the
// shortest. The total is a good measure: a report that is a little wrong changes the time of one part a lot, but the
// predicted total only a little. For fewer than two parts Even returns true. O(1), no allocation.
func (t *Trail) Even(parts int) bool {
	least, most := math.Inf(1), 0.0
	for i, at := range t.passed[:min(max(parts, 0), int(t.n))] {
		total := at.seconds() / float64(i+1)
		least, most = min(least, total), max(most, total)
	}
	return most <= float64(least*Alike)
}

// Total returns the total time of the attempt that its latest report predicts, in seconds: its age divided by the
// share of its work that is done. It returns +Inf before the first report. O(1).
func (t *Trail) Total() float64 {
	if !(t.done > 0) {
		return math.Inf(1)
	}
	return float64(t.age) / float64(t.done)
}
