package skew

import "math"

// Bound returns a time in seconds from now before which no assignment of the problem ends, and the partition that sets
// it: the largest, if that alone takes so long wherever it goes, else -1. So a plan's Seconds against it says how far
// from the best the plan is at most. It is the largest of
//
//   - the time of the largest partition where it would end first;
//   - that of the two smallest of the R+1 largest together, since some reduce task gets two of these;
//   - the time by which all would end if partitions could be cut at will.
//
// Deadlines are not heeded. Errors are those of [Policy.Assign]. O(p log p), and with estimates some 3000 R calls of
// Reducer.Seconds; it allocates a copy of the sizes and what is known of the reduce tasks.
func Bound(p Problem) (seconds float64, partition int, err error) {
	if err := p.validate(); err != nil {
		return 0, -1, err
	}
	t := newTeam(p.Reducers)
	g := greedy{sizes: p.Sizes, team: &t}
	seconds, partition = g.bound()
	return seconds, partition, g.err
}

func (g *greedy) bound() (seconds float64, partition int) {
	largest := LargestFirst(make([]int, 0, len(g.sizes)), g.sizes)
	seconds = g.cutAtWill()
	if r := len(g.team.reducers); len(largest) > r {
		seconds = max(seconds, g.soonest(g.sizes[largest[r-1]]+g.sizes[largest[r]]))
	}
	if alone := g.soonest(g.sizes[largest[0]]); alone >= seconds {
		return alone, largest[0]
	}
	return seconds, -1
}

// soonest returns when a size would end if one reduce task got it and nothing else.
func (g *greedy) soonest(size int64) float64 {
	if size == 0 {
		return 0
	}
	least := math.Inf(1)
	for r := range g.team.reducers {
		least = min(least, g.endAt(r, size))
	}
	return least
}

// cutAtWill returns a time, to the nearest float below, by which not all could end even if it were cut at will.
func (g *greedy) cutAtWill() float64 {
	var total int64
	for _, size := range g.sizes {
		total += size
	}
	low, high := 0.0, g.soonest(total)
	for range 64 {
		middle := low + float64((high-low)/2)
		room := 0.0
		for r := range g.team.reducers {
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

// room returns how much reduce task r can get to end by then, of so much.
func (g *greedy) room(r int, by float64, total int64) float64 {
	if unit := g.team.perUnit[r]; unit != 0 {
		return max(by-g.team.ready[r], 0) / unit
	}
	return float64(mostThat(total, func(size int64) bool { return g.endAt(r, size) <= by }))
}

// mostThat returns the largest size up to so much that fits, or 0, if what is below a size that fits does, too.
func mostThat(limit int64, fits func(int64) bool) int64 {
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
