package survival

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/num"
)

// Curve is the product-limit estimate of the distribution of a time, of which some values are known only to be at least
// so long [Kaplan and Meier]: those of tasks that still run, or were killed. At a time x at which d of the r that took
// or have run at least x end, P(T > x) falls by the factor 1 - d/r. Ends count before what is cut off at the same
// instant.
//
// The estimate does not reach 0 where the longest value is cut off. Beyond L, the longest of all values, it goes on as
// a tail. Until half of the tasks have ended by the curve, that is a Pareto tail, P(T > t) = P(T > L) (L/t)^3, by which
// a task of the age a >= L is expected to need a/2 more. From then on one of the age L is either of the body, which
// ends about as much later as the body's times spread, or one of the few outliers, which are expected to need as long
// again as they have run, or four times as long where all are Silent. The older it is than that spread explains, the more it is an outlier. So the expected total
// E(T | T > a) never falls with a, and one that is a little older than many others, which took about the same, is not
// taken for half done.
//
// Observe values, Fit, and ask: the answers are those of the last Fit. The zero value is empty, and that of a time of
// which nothing is known: its mean is +Inf and its probabilities are 0. It implements estimate.Distribution. Not safe
// for concurrent use while it is changed.
type Curve struct {
	// Silent says that the tasks report nothing, so that an outlier shows only by its age. Its tail is then that of
	// [SilentIndex], from the next Fit on.
	Silent bool
	n      int32 // values at the last Fit
	ends   int32 // of which ended
	fits   int32 // how often it was fitted
	values []value
	// After Fit, by distinct time of an end:
	at    []float64 // the time, ascending
	above []float64 // P(T > at)
	area  []float64 // of P(T > t) from 0 to at
	// The same without one that runs and is older than at, and so at risk at every end:
	aboveOthers []float64
	areaOthers  []float64
	longest     float64 // L
	second      float64 // L without the longest, where that is a single one that runs or was killed; else L
	beyond      tail    // from L on
	parts       *parts  // nil where there are few
}

// value is a time that one took that ended, or that one exceeds: the bits of it, which are ordered as times are, and behind
// them whether it ended. A number is sorted in a third of the time of a struct.
type value uint64

func valueOf(x float64, ended bool) value {
	v := value(math.Float64bits(x)) << 1 // the sign, which is dropped, is that of no time
	if ended {
		v++
	}
	return v
}

func (v value) x() float64  { return math.Float64frombits(uint64(v >> 1)) }
func (v value) ended() bool { return v&1 > 0 }

// Reset removes all values and keeps the memory. The answers stay until the next Fit.
func (c *Curve) Reset() { c.values = c.values[:0] }

// Observe adds the time x of one that ended, or one that has run for x, or did when it was killed, and reports whether
// it was taken: one that is negative, NaN or infinite is not.
func (c *Curve) Observe(x float64, ended bool) bool {
	if !(x >= 0) || math.IsInf(x, 1) {
		return false
	}
	c.values = append(c.values, valueOf(x+0, ended))
	return true
}

// Fit makes the answers those of the values that there are now. O(n log n); no allocation once it was as large.
func (c *Curve) Fit() {
	c.fits++
	c.sort()
	c.at, c.above, c.area = c.at[:0], c.above[:0], c.area[:0]
	c.aboveOthers, c.areaOthers = c.aboveOthers[:0], c.areaOthers[:0]
	c.longest, c.second, c.ends = 0, 0, 0
	above, area, others, areaOthers, before := 1.0, 0.0, 1.0, 0.0, 0.0
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
		area += float64(above * (x - before)) // no fused multiply-add: one answer everywhere
		areaOthers += float64(others * (x - before))
		above *= float64(risk-ends) / float64(risk)
		others *= max(0, float64(risk-1-ends)) / float64(max(risk-1, 1))
		before = x
		c.at, c.above, c.area = append(c.at, x), append(c.above, above), append(c.area, area)
		c.aboveOthers, c.areaOthers = append(c.aboveOthers, others), append(c.areaOthers, areaOthers)
	}
	c.divide()
	c.n, c.second = int32(len(c.values)), c.longest
	if n := len(c.values); n > 1 && !c.values[n-1].ended() && c.values[n-2].x() < c.longest {
		c.second = c.values[n-2].x()
	}
	c.beyond = tail{silent: c.Silent}
	c.beyond = rest{curve: c, factor: 1, longest: c.longest}.tail()
}

