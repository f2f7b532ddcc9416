package outlier

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

const (
	// maxValue is the largest absolute value that is allowed, so that no sum of distances overflows.
	maxValue = 1e290
	// maxDensity is the largest density that is finite, so that no sum of densities overflows. A density is the
	// inverse of a mean distance, so mean distances below 1e-296 are treated as equal.
	maxDensity = 1e296
)

// LOF returns the local outlier factor of each value. It compares each value with its l nearest other values, which
// are called its neighbours [DynamicShare §3.3, equations 4 and 5]. A factor of about 1 means that a value is as
// close to its neighbours as its neighbours are to their own neighbours. A larger factor means that the value is an
// outlier. For example, with l = 2, the values 10, 11, 12, 13 and 30 have the factors 1, 1, 1, 1 and 11.67. The unit
// of the values does not matter. If k outliers may have nearly equal values, choose l so that it is at least k, and
// so that there are at least l+k other values.
//
// As Breunig et al. define it, the neighbours are all other values that are at most as far away as the l-th
// nearest value. So a value may have more than l neighbours if distances are equal. Distances are compared as
// float64 numbers. For example, 0.3-0.25 and 0.25-0.2 are not equal.
//
// If more than l values are equal, their density is infinite and their factor is 1. If such a value is a neighbour
// of a different value, the factor of the different value is +Inf. The argument floor of [Scorer.Score] prevents
// this. A factor is never NaN.
//
// LOF returns an error if there are fewer than 2 values, if a value is not finite or beyond 1e290, or if l is not
// from 1 to len(values)-1. Cost: O(n log n + n l) time and O(n) memory for n values. LOF allocates in each call; a
// [Scorer] uses its memory again.
func LOF(values []float64, l int) ([]float64, error) {
	return new(Scorer).Score(nil, values, l, 0)
}

// Scorer computes local outlier factors and uses its memory again in later calls. The zero value is ready for use.
// A Scorer is not safe for concurrent use. Use one Scorer for each job.
type Scorer struct {
	sorted []ranked
	groups []group
}

// ranked is a value, and its index in the slice of the caller.
type ranked struct {
	value float64
	index int
}

// group is a set of equal values. The neighbours of a value in the group are all other values in the groups with
// the indices lo to hi.
type group struct {
	value    float64
	size     int     // number of equal values
	lo, hi   int     // indices of the first and the last group of neighbours
	count    int     // the number of neighbours of each value; |N_l| in the paper
	distance float64 // the distance to the farthest neighbour; l-distance in the paper
	density  float64 // the inverse of the mean reachability distance; lrd in the paper
	factor   float64 // the local outlier factor of each value
}

// Score appends to dst the local outlier factor of each value, as [LOF] computes it, and returns dst. In equation 4
// each reachability distance that is smaller than floor is replaced by floor. If many values are equal because they
// are rounded, for example to a millisecond, use this unit as floor. Otherwise a group of equal values would make all
// other values outliers. With a floor of 0 the factors are as in the paper. Score returns an error as LOF does, or if
// floor is negative or not finite. It allocates only if it gets more values than ever before, or if dst is too short.
func (s *Scorer) Score(dst, values []float64, l int, floor float64) ([]float64, error) {
	if err := checkLOF(values, l, floor); err != nil {
		return dst, err
	}
	s.group(values)
	for i := range s.groups {
		s.neighbourhood(i, l)
	}
	for i := range s.groups {
		s.groups[i].density = s.densityOf(i, floor)
	}
	for i := range s.groups {
		s.groups[i].factor = s.factorOf(i)
	}
	start := len(dst)
	dst = slices.Grow(dst, len(values))[:start+len(values)]
	i := 0
	for _, r := range s.sorted {
		if r.value != s.groups[i].value {
			i++
		}
		dst[start+r.index] = s.groups[i].factor
	}
	return dst, nil
}

// checkLOF returns an error for the first argument that is out of range.
func checkLOF(values []float64, l int, floor float64) error {
	if len(values) < 2 {
		return check.Bad("laxity/outlier", "the number of values", len(values), "2 or more")
	}
	if l < 1 || l >= len(values) {
		return check.Badf("laxity/outlier", "l", l, "1 to %d, less than the number of values", len(values)-1)
	}
	if !(floor >= 0 && floor <= maxValue) {
		return check.Badf("laxity/outlier", "floor", floor, "0 to %g", maxValue)
	}
	for i, v := range values {
		if !(math.Abs(v) <= maxValue) {
			return check.Badf("laxity/outlier", check.At("values", i, ""), v, "-%g to %g", maxValue, maxValue)
		}
	}
	return nil
}

// group sorts the values and divides them into groups of equal values. Each group then costs as much work as a
// single value.
func (s *Scorer) group(values []float64) {
	s.sorted = s.sorted[:0]
	for i, v := range values {
		s.sorted = append(s.sorted, ranked{v, i})
	}
	slices.SortFunc(s.sorted, func(a, b ranked) int {
		switch { // no value is NaN, so the test of cmp.Compare for NaN is not needed
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	s.groups = s.groups[:0]
	for _, r := range s.sorted {
		if n := len(s.groups); n > 0 && s.groups[n-1].value == r.value {
			s.groups[n-1].size++
		} else {
			s.groups = append(s.groups, group{value: r.value, size: 1})
		}
	}
}

// neighbourhood finds the neighbours of the values in group i: the l nearest other values. It starts with group i
// and adds the nearest group below or above, until there are enough values.
func (s *Scorer) neighbourhood(i, l int) {
	groups := s.groups
	g := &groups[i]
	lo, hi, count, distance := i, i, g.size-1, 0.0
	for {
		left, right := math.Inf(1), math.Inf(1)
		if lo > 0 {
			left = g.value - groups[lo-1].value
		}
		if hi+1 < len(groups) {
			right = groups[hi+1].value - g.value
		}
		nearest := left
		if right < left {
			nearest = right
		}
		if count >= l && nearest > distance { // all values that are as far away as the l-th nearest value are included
			break
		}
		distance = nearest
		if left == nearest {
			lo--
			count += groups[lo].size
		}
		if right == nearest {
			hi++
			count += groups[hi].size
		}
	}
	g.lo, g.hi, g.count, g.distance = lo, hi, count, distance
}

// densityOf returns the density of the values in group i by equation 4, lrd in the paper: the number of neighbours
// divided by the sum of the reachability distances. A reachability distance that is smaller than floor is replaced by
// floor.
func (s *Scorer) densityOf(i int, floor float64) float64 {
	g := &s.groups[i]
	value := g.value
	sum := float64(float64(g.size-1) * max(g.distance, floor))
	for k := g.lo; k <= g.hi; k++ {
		if k == i {
			continue
		}
		b := &s.groups[k]
		reach := math.Abs(value - b.value)
		if b.distance > reach { // max would also test for NaN
			reach = b.distance
		}
		if floor > reach {
			reach = floor
		}
		sum += float64(float64(b.size) * reach) // the conversion prevents a fused multiply-add, so all machines agree
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return min(float64(g.count)/sum, maxDensity)
}

// factorOf returns the local outlier factor of the values in group i by equation 5.
func (s *Scorer) factorOf(i int) float64 {
	g := &s.groups[i]
	if math.IsInf(g.density, 1) {
		return 1 // all neighbours are equal to the value
	}
	sum := float64(float64(g.size-1) * g.density)
	for k := g.lo; k <= g.hi; k++ {
		if k != i {
			sum += float64(float64(s.groups[k].size) * s.groups[k].density)
		}
	}
	return sum / float64(g.count) / g.density
}
