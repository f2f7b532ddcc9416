package fairshare

import "github.com/straggler-go/straggler/internal/exact"

// round writes the whole shares of the pools at the positions first to end-1 into f.slots. They add up to total. At
// the level l, which is a number of units per weight, each pool has a share that need not be whole. First round
// rounds down each share. Then it gives the units that remain, one each, to the pools that lost the largest
// fractions. Among equal fractions, the pool at the lower position comes first.
func (f *filler) round(l level, first, end int32, total int64) {
	for i := first; i < end; i++ {
		f.rest[i] = 0
		switch f.state[i] {
		case low:
			f.slots[i] = f.lo[i]
		case high:
			f.slots[i] = f.hi[i]
		default:
			f.slots[i], f.rest[i] = exact.MulDiv(l.units, f.weight[i], l.weight)
		}
		total -= f.slots[i]
	}
	if total == 0 {
		return
	}
	fractions := f.fractions[:0]
	for _, i := range f.active {
		fractions = append(fractions, f.rest[i])
	}
	least, equal := kthLargest(fractions, int(total))
	for _, i := range f.active {
		switch {
		case f.rest[i] > least:
			f.slots[i]++
		case f.rest[i] == least && equal > 0:
			equal--
			f.slots[i]++
		}
	}
}

// real returns the share of the pool at position i before it is rounded to a whole number.
func (f *filler) real(l level, i int32) float64 {
	if f.state[i] != free {
		return float64(f.slots[i])
	}
	whole, rest := exact.MulDiv(l.units, f.weight[i], l.weight)
	return float64(whole) + float64(rest)/float64(l.weight)
}

// kthLargest returns the k-th largest of the values, which must not be negative, for 1 <= k <= len(values). equal
// says how many of the k largest values are equal to the k-th largest. kthLargest changes the order of values. It
// selects by one byte after another, from the highest byte to the lowest, so it takes O(n) time for every input of
// n values.
func kthLargest(values []int64, k int) (least int64, equal int) {
	var counts [256]int
	for shift := 56; shift >= 0; shift -= 8 {
		clear(counts[:])
		for _, v := range values {
			counts[byte(v>>shift)]++
		}
		digit := len(counts) - 1
		for ; k > counts[digit]; digit-- {
			k -= counts[digit]
		}
		if counts[digit] == len(values) {
			continue
		}
		kept := values[:0]
		for _, v := range values {
			if byte(v>>shift) == byte(digit) {
				kept = append(kept, v)
			}
		}
		values = kept
	}
	return values[0], k
}
