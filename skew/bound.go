package skew

import "math"

// Bound returns a lower bound in seconds: no assignment of the problem ends earlier. So a plan takes at most
// Plan.Seconds/seconds times as long as the best plan. The bound is the largest of three times:
//
//   - the end of the largest partition alone, on the reduce task where it would end first
//   - the end of two partitions together on one reduce task: the two smallest of the R+1 largest partitions, where
//     R is the number of reduce tasks, because some reduce task gets at least two of these R+1
//   - the time at which all reduce tasks would end together if partitions could be split without limit
//
// If the first time is the largest, partition is the index of the largest partition. Otherwise partition is -1.
//
// Bound ignores deadlines. It returns the same errors as [Policy.Assign]. Bound takes O(p log p) for p partitions.
// If the reduce tasks have estimates, it calls Reducer.Seconds about 3000 R times. It allocates slices for the
// sizes and the reduce tasks.
func Bound(p Problem) (seconds float64, partition int, err error) {
	if err := p.validate(); err != nil {
		return 0, -1, err
	}
	t := newTiming(p.Reducers)
	g := greedy{sizes: p.Sizes, timing: &t}
	seconds, partition = g.bound()
	return seconds, partition, g.err
}

// bound computes the result of the function Bound.
func (g *greedy) bound() (seconds float64, partition int) {
	largest := LargestFirst(make([]int, 0, len(g.sizes)), g.sizes)
	seconds = g.divisibleEnd()
	if r := len(g.timing.reducers); len(largest) > r {
		seconds = max(seconds, g.earliestAlone(g.sizes[largest[r-1]]+g.sizes[largest[r]]))
	}
	if alone := g.earliestAlone(g.sizes[largest[0]]); alone >= seconds {
		return alone, largest[0]
	}
	return seconds, -1
}

// earliestAlone returns the earliest time at which a reduce task could end if it got partitions of this total size
// and no others.
func (g *greedy) earliestAlone(size int64) float64 {
	if size == 0 {
		return 0
	}
	least := math.Inf(1)
	for r := range g.timing.reducers {
		least = min(least, g.endAt(r, size))
	}
	return least
}

// divisibleEnd returns the time at which all reduce tasks would end together if partitions could be split without
// limit. The result is rounded down to the nearest float.
func (g *greedy) divisibleEnd() float64 {
	var total int64
	for _, size := range g.sizes {
		total += size
	}
	low, high := 0.0, g.earliestAlone(total)
	for range 64 {
		middle := low + float64((high-low)/2)
		room := 0.0
		for r := range g.timing.reducers {
			room += g.room(r, middle, total)
		}
		if room < float64(total) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// room returns the largest size with which reduce task r ends no later than the time by. If Reducer.Seconds gives
// the time of r, the result is at most total.
func (g *greedy) room(r int, by float64, total int64) float64 {
	if unit := g.timing.perUnit[r]; unit != 0 {
		return max(by-g.timing.ready[r], 0) / unit
	}
	return float64(largestThat(total, func(size int64) bool { return g.endAt(r, size) <= by }))
}

// largestThat returns the largest size from 1 to limit for which fits is true, or 0 if there is none. If fits is
// true for a size, it must be true for each smaller size.
func largestThat(limit int64, fits func(int64) bool) int64 {
	low := int64(0)
	for low < limit {
		if middle := limit - (limit-low)/2; fits(middle) {
			low = middle
		} else {
			limit = middle - 1
		}
	}
	return low
}
