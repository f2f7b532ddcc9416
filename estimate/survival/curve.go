package survival

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/num"
)

// Curve is the distribution of the times of tasks, estimated by the product limit [Kaplan and Meier]. Each value is
// the time of a task that ended, or the age of a task that runs or was killed. The time of such a task is at least
// its age.
//
// The estimate P(T > t) starts at 1. At each time x at which tasks ended, it falls by the factor 1 - d/r. Here r is
// the number of tasks that took or have run at least x, and d is the number of tasks that ended at x. A task that was
// killed at x counts in r.
//
// # The tail
//
// L is the longest of all values. If L is the age of a task that has not ended, the product limit does not fall to 0
// at L. Beyond L the curve goes on as a tail:
//
//   - Before half of the tasks have ended by the curve, the tail is a Pareto tail, P(T > t) = P(T > L) (L/t)^3. A
//     task of age a >= L is expected to need a/2 more.
//   - After that, a task of age L belongs to the body or is an outlier. A task of the body ends about as much later
//     as the times of the body spread. An outlier is expected to need as long again as it has run, or four times as
//     long if Silent is set. The older the task is, measured by the spread of the body, the more probably it is an
//     outlier.
//
// So the expected total time E(T | T > a) never falls with a. And a task that is a little older than many tasks of
// equal times is not taken for half done.
//
// # Use
//
// Call Observe for each value, then Fit, then the methods that answer. Every answer is the answer of the latest Fit.
// The zero value is empty: nothing is known of the time, so its mean is +Inf and its probabilities are 0. Curve
// implements estimate.Distribution. It is not safe for concurrent use while a method changes it.
type Curve struct {
	// Silent says that the tasks report no progress, so that an outlier shows by its age alone. From the next Fit on,
	// the tail of outliers has the index [SilentIndex].
	Silent bool
	n      int32 // number of values at the latest Fit
	ends   int32 // how many of these values are times of tasks that ended
	fits   int32 // number of calls of Fit
	values []value
	// Fit fills these slices. Each has an element for each distinct time at which tasks ended.
	at    []float64 // the time, ascending
	above []float64 // P(T > at)
	area  []float64 // the integral of P(T > t) from 0 to at
	// These two are above and area without a running task that is older than at: the task was at risk at every end up
	// to at.
	aboveOthers []float64
	areaOthers  []float64
	longest     float64 // L
	second      float64 // L without the longest task, if only a single task has this value and has not ended; else L
	beyond      tail    // the tail from L on
	bins        *bins   // nil until the curve has had manyTimes values
}

// value is a time, and whether the task ended then. It holds the bits of the float64, which are in the order of the
// times, and behind them a bit for the end. An integer is sorted in a third of the time that a struct needs.
type value uint64

func valueOf(x float64, ended bool) value {
	v := value(math.Float64bits(x)) << 1 // drops the sign bit: no time is negative
	if ended {
		v++
	}
	return v
}

func (v value) x() float64  { return math.Float64frombits(uint64(v >> 1)) }
func (v value) ended() bool { return v&1 > 0 }

// Reset removes all values and keeps their memory. The answers stay as they are until the next Fit. O(1).
func (c *Curve) Reset() { c.values = c.values[:0] }

// Observe adds a value in seconds, or in another unit that is always the same. If ended is true, the task took the
// time x. If ended is false, the task has run for x, or had run for x when it was killed. Observe reports whether it
// added the value: it refuses a negative number, NaN and +Inf. O(1) amortised.
func (c *Curve) Observe(x float64, ended bool) bool {
	if !(x >= 0) || math.IsInf(x, 1) {
		return false
	}
	c.values = append(c.values, valueOf(x+0, ended))
	return true
}

