package survival

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Curve is the distribution of the times of tasks, estimated by the product limit [Kaplan and Meier]. Each observed
// value is the time of a task that ended, or the age of a task that still runs or was killed. The time of a task that
// still runs or was killed is at least its age.
//
// Let T be the time of a task, and P a probability. The estimate of P(T > t) starts at 1. At each time x at which
// tasks ended, it falls by the factor 1 - d/r. Here r is the number of tasks that took or have run at least x, and d
// is the number of tasks that ended at x. The number r includes a task that was killed at x.
//
// # The tail
//
// L is the longest of all values. If L is the age of a task that has not ended, the product limit does not fall to 0
// at L. Beyond L the curve continues as a tail:
//
//   - Until half of the tasks have ended, as estimated by the curve, the tail is a Pareto tail: P(T > t) = P(T > L)
//     (L/t)^3. A task of age a >= L is expected to need a/2 more.
//   - After that, a task of age L is either an ordinary task or an outlier. The ordinary tasks are called the body. A
//     task of the body is expected to end soon: the less the times of the body differ, the sooner. An outlier is
//     expected to need as long again as it has run, or four times as long if Silent is set. The older the task is,
//     compared with the spread of the body, the more probably it is an outlier.
//
// So the expected total time of a task of age a, E(T | T > a), never falls as a grows. For example, if many tasks
// took the same time, and a task is a little older, the curve does not predict that half of its time is still to
// come.
//
// # Use
//
// Call Observe for each value, then Fit, then the methods that return answers. Every answer comes from the latest
// Fit. The zero value is empty: nothing is known of the time, so its mean is +Inf and its probabilities are 0. Curve
// implements estimate.Distribution. It is not safe for concurrent use while a method changes it.
type Curve struct {
	// Silent says that the tasks report no progress, so that an outlier is recognized by its age alone. From the next
	// Fit on, the tail of outliers has the Pareto index [SilentIndex].
	Silent bool
	// Number of values at the latest Fit.
	n int32
	// Number of values at the latest Fit that are times of tasks that ended.
	ends int32
	// Number of calls of Fit.
	fits int32
	// The values since the latest Reset.
	values []value
	// The distinct times at which tasks ended, ascending. Fit fills this slice and the four slices below; all have
	// the same length.
	at []float64
	// For each time in the slice at, the probability that a task takes longer: P(T > at[i]).
	above []float64
	// For each time in the slice at, the integral of P(T > t) over t from 0 to that time.
	area []float64
	// The same as above, but without one running task that is older than at[i].
	aboveOthers []float64
	// The same as area, but without one running task that is older than at[i].
	areaOthers []float64
	// The longest value (L).
	longest float64
	// The longest value without the task that has the value longest. If several tasks have this value, or the task
	// has ended, second equals longest.
	second float64
	// The distribution of times beyond the longest value.
	beyond tail
	// Bins for fast searching; nil until the curve has had manyTimes distinct times of ended tasks.
	bins *bins
}

// value is a time in seconds, and a flag that says whether the task ended then. The lowest bit is the flag. The other
// bits are the bits of the time as a float64, without the sign bit. Integers of this form have the same order as the
// times. Sorting them takes a third of the time that sorting structs takes.
type value uint64

// valueOf encodes a time and the flag as a value.
func valueOf(x float64, ended bool) value {
	// The shift drops the sign bit: no time is negative.
	v := value(math.Float64bits(x)) << 1
	if ended {
		v++
	}
	return v
}

// x returns the time.
func (v value) x() float64 { return math.Float64frombits(uint64(v >> 1)) }

// ended reports whether the task ended at the time. If not, the task still ran, or was killed.
func (v value) ended() bool { return v&1 > 0 }

// Reset removes all values, but does not free their memory. The answers of the curve change only at the next Fit.
// O(1).
func (c *Curve) Reset() { c.values = c.values[:0] }

// Observe adds a value in seconds, or in any other unit that is the same for all values. If ended is true, the task
// took the time x. If ended is false, the task has run for x, or had run for x when it was killed. Observe reports
// whether it added the value: it refuses a negative number, NaN and what exceeds [estimate.MaxSample]. O(1) amortised.
func (c *Curve) Observe(x float64, ended bool) bool {
	if !(x >= 0 && x <= estimate.MaxSample) {
		return false
	}
	c.values = append(c.values, valueOf(x+0, ended))
	return true
}

