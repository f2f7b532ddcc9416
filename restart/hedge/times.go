package hedge

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// The number of requests of an operation: the first request and the second.
const attempts = 2

const (
	// bucketBits is the number of bits of a time's fraction that tell buckets apart: 128 buckets for each factor of
	// two. A time is rounded up by at most 0.8 %.
	bucketBits = 7
	// The buckets begin at 2^-lowest seconds, which is 60 ns, and end at 2^highest seconds, which is 194 days. Other
	// times are moved to the nearer end.
	lowest, highest = 24, 24
	buckets         = (lowest + highest) << bucketBits
	// bias is the exponent of 1 in a float64.
	bias = 1023
	// The times of first requests stand for so many times of second requests, until the window has many second
	// requests. A few second requests alone would give a chance plan.
	pooled = 64
	// The overhead is learned from every overheadEach-th request. More would not make it more exact.
	overheadEach = 16
	// The number of requests from which the overhead is learned.
	overheadWindow = 256
	// The largest ratio of two sizes. A larger one is absurd.
	mostScale = 1 << 40
	// If requests of mean size take so many times longer or shorter than the unit, their size becomes the unit. Otherwise
	// the buckets would not reach their times.
	mostUnits = 1 << 10
	// A plan needs so many answers in the window. Until then the percentile is unknown.
	leastAnswers = 100
	// A plan is made anew when 1/replanPart of the window has changed.
	replanPart = 16
)

// entry is the time of a request in the window.
type entry struct {
	// When the request ended, on the clock of the Hedger.
	at time.Duration
	// How long it took, and its size; 0 if the size is unknown.
	seconds, size float64
	// The bucket of its time for one unit of work.
	bucket uint16
	// The attempt, and whether it was answered. A request without an answer was cancelled at this age.
	attempt  Attempt
	answered bool
}

// counts is the number of times in each bucket, for the first or the second request. Times that have left the window
// count as a half, a quarter and so on.
type counts struct {
	answered, all [buckets]float32
	// The sums over all buckets. In the past nobody reads answers.
	answers, n float64
}

// count adds a time to its bucket, or removes it.
func (c *counts) count(e *entry, by float32) {
	c.all[e.bucket] += by
	c.n += float64(by)
	if e.answered {
		c.answered[e.bucket] += by
		c.answers += float64(by)
	}
}

// times is the window of the times of one class. Its unit is the time of a request of the first size that was told.
type times struct {
	window, next, n int
	ring            []entry
	of              [attempts]counts
	past            *past // nil until the window is full
	// The bounds of the buckets that have had a time since the latest rebuild.
	low, high int
	// The estimate of the overhead: the part of the time that does not depend on size.
	units  *estimate.UnitTimes
	sample [overheadWindow]int
	// The number of sizes that were told, and of samples that were used.
	told, used int
	// The overhead with which the buckets were computed, the size of the unit, and the mean size; 0 before a size is told.
	overhead, unit, mean float64
	// True if the unit has moved since the latest plan.
	moved bool
	// The number of changes since the latest plan.
	changes int

	first, second steps
}

// newTimes returns an empty window.
func newTimes(window int) (*times, error) {
	units, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	t := &times{window: window, low: buckets, high: -1, units: units}
	for i := range t.sample {
		t.sample[i] = estimate.NoSample
	}
	return t, err
}

// known returns the size of a request: the mean if the host has not told it.
func (t *times) known(size float64) float64 {
	if size > 0 && size <= estimate.MaxSample {
		return size
	}
	return max(t.mean, 1)
}

// scale returns how many times longer a request of the given size takes than a request of the size of the unit.
func (t *times) scale(size float64) float64 {
	if size == t.unit || t.unit == 0 {
		return 1
	}
	return min(max((size+t.overhead)/(t.unit+t.overhead), 1/mostScale), mostScale)
}

// bucketOf returns the bucket of a time for one unit.
func bucketOf(x float64) int {
	const begin = (bias - lowest) << bucketBits
	return min(max(int(math.Float64bits(max(x, 0))>>(num.Fraction-bucketBits))-begin, 0), buckets-1)
}

// edge returns the upper edge of a bucket.
func edge(bucket int) float64 {
	const begin = (bias - lowest) << bucketBits
	return math.Float64frombits(uint64(begin+bucket+1) << (num.Fraction - bucketBits))
}

