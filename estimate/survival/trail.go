package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Parts is the number of equal parts into which the progress of a task is divided. The end of a part is a stage. It
// is a choice.
const Parts = 12

// Trail holds the progress of one attempt: the age at which the attempt passed the end of each part. The zero value
// is an attempt that has just begun. It takes 36 bytes. It is not safe for concurrent use; keep one for each attempt.
type Trail struct {
	passed [Parts]packed
	age    float32 // in seconds, at the latest report that showed progress
	done   float32 // share of the work that was done then
	n      int8    // number of parts passed
}

// Report takes the age of the attempt, and the share of its work that is done. Report clamps the share to at most 1.
// It ignores a report with no larger share, or with a smaller age, than the report before. Between two reports the
// progress is taken to be even. O(1), no allocation.
func (t *Trail) Report(age time.Duration, done float64) {
	share, seconds := float32(min(done, 1)), age.Seconds()
	if !(share > t.done) || !(seconds >= float64(t.age)) {
		return
	}
	for t.n < Parts && edge(int(t.n)+1) <= float64(share) {
		t.passed[t.n] = pack(t.between(edge(int(t.n)+1), seconds, float64(share)))
		t.n++
	}
	t.done, t.age = share, float32(seconds)
}

// edge returns the share of the work at the end of the first k parts.
func edge(k int) float64 { return float64(float32(k) / Parts) }

// between returns the age at which the attempt had done a share of its work, if the attempt has done more at a later
// age.
func (t *Trail) between(share, age, done float64) float64 {
	before := float64(t.done)
	at := float64(t.age)
	return at + float64((share-before)/(done-before)*(age-at))
}

// Passed returns how many parts the attempt has passed, from 0 to [Parts]. O(1).
func (t *Trail) Passed() int { return int(t.n) }

// packed is a number of seconds from a millisecond to three weeks, with an error of at most 1 in 4,000. It holds the
// middle bits of a float32: the end of the exponent and the beginning of the fraction.
type packed uint16

const (
	// Bits that are dropped of the 23 of a float32's fraction. The other bits tell times apart that differ by 1 in
	// 4,000.
	droppedBits = 12
	leastPacked = (num.Bias32 - 10) << num.Fraction32 // the bits of the float32 2^-10
)

// pack rounds a number of seconds. It takes a time below 2^-10 s for 2^-10 s.
func pack(seconds float64) packed {
	bits := math.Float32bits(float32(seconds)) + 1<<(droppedBits-1) // rounds to the nearest
	if !(seconds >= 0) || bits < leastPacked {
		return 0
	}
	return packed(min((bits-leastPacked)>>droppedBits, math.MaxUint16))
}

// seconds returns the time that pack has packed.
func (p packed) seconds() float64 {
	return float64(math.Float32frombits(uint32(p)<<droppedBits + leastPacked))
}

// Done returns the largest share of its work that the attempt has reported, up to 1; 0 if it has reported none. O(1).
func (t *Trail) Done() float64 { return float64(t.done) }

// x the shortest of the totals that an attempt's progress has predicted; the longest total of an attempt that moves
// evenly is no longer. Chosen by a simulation, which TestEvenShares repeats: after six parts, 85 % of the attempts
// pass if their reports are off by a log-normal factor (σ .3 an attempt, .1 a report). If the parts take log-normal
// times (σ .5), 20 to 37 % of the attempts pass.
const evenTotals = 1.3

// Even reports whether the attempt moved evenly through the given number of first parts. If the attempt has passed
// fewer parts, Even judges these. At the end of each part, the progress predicted a total time. The attempt moved
// evenly if these totals lie within a factor of 1.3. A report that is a little off changes the time of one part a
// lot, but the predicted total little. Even returns true for fewer than two parts. O(1), no allocation.
func (t *Trail) Even(parts int) bool {
	least, most := math.Inf(1), 0.0
	for i, at := range t.passed[:min(max(parts, 0), int(t.n))] {
		total := at.seconds() / float64(i+1)
		least, most = min(least, total), max(most, total)
	}
	return most <= float64(least*evenTotals)
}

// Total returns the predicted total time of the attempt in seconds, by its latest report: its age, divided by the
// share of its work that is done. It returns +Inf before the first report. O(1).
func (t *Trail) Total() float64 {
	if !(t.done > 0) {
		return math.Inf(1)
	}
	return float64(t.age) / float64(t.done)
}