// Fit computes the curve from all values observed since the latest Reset. O(n log n) for n values. It allocates only
// if the curve has more values than ever before.
func (c *Curve) Fit() {
	c.fits++
	slices.Sort(c.values)
	c.at, c.above, c.area = c.at[:0], c.above[:0], c.area[:0]
	c.aboveOthers, c.areaOthers = c.aboveOthers[:0], c.areaOthers[:0]
	c.longest, c.second, c.ends = 0, 0, 0
	above, area, aboveOthers, areaOthers, before := 1.0, 0.0, 1.0, 0.0, 0.0
	for i := 0; i < len(c.values); {
		x, risk, ends := c.values[i].x(), len(c.values)-i, 0
		for ; i < len(c.values) && c.values[i].x() == x; i++ {
			if c.values[i].ended() {
				ends++
			}
		}
		c.longest = x
		if ends == 0 {
			continue
		}
		c.ends += int32(ends)
		// The conversions to float64 prevent fused multiply-adds, so that every machine gives the same result.
		area += float64(above * (x - before))
		areaOthers += float64(aboveOthers * (x - before))
		above *= float64(risk-ends) / float64(risk)
		aboveOthers *= max(0, float64(risk-1-ends)) / float64(max(risk-1, 1))
		before = x
		c.at, c.above, c.area = append(c.at, x), append(c.above, above), append(c.area, area)
		c.aboveOthers, c.areaOthers = append(c.aboveOthers, aboveOthers), append(c.areaOthers, areaOthers)
	}
	c.makeBins()
	c.n, c.second = int32(len(c.values)), c.longest
	if n := len(c.values); n > 1 && !c.values[n-1].ended() {
		c.second = c.values[n-2].x()
	}
	c.beyond = tail{silent: c.Silent}
	c.beyond = others{curve: c, factor: 1, longest: c.longest}.tail()
}

// reset makes n empty bins for the times from 0 to the argument longest.
func (b *bins) reset(n int, longest float64) {
	b.starts = slices.Grow(b.starts[:0], n+1)[:n+1]
	clear(b.starts)
	b.from = math.Float64bits(longest)
	b.from -= min(b.from, 1<<(binOctaves+num.Fraction))
}

// bins divides a range of times into as many bins as there are times, so that a time is found fast. Each
// bin is longer than the bin before it by a constant factor, because few times are long and short times are close
// together.
type bins struct {
	// For each bin, the number of times in the earlier bins. The last element is the number of all times.
	starts []int32
	// The bits of the float64 at which the first bin begins.
	from uint64
}

// manyTimes is a number of times. With at least so many, bins make searching much faster.
const manyTimes = 64

const (
	// The range of the bins begins at 2^-(2^binOctaves) = 2^-16 of the longest time.
	binOctaves = 4
	// The number of low bits of a time that the method index drops. So the product of the time and a number of bins
	// fits into 64 bits.
	binDropped = num.Fraction - 32
)

// index returns the number of the bin that contains the time x. A longer time is in the same bin or in a later bin.
// The bits of a float64, read as an integer, approximate the logarithm of the number by straight lines.
func (b *bins) index(x float64) int {
	bits := math.Float64bits(max(x, 0))
	// The minimum keeps the product below within 64 bits.
	bits = min(bits-min(bits, b.from), 1<<(binOctaves+num.Fraction))
	n := len(b.starts) - 1
	return min(int(bits>>(binOctaves+binDropped)*uint64(n)>>(num.Fraction-binDropped)), n-1)
}

// makeBins makes the bins in which indexFrom looks for a time.
func (c *Curve) makeBins() {
	n := len(c.at)
	if n < manyTimes {
		if c.bins != nil {
			c.bins.starts = c.bins.starts[:0]
		}
		return
	}
	if c.bins == nil {
		c.bins = new(bins)
	}
	b := c.bins
	b.reset(n, c.at[n-1])
	next := 0
	for i, at := range c.at {
		for bin := b.index(at); next <= bin; next++ {
			b.starts[next] = int32(i)
		}
	}
	for ; next <= n; next++ {
		b.starts[next] = int32(n)
	}
}

// Len returns the number of values that the latest Fit used. O(1).
func (c *Curve) Len() int { return int(c.n) }

// Ends returns how many of the values are times of tasks that ended. O(1).
func (c *Curve) Ends() int { return int(c.ends) }

// Longest returns the longest of all values. Beyond it the curve is an estimated tail. An empty curve returns 0.
// O(1).
func (c *Curve) Longest() float64 { return c.longest }

// Steps returns the distinct times at which tasks ended, in ascending order, and for each of them the probability that
// a task takes longer. Between two of these times the curve is constant. Beyond the longest of all values it continues
// as a tail, which Steps does not contain. The slices belong to the curve: they are valid until the next Fit, and must
// not be changed. O(1), no allocation.
func (c *Curve) Steps() (at, above []float64) { return c.at, c.above }

// index returns how many distinct times of ended tasks are at most x. If strict is true, it returns how many are less
// than x.
func (c *Curve) index(x float64, strict bool) int { return c.indexFrom(0, x, strict) }

