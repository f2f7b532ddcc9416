package fairshare

import (
	"math/bits"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// level is the number L of units per weight at which pools share: L = units/weight. The field units is the number
// of units that some pools divide, and weight is the sum of their weights.
type level struct{ units, weight int64 }

func (l level) float() float64 { return float64(l.units) / float64(l.weight) }

// state says how the share of a pool follows from L, the number of units per weight, and w, the weight of the
// pool.
type state uint8

const (
	free state = iota // the share is L·w
	low               // L·w is less than the lower bound of the share, so the share is the lower bound
	high              // L·w is more than the upper bound of the share, so the share is the upper bound
)

// filler is the working space in which a tree divides units. Each tree has one filler, so that a division
// allocates nothing. The share of the pool at position i must be at least lo[i] and at most hi[i].
type filler struct {
	lo, hi, want, weight []int64 // by position of the pool; want is the demand
	slots, rest          []int64 // by position: the share rounded down or up, and the numerator of its fraction
	state                []state // by position of the pool
	active               []int32 // positions of the pools for which the method level has not yet found the state
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

// least returns the sum of the lower bounds of the shares at the positions first to end-1. The sum cannot
// overflow, because newForest has checked the sum of the minimums.
func (f *filler) least(first, end int32) (sum int64) {
	for _, lo := range f.lo[first:end] {
		sum += lo
	}
	return sum
}

// most adds up the upper bounds of the shares at the positions first to end-1. If the sum is at most total, most
// returns the sum and true. Otherwise most returns 0 and false; such a sum may not fit in an int64.
func (f *filler) most(first, end int32, total int64) (sum int64, fits bool) {
	for _, hi := range f.hi[first:end] {
		if hi > total-sum {
			return 0, false
		}
		sum += hi
	}
	return sum, true
}

// maxPasses is the number of passes after which the method level stops guessing and sorts instead. Each pass
// settles the state of at least one pool, and in practice of most pools. For bad inputs guessing alone would cost
// O(n²) for n pools; with sorting the cost is O(n log n).
const maxPasses = 10

// level returns the level L, in units per weight, at which the shares of the pools at the positions first to end-1
// add up to total. The share of a pool with the weight w is L·w, limited to the range from lo to hi. The sum of lo
// must be at most total, and the sum of hi must be larger. The method also sets the state of each pool.
//
// The method works in passes. A pool is active as long as its state is not settled. Each pass guesses L: the level
// at which the active pools would share the remaining units if their shares had no bounds. Then the pass limits
// the shares of the active pools to their bounds:
//
//   - If the limits add more units than they remove, L is at most the guess. A share that was raised to lo is then
//     lo in the result, too, so the pass settles these pools.
//   - Otherwise L is at least the guess. A share that was lowered to hi is then hi in the result, too, so the pass
//     settles these pools.
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

// pass improves the guess l of the level, which is the number of units per weight. It settles the state of the
// active pools on one side: either all with shares below their lower bounds, or all with shares above their upper
// bounds. pass returns false if all shares are within their bounds; then l is the level.
func (f *filler) pass(l *level) bool {
	var lowUnits, highUnits, lowWeight, highWeight int64
	for _, i := range f.active {
		lo, hi, w := f.lo[i], f.hi[i], f.weight[i]
		switch at := exact.Product(l.units, w); { // at is the share L·w, times l.weight
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
	// Each share is limited to its bounds, from L times its weight. L is the level. This changes the sum of the shares
	// by lowUnits + highUnits - L·(lowWeight + highWeight).
	// lowUnits and highUnits are each at most l.units, so their sum fits in a uint64.
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

// fix removes all pools in state s from the active pools: their state is settled.
func (f *filler) fix(s state) {
	kept := f.active[:0]
	for _, i := range f.active {
		if f.state[i] != s {
			kept = append(kept, i)
		}
	}
	f.active = kept
}

// breakpoint is a level, in units per weight, at which the share of one pool begins or ceases to grow with the
// level. If end is false, the share leaves its lower bound at this level. If end is true, the share reaches its
// upper bound.
type breakpoint struct {
	pool int32
	end  bool
}

// units returns the bound of the share at which the breakpoint lies: the upper bound if k.end is true, or else the
// lower.
func (f *filler) units(k breakpoint) int64 {
	if k.end {
		return f.hi[k.pool]
	}
	return f.lo[k.pool]
}

// sweep finds the level, in units per weight, at which the active pools share l.units units. l.weight is the sum of
// their weights. A breakpoint is a level at which the share of a pool leaves or reaches a bound. sweep sorts the
// breakpoints and visits them from the lowest level to the highest.
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
		// At a level L up to this breakpoint the sum of the shares is fixed + L·weight. The loop ends as soon as
		// this sum reaches l.units.
		if exact.CompareProducts(at.units, weight, l.units-fixed, at.weight) >= 0 {
			if l = (level{units: l.units - fixed, weight: weight}); weight == 0 {
				l = at // every share is at a bound, so every level between two breakpoints is right
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

// byLevel orders breakpoints by level. At the same level, lower bounds of shares come before upper bounds.
func (f *filler) byLevel(a, b breakpoint) int {
	switch c := exact.CompareProducts(f.units(a), f.weight[b.pool], f.units(b), f.weight[a.pool]); {
	case c != 0 || a.end == b.end:
		return c
	case b.end:
		return -1
	}
	return 1
}
