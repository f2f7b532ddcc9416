package outlier

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

const (
	// maxValue is the largest absolute value, so that no sum of distances overflows.
	maxValue = 1e290
	// maxDensity is the largest finite density, so that no sum of densities overflows. Mean distances below 1e-296 count
	// as equal.
	maxDensity = 1e296
)

// LOF returns the local outlier factor of each value over its l nearest other values [DynamicShare §3.3, equations 4 and
// 5]. A factor of about 1 means that the value is as close to its neighbours as the neighbours are to their own. A larger
// factor means an outlier. For example, 10, 11, 12, 13 and 30 have the factors 1, 1, 1, 1 and 11.67 for l = 2. The unit of
// the values does not matter. Set l to at least the number of outliers that may lie together. The number of other values
// should exceed l by at least this number too.
//
// The neighbours follow the definition of Breunig et al.: all other values within the distance of the l-th nearest value.
// So ties can make more than l neighbours. Distances are compared as computed: in float64, 0.3-0.25 and 0.25-0.2 are not
// tied.
//
// If more than l values are equal, their density is infinite and their factor is 1. Another value with such a value among
// its neighbours has the factor +Inf. The floor of [Scorer.Score] prevents this. A factor is never NaN.
//
// The error says that there are fewer than 2 values, that a value is not finite or beyond 1e290, or that l is outside 1 to
// len(values)-1. O(n log n + n l) time and O(n) memory, allocated in each call; a [Scorer] reuses its memory.
func LOF(values []float64, l int) ([]float64, error) {
	return new(Scorer).Score(nil, values, l, 0)
}

// Scorer computes local outlier factors and reuses its memory. The zero value is ready to use. Not safe for concurrent use;
// each job needs its own Scorer.
type Scorer struct {
	sorted []ranked
	groups []group
}

// ranked is a value and its index in the caller's slice.
type ranked struct {
	value float64
	index int
}

// group is a set of equal values. The neighbours of a value in the group are all values of the groups lo to hi, except the
// value itself.
type group struct {
	value    float64
	size     int     // number of equal values
	lo, hi   int     // indices of the first and the last group of neighbours
	count    int     // |N_l|, the number of neighbours
	distance float64 // l-distance
	density  float64 // lrd
	factor   float64
}

// Score appends the factors of values to dst, as [LOF] computes them, with a reachability distance of at least floor. A
// floor of the values' resolution, such as a millisecond, prevents that a group of equal values makes all other values
// outliers. A floor of 0 is the paper's definition. The error names a floor that is negative or not finite. Score allocates
// only if it gets more values than ever before, or if dst lacks the capacity.
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

// group sorts the values and collects equal values in groups. A group then costs the same work as a single value.
func (s *Scorer) group(values []float64) {
	s.sorted = s.sorted[:0]
	for i, v := range values {
		s.sorted = append(s.sorted, ranked{v, i})
	}
	slices.SortFunc(s.sorted, func(a, b ranked) int {
		switch { // no value is NaN, so cmp.Compare and its test for NaN are not needed
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

// neighbourhood finds N_l and the l-distance of group i. The search extends a range of groups on the nearer side.
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
		if count >= l && nearest > distance { // all values tied with the l-th nearest are included
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

// densityOf returns lrd of group i by equation 4: the number of neighbours for each unit of reachability distance.
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

// factorOf returns LOF of group i by equation 5.
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
