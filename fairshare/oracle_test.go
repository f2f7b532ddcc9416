package fairshare

import (
	"math/big"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// The oracle computes shares in exact rational arithmetic, directly from the definition. Among siblings it evaluates
// the sum of clamp(L·w, lo, hi) at every level where the sum changes its slope, and interpolates. It takes quadratic
// time.

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

func whole(a int64) *big.Rat { return new(big.Rat).SetInt64(a) }

func ratMin(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func ratMax(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// bucket is a pool in the oracle: the bounds of its share and its weight.
type bucket struct{ lo, hi, weight *big.Rat }

func sumAt(buckets []bucket, l *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, b := range buckets {
		sum.Add(sum, ratMin(ratMax(new(big.Rat).Mul(l, b.weight), b.lo), b.hi))
	}
	return sum
}

// oracleFill returns the shares of buckets with positive weights. It requires sum(lo) <= total < sum(hi).
func oracleFill(buckets []bucket, total *big.Rat) []*big.Rat {
	levels := []*big.Rat{new(big.Rat)}
	for _, b := range buckets {
		levels = append(levels, new(big.Rat).Quo(b.lo, b.weight), new(big.Rat).Quo(b.hi, b.weight))
	}
	slices.SortFunc(levels, (*big.Rat).Cmp)
	k := slices.IndexFunc(levels, func(l *big.Rat) bool { return sumAt(buckets, l).Cmp(total) >= 0 })
	l := levels[k]
	if k > 0 {
		below, above := sumAt(buckets, levels[k-1]), sumAt(buckets, levels[k])
		part := new(big.Rat).Quo(new(big.Rat).Sub(total, below), new(big.Rat).Sub(above, below))
		l = new(big.Rat).Sub(levels[k], levels[k-1])
		l.Mul(l, part).Add(l, levels[k-1])
	}
	shares := make([]*big.Rat, len(buckets))
	for i, b := range buckets {
		shares[i] = ratMin(ratMax(new(big.Rat).Mul(l, b.weight), b.lo), b.hi)
	}
	return shares
}

// oracle computes the bounds of the share of each pool by recursion.
type oracle struct {
	pools  []Pool
	policy Policy
	lo, hi []*big.Rat
}

func (o *oracle) children(parent int) (list []int) {
	for i, p := range o.pools {
		if p.Parent.Index() == parent {
			list = append(list, i)
		}
	}
	return list
}

func newOracle(pools []Pool, policy Policy) *oracle {
	o := &oracle{pools: pools, policy: policy, lo: make([]*big.Rat, len(pools)), hi: make([]*big.Rat, len(pools))}
	for _, i := range o.children(-1) {
		o.bound(i)
	}
	return o
}

func (o *oracle) bound(i int) {
	p := o.pools[i]
	least := whole(p.Min)
	hi := whole(p.Demand)
	if o.policy.Basis == Steady || o.policy.Basis == Entitled && p.Demand > 0 {
		hi = new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(1))
	}
	if children := o.children(i); len(children) > 0 {
		sumLo, sumHi := new(big.Rat), new(big.Rat)
		for _, c := range children {
			o.bound(c)
			sumLo.Add(sumLo, o.lo[c])
			sumHi.Add(sumHi, o.hi[c])
		}
		least, hi = ratMax(least, sumLo), sumHi // sumLo counts a child's minimum up to the child's demand
	}
	if p.Max == Zero {
		hi = new(big.Rat)
	} else if p.Max > 0 {
		hi = ratMin(hi, whole(p.Max))
	}
	o.lo[i], o.hi[i] = ratMin(least, hi), hi
}

// needed returns the part of the minimum that the demands of the pool and of each pool below it cover.
func (o *oracle) needed(i int) (needed int64) {
	for _, c := range o.children(i) {
		needed += o.needed(c)
	}
	return min(max(needed, o.pools[i].Min), o.wanted(i))
}

func (o *oracle) wanted(i int) int64 {
	sum := o.pools[i].Demand
	for _, c := range o.children(i) {
		sum = exact.Add(sum, o.wanted(c))
	}
	return min(sum, o.pools[i].limit())
}

func (o *oracle) guarantee(i int) int64 {
	var sum int64
	for _, c := range o.children(i) {
		sum += o.guarantee(c)
	}
	return max(sum, o.pools[i].Min)
}

// divide returns the real shares of the siblings by pool index. feasible is false if the minimums do not fit in
// total.
func (o *oracle) divide(siblings []int, d Discipline, total *big.Rat) (shares map[int]*big.Rat, feasible bool) {
	lo, hi := map[int]*big.Rat{}, map[int]*big.Rat{}
	least := new(big.Rat)
	for _, i := range siblings {
		lo[i], hi[i] = o.lo[i], o.hi[i]
		least.Add(least, lo[i])
	}
	feasible = least.Cmp(total) <= 0
	if !feasible {
		if o.policy.OnInfeasible == Scale {
			shares = map[int]*big.Rat{}
			for _, i := range siblings {
				shares[i] = new(big.Rat).Quo(new(big.Rat).Mul(lo[i], total), least)
			}
			return shares, false
		}
		for _, i := range siblings {
			lo[i], hi[i] = new(big.Rat), lo[i]
		}
		least = new(big.Rat)
	}
	return o.serve(siblings, d, lo, hi, new(big.Rat).Sub(total, least)), feasible
}

// serve visits the sections by rank, and within a rank weighted pools before pools of weight zero. Under FIFO a
// section is one pool.
func (o *oracle) serve(siblings []int, d Discipline, lo, hi map[int]*big.Rat, surplus *big.Rat) map[int]*big.Rat {
	key := func(i int) [3]int {
		k := [3]int{int(o.pools[i].Rank), 0, 0}
		if o.pools[i].Weight == Zero && d != FIFO {
			k[1] = 1
		}
		switch d {
		case Fair:
			k[0] = 0
		case FIFO:
			k[2] = i
		}
		return k
	}
	order := slices.Clone(siblings)
	slices.SortStableFunc(order, func(a, b int) int { return compareKeys(key(a), key(b)) })
	shares := map[int]*big.Rat{}
	for len(order) > 0 {
		n := 1
		for n < len(order) && key(order[n]) == key(order[0]) {
			n++
		}
		section := order[:n]
		order = order[n:]
		var buckets []bucket
		var bases []*big.Rat
		total, most := new(big.Rat).Set(surplus), new(big.Rat)
		for _, i := range section {
			w := int64(1)
			if o.pools[i].Weight > 0 && d != FIFO {
				w = o.pools[i].Weight
			}
			base := new(big.Rat)
			if o.policy.Surplus == AboveMinimum {
				base = lo[i]
			}
			bases = append(bases, base)
			buckets = append(buckets, bucket{new(big.Rat).Sub(lo[i], base), new(big.Rat).Sub(hi[i], base), whole(w)})
			total.Add(total, buckets[len(buckets)-1].lo)
			most.Add(most, buckets[len(buckets)-1].hi)
		}
		filled := make([]*big.Rat, n)
		if most.Cmp(total) <= 0 {
			for k := range buckets {
				filled[k] = buckets[k].hi
			}
		} else {
			filled = oracleFill(buckets, total)
		}
		surplus = new(big.Rat).Set(surplus)
		for k, i := range section {
			shares[i] = new(big.Rat).Add(filled[k], bases[k])
			surplus.Sub(surplus, new(big.Rat).Sub(shares[i], lo[i]))
		}
	}
	return shares
}

func compareKeys(a, b [3]int) int { return slices.Compare(a[:], b[:]) }

// fluid returns the real shares of a tree in which each pool divides its real share, without rounding.
func (o *oracle) fluid(total *big.Rat) []*big.Rat {
	all := make([]*big.Rat, len(o.pools))
	var visit func(parent int, d Discipline, total *big.Rat)
	visit = func(parent int, d Discipline, total *big.Rat) {
		shares, _ := o.divide(o.children(parent), d, total)
		for i, s := range shares {
			all[i] = s
			if len(o.children(i)) > 0 {
				visit(i, o.pools[i].Discipline, s)
			}
		}
	}
	visit(-1, o.policy.Discipline, total)
	return all
}

func (o *oracle) depth(i int) int {
	d := 1
	for p := o.pools[i].Parent.Index(); p >= 0; p = o.pools[p].Parent.Index() {
		d++
	}
	return d
}