// add adds the time of a request, and removes the times that are older than keep, or beyond the window.
func (t *times) add(e entry, keep time.Duration) {
	if e.size > 0 && e.size <= estimate.MaxSample {
		if t.unit == 0 {
			t.unit, t.mean = e.size, e.size
		}
		t.mean += float64((e.size - t.mean) / overheadWindow)
		if scale := t.scale(t.mean); scale > mostUnits || scale < 1/mostUnits {
			t.unit = t.mean
			t.rebuild()
			t.moved, t.changes = true, t.n
		}
		t.learn(&e)
	} else {
		e.size = 0
	}
	for t.n > 0 && (t.n == t.window || e.at-t.oldest().at > keep) {
		o := t.oldest()
		t.of[o.attempt].count(o, -1)
		if e.at-o.at > keep { // so are all times before it
			t.past.forget()
		} else {
			if t.past == nil {
				t.past = new(past)
			}
			t.past.add(o, t.window)
		}
		t.n--
	}
	if len(t.ring) < t.window && t.n == len(t.ring) {
		t.grow()
	}
	e.bucket = uint16(bucketOf(e.seconds / t.scale(t.known(e.size))))
	t.ring[t.next] = e
	if t.next++; t.next == len(t.ring) {
		t.next = 0
	}
	t.n++
	t.count(&e)
	t.changes++
}

// oldest returns the oldest request in the window, which must not be empty.
func (t *times) oldest() *entry {
	i := t.next - t.n
	if i < 0 {
		i += len(t.ring)
	}
	return &t.ring[i]
}

// grow makes room for twice as many requests. The ring is full, and its oldest request becomes the first.
func (t *times) grow() {
	ring := make([]entry, min(max(2*len(t.ring), leastWindow), t.window))
	copy(ring[copy(ring, t.ring[t.next:]):], t.ring[:t.next])
	t.next, t.ring = t.n, ring
}

// count adds a request in the window to its bucket.
func (t *times) count(e *entry) {
	t.of[e.attempt].count(e, 1)
	t.low, t.high = min(t.low, int(e.bucket)), max(t.high, int(e.bucket))
}

// learn tells an answered first request to the estimate of the overhead: each of the first 256, and then every
// sixteenth. A slow attempt is an outlier there, so a cancelled one is not missed.
func (t *times) learn(e *entry) {
	if t.told++; e.attempt != First || !e.answered || t.used >= overheadWindow && t.told%overheadEach > 0 {
		return
	}
	age, _ := num.Duration(e.seconds)
	slot := &t.sample[t.used%overheadWindow]
	t.used++
	*slot = t.units.Running(*slot, estimate.Run{Age: age, Work: e.size, Done: e.size})
	if t.units.Overhead() != t.overhead {
		t.rebuild()
	}
}

// rebuild computes the buckets of all requests in the window again, because the overhead or the unit has changed.
func (t *times) rebuild() {
	t.overhead = t.units.Overhead()
	t.of = [attempts]counts{}
	t.past.forget()
	t.low, t.high = buckets, -1
	for i := range t.n {
		e := &t.ring[(t.next-t.n+i+len(t.ring))%len(t.ring)]
		e.bucket = uint16(bucketOf(e.seconds / t.scale(t.known(e.size))))
		t.count(e)
	}
}

// fit computes the distributions of first and second requests by the product limit [Kaplan and Meier]. The times of
// second requests are pooled with the times of first requests.
func (t *times) fit() {
	t.changes, t.moved = 0, false
	first, second := &t.of[First], &t.of[Second]
	t.first.fit(t.low, t.high, first, second, 1, 0)
	if p := t.past; p != nil && p.of[First].n > 0 {
		t.second.fit(t.low, t.high, &p.of[First], &p.of[Second], 1, 0)
		if !alike(&t.first, &t.second) {
			p.forget()
		} else {
			p.join(t.low, t.high, &t.of)
			first, second = &p.joint[First], &p.joint[Second]
			t.first.fit(t.low, t.high, first, second, 1, 0)
		}
	}
	share := 1.0
	if first.n > pooled {
		share = pooled / first.n
	}
	t.second.fit(t.low, t.high, first, second, share, 1)
}

// fit sets the steps from two counts with their weights.
func (s *steps) fit(low, high int, first, second *counts, a, b float64) {
	s.at, s.above, s.doubt = s.at[:0], s.above[:0], s.doubt[:0]
	var doubt float64
	risk, above := float64(a*first.n)+float64(b*second.n), 1.0
	for i := low; i <= high; i++ {
		if ends := float64(a*float64(first.answered[i])) + float64(b*float64(second.answered[i])); ends > 0 {
			above *= max(0, 1-ends/risk)
			if risk > ends {
				doubt += ends / risk / (risk - ends)
			}
			s.at, s.above, s.doubt = append(s.at, edge(i)), append(s.above, above), append(s.doubt, doubt)
		}
		risk -= float64(a*float64(first.all[i])) + float64(b*float64(second.all[i]))
	}
}