// sort puts the values in order: many of them first each near its place, by the part of the range in which it lies.
func (c *Curve) sort() {
	n := len(c.values)
	if n >= manyEnds {
		if c.parts == nil {
			c.parts = new(parts)
		}
		c.values = c.parts.order(c.values, slices.Max(c.values).x())
	}
	moves := 0
	for i := 1; i < n; i++ {
		v, at := c.values[i], i
		for ; at > 0 && c.values[at-1] > v; at-- {
			c.values[at] = c.values[at-1]
		}
		c.values[at] = v
		if moves += i - at; moves > mostMoves*n { // a few that take very long leave all others in one part
			slices.Sort(c.values)
			return
		}
	}
}

// mostMoves is by how many places a value is moved on average before a sort of all is faster.
const mostMoves = 16

// order returns the values in the order of their parts, and keeps the memory of those that it was given.
func (p *parts) order(values []value, longest float64) []value {
	n := len(values)
	p.divide(n, longest)
	for _, v := range values {
		p.starts[p.of(v.x())+1]++
	}
	for i := range n {
		p.starts[i+1] += p.starts[i]
	}
	ordered := slices.Grow(p.values[:0], n)[:n]
	for _, v := range values {
		at := &p.starts[p.of(v.x())]
		ordered[*at] = v
		*at++
	}
	p.values = values
	return ordered
}

// divide makes n empty parts of the time up to the longest.
func (p *parts) divide(n int, longest float64) {
	p.starts = slices.Grow(p.starts[:0], n+1)[:n+1]
	clear(p.starts)
	p.from = math.Float64bits(longest)
	p.from -= min(p.from, 1<<(octaves+num.Fraction))
}

// parts divides a range of times into parts, as many as there are times, to find or sort a time quickly. Each part is longer
// than the part before it by one factor: few times are long, and the short ones are close together.
type parts struct {
	starts []int32 // of each part, how many times lie before it; and all
	from   uint64  // the bits of the time at which the first begins
	values []value // scratch of sort
}

// manyEnds is from how many times on a search in parts, or a sort by them, is much faster.
const manyEnds = 64

const (
	octaves = 4                 // the range of the parts halves 2^octaves times: the shortest part is 2^-16 of the longest time
	spare   = num.Fraction - 32 // of these that are left out, so that a product with a number of parts fits into 64 bits
)

// of returns in which part a time is; a larger one is in no earlier part. The bits of a float64 are its logarithm, by chords.
func (p *parts) of(x float64) int {
	bits := math.Float64bits(max(x, 0))
	bits = min(bits-min(bits, p.from), 1<<(octaves+num.Fraction)) // so that the product does not overflow
	n := len(p.starts) - 1
	return min(int(bits>>(octaves+spare)*uint64(n)>>(num.Fraction-spare)), n-1)
}

// divide makes the parts in which a time is looked for.
func (c *Curve) divide() {
	n := len(c.at)
	if n < manyEnds {
		if c.parts != nil {
			c.parts.starts = c.parts.starts[:0]
		}
		return
	}
	if c.parts == nil {
		c.parts = new(parts)
	}
	p := c.parts
	p.divide(n, c.at[n-1])
	next := 0
	for i, at := range c.at {
		for part := p.of(at); next <= part; next++ {
			p.starts[next] = int32(i)
		}
	}
	for ; next <= n; next++ {
		p.starts[next] = int32(n)
	}
}

// Len returns the number of values.
func (c *Curve) Len() int { return int(c.n) }

// Ends returns how many of them are of tasks that ended.
func (c *Curve) Ends() int { return int(c.ends) }

