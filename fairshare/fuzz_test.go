package fairshare

import (
	"encoding/binary"
	"testing"
)

// FuzzShares reads arbitrary pools. Each input must lead to an error or to shares that agree with the oracle.
func FuzzShares(f *testing.F) {
	f.Add([]byte{0, 0, 50, 0, 46, 0, 0, 10, 0, 18, 0, 0, 25, 0, 28, 0, 0, 15, 0, 16}, int64(100), uint8(0), uint8(0))
	f.Add([]byte{1, 1, 0, 0, 9, 2, 2, 3, 4, 5}, int64(7), uint8(1), uint8(6))
	f.Add([]byte{1, 1, 4, 0, 9, 2, 2, 3, 4, 5}, int64(7), uint8(1), uint8(27))
	f.Fuzz(func(t *testing.T, raw []byte, total int64, shift, policy uint8) {
		var pools []Pool
		for ; len(raw) >= 5 && len(pools) < 12; raw = raw[5:] {
			pools = append(pools, Pool{
				Parent: Parent(raw[0] % 16), Weight: int64(int8(raw[1])) << (shift % 40), Min: int64(int8(raw[2])) << (shift % 56),
				Max: int64(int8(raw[3])), Demand: int64(int8(raw[4])) << (shift % 56), Discipline: Discipline(raw[0] >> 6), Rank: int32(raw[3] % 3),
			})
			if raw[3] > 64 {
				pools[len(pools)-1].Max = 0
			}
		}
		p := Policy{OnInfeasible: OnInfeasible(policy % 3), Basis: Basis(policy / 3 % 3),
			Discipline: Discipline(policy / 9 % 3), Surplus: Surplus(policy / 27 % 2)}
		tree, err := New(pools, p)
		if err != nil {
			return
		}
		shares, err := tree.Shares(nil, nil, total)
		if err != nil {
			return
		}
		checkShares(t, pools, p, total, shares)
	})
}

// FuzzCompare checks that each order is antisymmetric and transitive for three pools.
func FuzzCompare(f *testing.F) {
	f.Add(make([]byte, 96))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = append(raw, make([]byte, 120)...)
		next := func() int64 {
			v := int64(binary.LittleEndian.Uint64(raw))
			raw = raw[8:]
			return v
		}
		var c [3]contender
		for i := range c {
			c[i] = contender{Pool{Weight: max(next(), Zero), Min: max(next(), 0), Demand: max(next(), 0)}, next(), next()}
		}
		for _, o := range []Order{LeastUsage, LargestDeficit, SmallestPart} {
			for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				checkTransitive(t, o, c[p[0]], c[p[1]], c[p[2]])
			}
			if o.compare(c[0], c[1]) != -o.compare(c[1], c[0]) {
				t.Errorf("%v must be antisymmetric for %+v and %+v", o, c[0], c[1])
			}
		}
	})
}
