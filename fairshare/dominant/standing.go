package dominant

import (
	"cmp"
	"math/bits"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/exact"
)

// turn is the first thing that siblings are compared by.
type turn uint8

const (
	turnNeedy turn = iota // below its minimum
	turnWeighted
	turnWeightless
	turnNone // wants no more
)

// standing is a pool's place among its siblings: by turn and then by usage/unit, of the resource that counts most.
type standing struct {
	turn           turn
	resource       int32 // -1 if it has nothing of any
	usage          int64
	unitHi, unitLo uint64
}

// compare returns whose turn it is: negative for a's, zero if they stand equal. The products have 192 bits.
func (a *standing) compare(b *standing) int {
	if a.turn != b.turn {
		return cmp.Compare(a.turn, b.turn)
	}
	if a.unitHi|b.unitHi == 0 && (a.usage|b.usage)>>62 == 0 { // both products have 128 bits
		ah, al := bits.Mul64(b.unitLo, uint64(a.usage))
		bh, bl := bits.Mul64(a.unitLo, uint64(b.usage))
		return cmp.Or(cmp.Compare(ah, bh), cmp.Compare(al, bl))
	}
	a2, a1, a0 := mul192(b.unitHi, b.unitLo, uint64(a.usage))
	b2, b1, b0 := mul192(a.unitHi, a.unitLo, uint64(b.usage))
	return cmp.Or(cmp.Compare(a2, b2), cmp.Compare(a1, b1), cmp.Compare(a0, b0))
}

// above reports whether the pool has its minimum and wants more.
func (a *standing) above() bool { return a.turn == turnWeighted || a.turn == turnWeightless }

// before reports whether node x, standing at a, comes before its sibling y, standing at b, by the rules of
// [fairshare.Discipline].
func before(d fairshare.Discipline, x, y *node, a, b *standing) bool {
	above := a.above() && b.above()
	if d != fairshare.Fair && above && x.rank != y.rank {
		return x.rank < y.rank
	}
	if d != fairshare.FIFO || !above {
		if c := a.compare(b); c != 0 {
			return c < 0
		}
	}
	return x.pool < y.pool
}

// stand places a pool that wants more by what it has, what it is guaranteed as far as it wants it, and what there is.
func (t *layout) stand(weight int64, usage, least []int64) (s standing) {
	if r, needy := fullest(usage, least, nil); needy {
		return standing{turn: turnNeedy, resource: r, usage: usage[r], unitLo: uint64(least[r])}
	}
	base := least
	if t.policy.Surplus == fairshare.WaterLevel {
		base = nil
	}
	r, _ := fullest(usage, t.capacity, base)
	s = standing{turn: turnWeighted, resource: r, unitLo: 1}
	if weight == 0 {
		s.turn, weight = turnWeightless, 1
	}
	if r >= 0 {
		s.usage = usage[r]
		if base != nil {
			s.usage = max(0, s.usage-base[r])
		}
		s.unitHi, s.unitLo = bits.Mul64(uint64(t.capacity[r]), uint64(weight))
	}
	return s
}

// fullest returns the resource of which usage, above the base if there is one, is the largest part of the limit, among
// those with a limit above zero; -1 if there is none. Below says that it is less than the limit.
func fullest(usage, limit, base []int64) (resource int32, below bool) {
	resource = -1
	var most int64
	for r, l := range limit {
		if l <= 0 {
			continue
		}
		u := usage[r]
		if base != nil {
			u = max(0, u-base[r])
		}
		if resource < 0 || exact.CompareProducts(u, limit[resource], most, l) > 0 {
			resource, most = int32(r), u
		}
	}
	return resource, resource >= 0 && most < limit[resource]
}

func mul192(hi, lo, x uint64) (p2, p1, p0 uint64) {
	h, p0 := bits.Mul64(lo, x)
	p2, l := bits.Mul64(hi, x)
	p1, carry := bits.Add64(l, h, 0)
	return p2 + carry, p1, p0
}
