package outlier

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

const (
	// maxValue bounds the values, so that no sum of distances overflows.
	maxValue = 1e290
	// maxDensity bounds a finite density, so that no sum of densities overflows: mean distances below 1e-296 are not
	// told apart.
	maxDensity = 1e296
)

// LOF returns the local outlier factor of each value over its l nearest others [DynamicShare §3.3, equations 4 and 5]:
// about 1 for a value as close to its neighbours as these are to theirs, more for one that stands apart. The unit does
// not matter. l is at least the number of outliers that may lie together, and less than the other values by as many.
//
// Neighbours are chosen as Breunig et al. define it: every other value at no more than the distance of the l-th
// nearest, so more than l of them if some are tied. Distances are compared as computed: 0.3-0.25 and 0.25-0.2 are not
// tied. Where more than l values are equal, their density is infinite: their factor is 1, and that of a value which
// has one of them among its neighbours but is not one of them is +Inf. [Scorer] takes a floor against that. A factor
// is never NaN.
//
// Fewer than 2 values, values that are not finite or beyond 1e290, and an l outside 1 to len(values)-1 are errors.
// O(n log n + n l) time and O(n) memory, allocated each time; a [Scorer] keeps it.
func LOF(values []float64, l int) ([]float64, error) {
	return new(Scorer).Score(nil, values, l, 0)
}

// Scorer computes local outlier factors and keeps its memory from one call to the next. The zero value is ready to use.
// Not safe for concurrent use; one per job or worker that is watched.
type Scorer struct {
	sorted []ranked
	groups []group
}

type ranked struct {
	value float64
	index int
}

// group is a set of equal values. Its neighbourhood is the run of groups from lo to hi, less one copy of the value.
type group struct {
	value    float64
	size     int
	lo, hi   int
	count    int     // |N_l|
	distance float64 // l-distance
	density  float64 // lrd
	factor   float64
}

// Score appends the factors of values to dst, as [LOF] does, with a reachability distance of at least floor. A floor of
// the resolution of the values, say a millisecond, keeps a block of equal values from making all others outliers; 0 is
// the paper's definition. A floor that is negative or not finite is an error. Score allocates only when it is given
// more values than ever before, or dst lacks the capacity.
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

// group sorts the values and gathers equal ones, so that many equal values cost no more than one.
func (s *Scorer) group(values []float64) {
	s.sorted = s.sorted[:0]
	for i, v := range values {
		s.sorted = append(s.sorted, ranked{v, i})
	}
	slices.SortFunc(s.sorted, func(a, b ranked) int {
		switch { // no value is NaN, which cmp.Compare would look for
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

// neighbourhood finds N_l and the l-distance of group i by widening a run of groups to the nearer side.
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
		if count >= l && nearest > distance { // all that are tied with the l-th are in
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

// densityOf returns lrd, equation 4: how many neighbours there are to a unit of reachability distance.
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
		if b.distance > reach { // not max, which looks for NaN
			reach = b.distance
		}
		if floor > reach {
			reach = floor
		}
		sum += float64(float64(b.size) * reach) // the conversion forbids a fused multiply-add: one answer everywhere
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return min(float64(g.count)/sum, maxDensity)
}

// factorOf returns LOF, equation 5.
func (s *Scorer) factorOf(i int) float64 {
	g := &s.groups[i]
	if math.IsInf(g.density, 1) {
		return 1 // its neighbours are its equals
	}
	sum := float64(float64(g.size-1) * g.density)
	for k := g.lo; k <= g.hi; k++ {
		if k != i {
			sum += float64(float64(s.groups[k].size) * s.groups[k].density)
		}
	}
	return sum / float64(g.count) / g.density
}
