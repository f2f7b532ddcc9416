package survival

import (
	"math"
	"time"
)

// Parts is into how many equal parts a task's progress is divided.
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
	droppedBits = 12
	leastPacked = (127 - 10) << 23 // 2^-10, as a float32's bits
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

// evenParts is by what factor the longest of a copy's parts may exceed the shortest if the copy moves evenly.
const evenParts = 1.5

// Even reports whether each part of its work that the copy has passed took at most one and a half times as long as any
// other. Of a copy that has passed no two parts it is true. O(1), no allocation.
func (t *Trail) Even() bool {
	least, most, before := math.Inf(1), 0.0, 0.0
	for _, at := range t.passed[:t.n] {
		took := at.seconds() - before
		least, most, before = min(least, took), max(most, took), at.seconds()
	}
	return most <= float64(least*evenParts)
}

// Total returns how many seconds the copy will have run in all, by its last report; +Inf before it has reported. O(1).
func (t *Trail) Total() float64 {
	if !(t.done > 0) {
		return math.Inf(1)
	}
	return float64(t.age) / float64(t.done)
}
