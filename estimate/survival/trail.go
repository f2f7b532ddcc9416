package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Parts is into how many equal parts a task's progress is divided: a choice.
const Parts = 12

// Trail is what the reports of one copy have shown of its progress: when it passed the end of each part. The zero value
// is a copy that has just begun. It takes 40 bytes. Not safe for concurrent use; one per copy.
type Trail struct {
	passed [Parts]packed
	age    float32 // in seconds, at the last report that showed progress
	done   float32 // by then, a share
	n      int8    // parts passed
}

// Report takes the copy's age and which share of its work it has done. A report below the last one is
// ignored; shares are clamped to [0, 1]. Between two reports progress is taken to be even. O(1), no allocation.
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

// edge is the share of the work at the end of the first k parts.
func edge(k int) float64 { return float64(float32(k) / Parts) }

// between returns the age at which the copy had done a share, if it will have done more at a later age.
func (t *Trail) between(share, age, done float64) float64 {
	before := float64(t.done)
	at := float64(t.age)
	return at + float64((share-before)/(done-before)*(age-at))
}

// Passed returns how many parts the copy has passed.
func (t *Trail) Passed() int { return int(t.n) }

// packed is a number of seconds from a millisecond to three weeks, to within 1 in 4,000: its float32 without the sign,
// the rest of the exponent, and the end of the fraction.
type packed uint16

const (
	droppedBits = 12                                  // of the 23 of a float32's fraction: the others tell times apart that differ by 1 in 4,000
	leastPacked = (num.Bias32 - 10) << num.Fraction32 // 2^-10, as a float32's bits
)

func pack(seconds float64) packed {
	bits := math.Float32bits(float32(seconds)) + 1<<(droppedBits-1) // to the nearest
	if !(seconds >= 0) || bits < leastPacked {
		return 0
	}
	return packed(min((bits-leastPacked)>>droppedBits, math.MaxUint16))
}

func (p packed) seconds() float64 {
	return float64(math.Float32frombits(uint32(p)<<droppedBits + leastPacked))
}

// Done returns the largest share of its work that the copy has reported, up to 1; 0 if it has reported none.
func (t *Trail) Done() float64 { return float64(t.done) }

// evenTotals is by what factor the longest of the totals that a copy's progress has predicted may exceed the shortest if
// the copy moves evenly. Chosen by simulation, which is now TestEvenShares: at the end of six parts 85 % of copies pass whose
// reports are off by a log-normal factor (σ .3 a copy, .1 a report). Copies whose parts take log-normal times (σ .5) pass in
// 20 to 37 %.
const evenTotals = 1.3

// Even reports whether the copy moved evenly through the first parts of its work that it has passed, at most so many: the
// totals that its progress predicted at the end of each of them lie within a factor of 1.3. A report that is a little off
// changes the time of one part by much, and the predicted total by little. Of a copy that has passed no two parts it is
// true. O(1), no allocation.
func (t *Trail) Even(parts int) bool {
	least, most := math.Inf(1), 0.0
	for i, at := range t.passed[:min(max(parts, 0), int(t.n))] {
		total := at.seconds() / float64(i+1)
		least, most = min(least, total), max(most, total)
	}
	return most <= float64(least*evenTotals)
}

// Total returns how many seconds the copy will have run in all, by its last report; +Inf before it has reported. O(1).
func (t *Trail) Total() float64 {
	if !(t.done > 0) {
		return math.Inf(1)
	}
	return float64(t.age) / float64(t.done)
}