// Longest returns L, the longest of all values, from which on the tail holds; 0 if there is none.
func (c *Curve) Longest() float64 { return c.longest }

// index returns how many times of ends are at most x, or with strict below it.
func (c *Curve) index(x float64, strict bool) int { return c.indexFrom(0, x, strict) }

// indexFrom is index where it is known to be low or more.
func (c *Curve) indexFrom(low int, x float64, strict bool) int {
	high := len(c.at)
	if p := c.parts; p != nil && len(p.starts) > 0 {
		part := p.of(x)
		low, high = max(low, int(p.starts[part])), int(p.starts[part+1])
	}
	for low < high { // no slices.BinarySearch: it asks of each value whether it is NaN, and none is
		mid := int(uint(low+high) >> 1)
		if at := c.at[mid]; at < x || at == x && !strict {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// step returns P(T > t) after the first i ends and the area up to the last of them, at which it begins.
func (c *Curve) step(i int) (above, area, from float64) {
	if i == 0 {
		return 1, 0, 0
	}
	return c.above[i-1], c.area[i-1], c.at[i-1]
}

// Above returns P(T > t); 0 of an empty curve. O(log n).
func (c *Curve) Above(t float64) float64 { return c.survives(t, false) }

// survives returns P(T > t), or with strict P(T >= t).
func (c *Curve) survives(t float64, strict bool) float64 {
	switch {
	case c.n == 0 || t != t:
		return 0
	case t < 0 || strict && t == 0:
		return 1
	}
	return c.after(c.index(t, strict), t)
}

// after returns P(T > t) after the first i ends.
func (c *Curve) after(i int, t float64) float64 {
	above, _, _ := c.step(i)
	if t > c.longest {
		above = float64(above * c.beyond.above(t))
	}
	return above
}

// within returns P(a < T <= b) of a curve that is not empty; a must be at least 0 and at most b.
func (c *Curve) within(a, b float64) float64 {
	i := c.index(a, false)
	return max(0, c.after(i, a)-c.after(c.indexFrom(i, b, false), b))
}

// mass returns the area of P(T > t) from a to infinity. a must be at most L.
func (c *Curve) mass(a float64) float64 {
	last, _, _ := c.step(len(c.at))
	return c.upToLongest(a) + float64(last*c.beyond.mean()) // no fused multiply-add: one answer everywhere
}

// upToLongest returns the area of P(T > t) from a to L.
func (c *Curve) upToLongest(a float64) float64 {
	last, total, from := c.step(len(c.at))
	total += float64(last * (c.longest - from))
	above, area, from := c.step(c.index(a, false))
	return max(0, total-(area+float64(above*(a-from))))
}

// Mean returns E(T). O(1).
func (c *Curve) Mean() float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	return c.mass(0)
}

// CDF returns P(T <= t). O(log n).
func (c *Curve) CDF(t float64) float64 { return c.below(t, false) }

// Below returns P(T < t). O(log n).
func (c *Curve) Below(t float64) float64 { return c.below(t, true) }

func (c *Curve) below(t float64, strict bool) float64 {
	if c.n == 0 {
		return 0
	}
	return 1 - c.survives(t, strict)
}

// Quantile returns the smallest t with CDF(t) >= p; +Inf for a p of 1 if the curve does not reach it. O(log n).
func (c *Curve) Quantile(p float64) float64 { return c.quantile(p, 1) }

// quantile returns the smallest t at which P(T > t) is at most (1-p) of the whole.
func (c *Curve) quantile(p, whole float64) float64 {
	if c.n == 0 {
		return math.Inf(1)
	}
	bar := remainder(p) * whole
	low, high := 0, len(c.above)
	for low < high { // a function to compare by would take longer than the search
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

// remainder returns 1-p, with p outside [0, 1] moved to the nearer end and NaN to 0.
func remainder(p float64) float64 {
	if p != p {
		return 1
	}
	return 1 - min(max(p, 0), 1)
}
