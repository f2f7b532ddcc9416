package fairshare

import (
	"math/bits"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// level is the water level L = units/weight among the pools that stand at it.
type level struct{ units, weight int64 }

func (l level) float() float64 { return float64(l.units) / float64(l.weight) }

// state is where a pool stands with respect to the level.
type state uint8

const (
	free state = iota // at the level
	low               // at its lower end, above the level
	high              // at its upper end, below the level
)

// filler finds the level among pools at positions first to end, exactly. It is the working space of a tree.
type filler struct {
	lo, hi, want, weight []int64 // by position
	slots, rest          []int64 // by position: whole share, and the numerator of the fraction lost
	state                []state // by position
	active               []int32
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

// least returns the sum of the lower ends, which newForest has made sure not to overflow.
func (f *filler) least(first, end int32) (sum int64) {
	for _, lo := range f.lo[first:end] {
		sum += lo
	}
	return sum
}

// most returns the sum of the upper ends if it fits in total. It may be beyond int64 if it does not.
func (f *filler) most(first, end int32, total int64) (sum int64, fits bool) {
	for _, hi := range f.hi[first:end] {
		if hi > total-sum {
			return 0, false
		}
		sum += hi
	}
	return sum, true
}

// maxPasses is after how many passes the level is found by sorting instead. Passes fix at least one pool each and most
// of them in practice; sorting bounds the cost where they do not.
const maxPasses = 10

// level returns L such that clamp(L·w, lo, hi) adds up to total, for sum(lo) <= total < sum(hi), and leaves in state
// where each pool stands.
//
// A guess is the level at which the pools not yet fixed would stand if none of them had bounds. Clamping them to their
// bounds either adds more than it takes away, and then L is at most the guess, so that pools pushed up to their lower
// ends stay there; or it does not, and then those held down at their upper ends stay there. All is done in 128 bits.
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

// pass fixes the pools on one side of the guess l and improves l. It reports false if there are none to fix.
func (f *filler) pass(l *level) bool {
	var lowUnits, highUnits, lowWeight, highWeight int64
	for _, i := range f.active {
		lo, hi, w := f.lo[i], f.hi[i], f.weight[i]
		switch at := exact.Product(l.units, w); { // over l.weight
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
	// Clamping changes the sum by low + high - L·(their weights). Each of low and high is at most l.units.
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

// fix takes the pools in state s out of the active ones.
func (f *filler) fix(s state) {
	kept := f.active[:0]
	for _, i := range f.active {
		if f.state[i] != s {
			kept = append(kept, i)
		}
	}
	f.active = kept
}

// breakpoint is a level units/weight at which a pool begins or ceases to stand at the level: that of its lower or upper
// end.
type breakpoint struct {
	pool int32
	end  bool
}

func (f *filler) units(k breakpoint) int64 {
	if k.end {
		return f.hi[k.pool]
	}
	return f.lo[k.pool]
}

// sweep finds the level among the active pools from the sorted breakpoints, where l is the guess that leaves all of
// them free.
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
		// Up to this breakpoint the sum is fixed + L·weight. Stop where that reaches the units there are.
		if exact.CompareProducts(at.units, weight, l.units-fixed, at.weight) >= 0 {
			if l = (level{units: l.units - fixed, weight: weight}); weight == 0 {
				l = at // nobody is free: every level between two breakpoints will do
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

// byLevel orders breakpoints by level. At the same level pools begin before they end.
func (f *filler) byLevel(a, b breakpoint) int {
	switch c := exact.CompareProducts(f.units(a), f.weight[b.pool], f.units(b), f.weight[a.pool]); {
	case c != 0 || a.end == b.end:
		return c
	case b.end:
		return -1
	}
	return 1
}