// Fit computes the answers from all values observed since the latest Reset. O(n log n). It allocates only if the
// curve has more values than ever before.
func (c *Curve) Fit() {
	c.fits++
	c.sort()
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
		area += float64(above * (x - before)) // no fused multiply-add: every machine gives the same answer
		areaOthers += float64(aboveOthers * (x - before))
		above *= float64(risk-ends) / float64(risk)
		aboveOthers *= max(0, float64(risk-1-ends)) / float64(max(risk-1, 1))
		before = x
		c.at, c.above, c.area = append(c.at, x), append(c.above, above), append(c.area, area)
		c.aboveOthers, c.areaOthers = append(c.aboveOthers, aboveOthers), append(c.areaOthers, areaOthers)
	}
	c.makeBins()
	c.n, c.second = int32(len(c.values)), c.longest
	if n := len(c.values); n > 1 && !c.values[n-1].ended() && c.values[n-2].x() < c.longest {
		c.second = c.values[n-2].x()
	}
	c.beyond = tail{silent: c.Silent}
	c.beyond = others{curve: c, factor: 1, longest: c.longest}.tail()
}

// sort puts the values in order. If there are many values, it first puts each value into its bin, near its final
// place.
func (c *Curve) sort() {
	n := len(c.values)
	if n >= manyTimes {
		if c.bins == nil {
			c.bins = new(bins)
		}
		c.values = c.bins.order(c.values, slices.Max(c.values).x())
	}
	moves := 0
	for i := 1; i < n; i++ {
		v, at := c.values[i], i
		for ; at > 0 && c.values[at-1] > v; at-- {
			c.values[at] = c.values[at-1]
		}
		c.values[at] = v
		if moves += i - at; moves > mostMoves*n { // a few very long times put all other times into one bin
			slices.Sort(c.values)
			return
		}
	}
}

// Places by which insertion sort moves a value on average; above this number, slices.Sort is faster.
const mostMoves = 16

// order returns the values in the order of their bins, in other memory, and keeps the memory of the given values for
// its next call.
func (b *bins) order(values []value, longest float64) []value {
	n := len(values)
	b.reset(n, longest)
	for _, v := range values {
		b.starts[b.index(v.x())+1]++
	}
	for i := range n {
		b.starts[i+1] += b.starts[i]
	}
	ordered := slices.Grow(b.values[:0], n)[:n]
	for _, v := range values {
		at := &b.starts[b.index(v.x())]
		ordered[*at] = v
		*at++
	}
	b.values = values
	return ordered
}

// reset makes n empty bins for the times up to the longest.
func (b *bins) reset(n int, longest float64) {
	b.starts = slices.Grow(b.starts[:0], n+1)[:n+1]
	clear(b.starts)
	b.from = math.Float64bits(longest)
	b.from -= min(b.from, 1<<(binOctaves+num.Fraction))
}

// bins divides a range of times into as many bins as there are times, so that a time is found or sorted fast. Each
// bin is longer than the bin before it by a constant factor: few times are long, and short times are close together.
type bins struct {
	starts []int32 // for each bin the number of times before it; then the number of all times
	from   uint64  // the bits of the time at which the first bin begins
	values []value // memory that order uses
}

// Number of times; from this number on, bins make a search and a sort much faster.
const manyTimes = 64

const (
	binOctaves = 4 // the range of the bins halves 2^binOctaves times: it begins at 2^-16 of the longest time
	// Low bits of a time that index drops, so that the product of the time and a number of bins fits into 64 bits.
	binDropped = num.Fraction - 32
)

// index returns the bin of a time. A longer time is in the same bin or in a later bin. The bits of a float64
// approximate its logarithm by straight lines.
func (b *bins) index(x float64) int {
	bits := math.Float64bits(max(x, 0))
	bits = min(bits-min(bits, b.from), 1<<(binOctaves+num.Fraction)) // keeps the product below within 64 bits
	n := len(b.starts) - 1
	return min(int(bits>>(binOctaves+binDropped)*uint64(n)>>(num.Fraction-binDropped)), n-1)
}

// makeBins makes the bins in which index looks for a time.
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

// Len returns the number of values at the latest Fit. O(1).
func (c *Curve) Len() int { return int(c.n) }

// Ends returns how many values are the times of tasks that ended. O(1).
func (c *Curve) Ends() int { return int(c.ends) }