// indexFrom returns the same number as index. The caller knows that the number is at least low, which makes the
// search shorter.
func (c *Curve) indexFrom(low int, x float64, strict bool) int {
	high := len(c.at)
	if x > c.longest {
		low = high
	} else if b := c.bins; b != nil && len(b.starts) > 0 {
		bin := b.index(x)
		low, high = max(low, int(b.starts[bin])), int(b.starts[bin+1])
	}
	for low < high { // slices.BinarySearch would test each time for NaN
		mid := int(uint(low+high) >> 1)
		if at := c.at[mid]; at < x || at == x && !strict {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// step describes the curve directly after the first i distinct times of ended tasks. It returns P(T > t) there, the
// time of the i-th end, and the integral of P(T > t) from 0 to that time.
func (c *Curve) step(i int) (above, area, from float64) {
	if i == 0 {
		return 1, 0, 0
	}
	return c.above[i-1], c.area[i-1], c.at[i-1]
}

// Above returns the probability that a task takes longer than t, P(T > t). An empty curve returns 0. O(log n).
func (c *Curve) Above(t float64) float64 { return c.survives(t, false) }

// survives returns the probability that a task takes longer than t, P(T > t). If strict is true, it returns P(T >=
// t).
func (c *Curve) survives(t float64, strict bool) float64 {
	if !c.answers(t) {
		return 0
	}
	return c.after(c.index(t, strict), t)
}

// answers reports whether the curve has a probability for the time t: it is not empty, and t is not NaN.
func (c *Curve) answers(t float64) bool { return c.n > 0 && t == t }

// after returns the probability that a task takes longer than t, P(T > t). The caller knows that i distinct times of
// ended tasks are before t.
func (c *Curve) after(i int, t float64) float64 {
	above, _, _ := c.step(i)
	if t > c.longest {
		above = float64(above * c.beyond.above(t))
	}
	return above
}

// within returns the probability that a task takes more than a and at most b, for a and b of 0 or more. It returns 0 if
// b is less than a. The curve must not be empty.
func (c *Curve) within(a, b float64) float64 {
	i := c.index(a, false)
	return max(0, c.after(i, a)-c.after(c.indexFrom(i, b, false), b))
}

// mass returns the integral of P(T > t) over t from a to infinity. Argument a must be at most the longest value.
func (c *Curve) mass(a float64) float64 {
	last, _, _ := c.step(len(c.at))
	// The conversion prevents a fused multiply-add, so that every machine gives the same result.
	return c.upToLongest(a) + float64(last*c.beyond.mean())
}

// upToLongest returns the integral of P(T > t) over t from a to the longest value.
func (c *Curve) upToLongest(a float64) float64 {
	last, total, from := c.step(len(c.at))
	total += float64(last * (c.longest - from))
	above, area, from := c.step(c.index(a, false))
	return max(0, total-(area+float64(above*(a-from))))
}

// Mean returns the expected time of a task, E(T). It returns +Inf if the curve is empty. O(1).
func (c *Curve) Mean() float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	return c.mass(0)
}

// CDF returns the probability that a task takes at most t, P(T <= t). It returns 0 if the curve is empty. O(log n).
func (c *Curve) CDF(t float64) float64 { return c.below(t, false) }

// Below returns the probability that a task takes less than t, P(T < t). It returns 0 if the curve is empty. O(log
// n).
func (c *Curve) Below(t float64) float64 { return c.below(t, true) }

// below returns the probability that a task takes at most t. If strict is true, it returns the probability of less
// than t.
func (c *Curve) below(t float64, strict bool) float64 {
	if !c.answers(t) {
		return 0
	}
	return 1 - c.survives(t, strict)
}

// Quantile returns the smallest t with CDF(t) >= p. It returns +Inf in two cases: the curve is empty, or p is 1 and a
// task with the longest value has not ended. O(log n).
func (c *Curve) Quantile(p float64) float64 { return c.quantile(p, 1) }

// quantile returns the smallest t at which P(T > t) is at most (1-p)*whole. For example, whole is P(T > a) for the
// quantile of a task of age a.
func (c *Curve) quantile(p, whole float64) float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	rest := remainder(p)
	low, high := 0, len(c.above)
	// sort.Search would take longer, because it calls a function for each comparison. The quotient is that of CDF.
	for low < high {
		if mid := int(uint(low+high) >> 1); c.above[mid]/whole > rest {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(c.at) {
		return c.at[low]
	}
	last, _, _ := c.step(len(c.at))
	return c.beyond.quantile(float64(rest*whole) / last)
}

// remainder returns the largest x for which 1-x is at least p, with the rounding of float64. So P(T > t) is at most x
// exactly where 1 - P(T > t), which CDF returns, is at least p. A p below 0 is replaced by 0, a p above 1 by 1, and NaN
// by 0. For a p of 1 remainder returns 0, so that a tail has no largest time.
func remainder(p float64) float64 {
	if !(p > 0) {
		return 1
	}
	if p >= 1 {
		return 0
	}
	const gap = 0x1p-53 // the distance between two float64s below 1
	x := 1 - p + gap*num.Half
	for 1-x < p {
		x = math.Nextafter(x, 0)
	}
	return x
}
