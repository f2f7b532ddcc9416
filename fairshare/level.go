package fairshare

import (
	"math/bits"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// level is the water level L = units/weight: units are shared by pools with this sum of weights.
type level struct{ units, weight int64 }

func (l level) float() float64 { return float64(l.units) / float64(l.weight) }

// state says which of three numbers fixes the share of a pool: the level or an end of the pool's interval.
type state uint8

const (
	free state = iota // the share is L·w
	low               // L·w is below the lower end: the share is the lower end
	high              // L·w is above the upper end: the share is the upper end
)

// filler finds the exact level among the pools at positions first to end. Each tree has one filler as working space,
// so that a division allocates nothing. lo and hi are the ends of the interval in which a pool's share must lie.
type filler struct {
	lo, hi, want, weight []int64 // by position
	slots, rest          []int64 // by position: the whole share, and the numerator of the fraction that rounding cuts off
	state                []state // by position
	active               []int32 // positions of the pools that level has not fixed yet
	fractions            []int64
	breakpoints          []breakpoint
}

func newFiller(n int) filler {
	amounts := make([]int64, 7*n)
	part := func(i int) []int64 { return amounts[i*n : (i+1)*n : (i+1)*n] }
	return filler{
		lo: part(0), hi: part(1), want: part(2), weight: part(3), slots: part(4), rest: part(5), fractions: part(6),
		state: make([]state, n), active: make([]int32, 0, n), breakpoints: make([]breakpoint, 0, 2*n),
	}
}

// least returns the sum of the lower ends. The sum cannot overflow, because newForest has checked the minimums.
func (f *filler) least(first, end int32) (sum int64) {
	for _, lo := range f.lo[first:end] {
		sum += lo
	}
	return sum
}

// most returns the sum of the upper ends, and true if the sum is at most total. If the sum is larger, most returns 0
// and false; the sum may be beyond int64.
func (f *filler) most(first, end int32, total int64) (sum int64, fits bool) {
	for _, hi := range f.hi[first:end] {
		if hi > total-sum {
			return 0, false
		}
		sum += hi
	}
	return sum, true
}

// maxPasses is the number of passes after which level sorts the breakpoints instead. Each pass fixes at least one
// pool, and in practice most pools. Sorting bounds the cost in the other cases: O(n log n) instead of O(n²).
const maxPasses = 10

// level returns the L for which the sum of clamp(L·w, lo, hi) is total. It requires sum(lo) <= total < sum(hi). It
// also sets the state of each pool.
//
// Each pass guesses the level at which the active pools would share the remaining units if they had no bounds. Then
// it clamps the active pools to their bounds:
//
//   - If clamping adds more units than it removes, L is at most the guess. So each pool that was raised to its lower
//     end stays there, and the pass fixes these pools.
//   - If not, L is at least the guess. So each pool that was cut to its upper end stays there, and the pass fixes
//     these pools.
//
// All products are computed in 128 bits.
func (f *filler) level(first, end int32, total int64) level {
	f.active = f.active[:0]
	l := level{units: total}
	for i := first; i < end; i++ {
		f.active = append(f.active, i)
		l.weight += f.weight[i]
	}
	for range maxPasses {
		if fixed := f.pass(&l); !fixed {
			return l
		}
	}
	return f.sweep(l)
}

// pass fixes the pools on one side of the guess l and improves l. It returns false if no active pool lies outside its
// bounds; then l is the level.
func (f *filler) pass(l *level) bool {
	var lowUnits, highUnits, lowWeight, highWeight int64
	for _, i := range f.active {
		lo, hi, w := f.lo[i], f.hi[i], f.weight[i]
		switch at := exact.Product(l.units, w); { // L·w times l.weight
		case at.Less(exact.Product(lo, l.weight)):
			f.state[i] = low
			lowUnits += lo
			lowWeight += w
		case exact.Product(hi, l.weight).Less(at):
			f.state[i] = high
			highUnits += hi
			highWeight += w
		default:
			f.state[i] = free
		}
	}
	if lowWeight == 0 && highWeight == 0 {
		return false
	}
	// Clamping changes the sum by lowUnits + highUnits - L·(lowWeight + highWeight). lowUnits and highUnits are each
	// at most l.units, so their sum fits in a uint64.
	var clamped exact.Wide
	clamped.Hi, clamped.Lo = bits.Mul64(uint64(lowUnits)+uint64(highUnits), uint64(l.weight))
	if exact.Product(l.units, lowWeight+highWeight).Less(clamped) {
		f.fix(low)
		l.units, l.weight = l.units-lowUnits, l.weight-lowWeight
	} else {
		f.fix(high)
		l.units, l.weight = l.units-highUnits, l.weight-highWeight
	}
	return true
}

// fix removes the pools in state s from the active pools.
func (f *filler) fix(s state) {
	kept := f.active[:0]
	for _, i := range f.active {
		if f.state[i] != s {
			kept = append(kept, i)
		}
	}
	f.active = kept
}

// breakpoint is a level units/weight at which the state of a pool changes: from low to free at the pool's lower end,
// or from free to high at its upper end (end is true).
type breakpoint struct {
	pool int32
	end  bool
}

// units returns the lower or the upper end of the breakpoint's pool.
func (f *filler) units(k breakpoint) int64 {
	if k.end {
		return f.hi[k.pool]
	}
	return f.lo[k.pool]
}

// sweep finds the level among the active pools by sorting the breakpoints and visiting them from the lowest level up.
// l holds the units to divide and the sum of the weights of the active pools.
func (f *filler) sweep(l level) level {
	f.breakpoints = f.breakpoints[:0]
	var fixed, weight int64
	for _, i := range f.active {
		f.state[i] = low
		fixed += f.lo[i]
		f.breakpoints = append(f.breakpoints, breakpoint{pool: i}, breakpoint{pool: i, end: true})
	}
	slices.SortFunc(f.breakpoints, f.byLevel)
	for _, k := range f.breakpoints {
		at := level{units: f.units(k), weight: f.weight[k.pool]}
		// Up to this breakpoint the sum of the shares is fixed + L·weight. Stop where the sum reaches l.units.
		if exact.CompareProducts(at.units, weight, l.units-fixed, at.weight) >= 0 {
			if l = (level{units: l.units - fixed, weight: weight}); weight == 0 {
				l = at // no pool is free, so every level between two breakpoints is right
			}
			break
		}
		if f.state[k.pool] = free; k.end {
			f.state[k.pool] = high
			fixed += f.hi[k.pool]
			weight -= f.weight[k.pool]
		} else {
			fixed -= f.lo[k.pool]
			weight += f.weight[k.pool]
		}
	}
	f.fix(low)
	f.fix(high)
	return l
}

// byLevel orders breakpoints by level. At equal levels, lower ends come before upper ends.
func (f *filler) byLevel(a, b breakpoint) int {
	switch c := exact.CompareProducts(f.units(a), f.weight[b.pool], f.units(b), f.weight[a.pool]); {
	case c != 0 || a.end == b.end:
		return c
	case b.end:
		return -1
	}
	return 1
}