// Longest returns L, the longest of all values, from which on the tail holds. An empty curve returns 0. O(1).
func (c *Curve) Longest() float64 { return c.longest }

// index returns how many distinct times of ends are at most x. If strict is true, it counts only times below x.
func (c *Curve) index(x float64, strict bool) int { return c.indexFrom(0, x, strict) }

// indexFrom returns the same count as index. The caller knows that the count is at least low.
func (c *Curve) indexFrom(low int, x float64, strict bool) int {
	high := len(c.at)
	if b := c.bins; b != nil && len(b.starts) > 0 {
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

// step returns P(T > t) after the first i ends, the time from which on it holds, and the area up to that time.
func (c *Curve) step(i int) (above, area, from float64) {
	if i == 0 {
		return 1, 0, 0
	}
	return c.above[i-1], c.area[i-1], c.at[i-1]
}

// Above returns P(T > t). An empty curve returns 0. O(log n).
func (c *Curve) Above(t float64) float64 { return c.survives(t, false) }

// survives returns P(T > t), or P(T >= t) if strict is true.
func (c *Curve) survives(t float64, strict bool) float64 {
	switch {
	case c.n == 0 || t != t:
		return 0
	case t < 0 || strict && t == 0:
		return 1
	}
	return c.after(c.index(t, strict), t)
}

// after returns P(T > t), given that i distinct ends lie before t.
func (c *Curve) after(i int, t float64) float64 {
	above, _, _ := c.step(i)
	if t > c.longest {
		above = float64(above * c.beyond.above(t))
	}
	return above
}

// within returns P(a < T <= b) for 0 <= a <= b. The curve must not be empty.
func (c *Curve) within(a, b float64) float64 {
	i := c.index(a, false)
	return max(0, c.after(i, a)-c.after(c.indexFrom(i, b, false), b))
}

// mass returns the area of P(T > t) from a to infinity. a must be at most L.
func (c *Curve) mass(a float64) float64 {
	last, _, _ := c.step(len(c.at))
	return c.upToLongest(a) + float64(last*c.beyond.mean()) // no fused multiply-add: every machine gives the same answer
}

// upToLongest returns the area of P(T > t) from a to L.
func (c *Curve) upToLongest(a float64) float64 {
	last, total, from := c.step(len(c.at))
	total += float64(last * (c.longest - from))
	above, area, from := c.step(c.index(a, false))
	return max(0, total-(area+float64(above*(a-from))))
}

// Mean returns E(T); +Inf if the curve is empty. O(1).
func (c *Curve) Mean() float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	return c.mass(0)
}

// CDF returns P(T <= t); 0 if the curve is empty. O(log n).
func (c *Curve) CDF(t float64) float64 { return c.below(t, false) }

// Below returns P(T < t); 0 if the curve is empty. O(log n).
func (c *Curve) Below(t float64) float64 { return c.below(t, true) }

func (c *Curve) below(t float64, strict bool) float64 {
	if c.n == 0 {
		return 0
	}
	return 1 - c.survives(t, strict)
}

// Quantile returns the smallest t with CDF(t) >= p. It returns +Inf if the curve is empty, or if p is 1 and P(T > L)
// is above 0. O(log n).
func (c *Curve) Quantile(p float64) float64 { return c.quantile(p, 1) }

// quantile returns the smallest t at which P(T > t) is at most 1-p times the given whole.
func (c *Curve) quantile(p, whole float64) float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	bar := remainder(p) * whole
	low, high := 0, len(c.above)
	for low < high { // sort.Search would take longer, because it calls a function
		if mid := int(uint(low+high) >> 1); c.above[mid] > bar {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(c.at) {
		return c.at[low]
	}
	last, _, _ := c.step(len(c.at))
	return c.beyond.quantile(bar / last)
}

// remainder returns 1-p. It moves a p outside [0, 1] to the nearer end, and takes NaN for 0.
func remainder(p float64) float64 {
	if p != p {
		return 1
	}
	return 1 - min(max(p, 0), 1)
}
