package estimate

import (
	"math"
	"math/bits"
	"slices"
)

// sorted is a sorted multiset of float64s with ranks. The values stand in blocks, and the blocks are in ascending
// order. A binary search over the largest values of the blocks finds a block. A Fenwick tree over the lengths of the
// blocks (P. M. Fenwick, Software: Practice and Experience 24, 1994) counts the values of all blocks before a block.
//
// For example, with at most 4 values a block:
//
//	blocks   1 2 4 | 5 5 | 7 8 9 9
//	most         4     5         9
//	sums         3     5         4     the values of block 0, of blocks 0 and 1, of block 2
//
// A search takes O(log n). A block that is full or thin changes the order of the blocks, which costs O(n/blockMax). If
// values are only inserted, this happens at most once in blockMin changes; deletes can cause it more often. On average
// it costs n/50,000 steps for each change.
type sorted struct {
	blocks []block
	free   []int32   // blocks that are not in use
	order  []int32   // the blocks in use, in ascending order
	most   []float64 // the largest value of each block, in order
	sums   []int32   // the Fenwick tree, in order
	size   int
}

const (
	blockMax = 256
	// A thinner block is merged with a neighbour, or gets values from it. This is less than half, so that alternating
	// inserts and removes do not split and merge in turn.
	blockMin = blockMax / 4
	// A new tree, and a merge, fill blocks up to this. So a run of inserts does not split every block, and a run of
	// removals does not refill every block.
	blockFill = blockMax * 3 / 4
	maxSize   = math.MaxInt32 // the largest number that a sum can hold
)

type block struct {
	n     int32
	value [blockMax]float64 // ascending
}

func (s *sorted) reset() {
	*s = sorted{blocks: s.blocks[:0], free: s.free[:0], order: s.order[:0], most: s.most[:0], sums: s.sums[:0]}
}

// at returns block b in ascending order.
func (s *sorted) at(b int) *block { return &s.blocks[s.order[b]] }

// search returns the index of the first value >= x in an ascending list; the length of the list if there is no such
// value.
func search(list []float64, x float64) int {
	low, high := 0, len(list)
	for low < high {
		if mid := int(uint(low+high) >> 1); list[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// find returns the block and the index in it of the first value >= x. It reports false if there is no such value.
func (s *sorted) find(x float64) (b, i int, ok bool) {
	if b = search(s.most, x); b == len(s.most) || s.size == 0 {
		return b, 0, false
	}
	l := s.at(b)
	return b, search(l.value[:l.n], x), true
}

// before returns the number of values in all blocks before a block.
func (s *sorted) before(b int) (n int) {
	for ; b > 0; b &= b - 1 {
		n += int(s.sums[b-1])
	}
	return n
}

// count changes the length of a block in the Fenwick tree.
func (s *sorted) count(b int, change int32) {
	for b++; b <= len(s.sums); b += b & -b {
		s.sums[b-1] += change
	}
}

// recount sets the Fenwick tree to the lengths of all blocks. O(blocks).
func (s *sorted) recount() {
	s.sums = slices.Grow(s.sums[:0], len(s.order))[:len(s.order)]
	for b := range s.sums {
		s.sums[b] = s.at(b).n
	}
	for b := 1; b <= len(s.sums); b++ {
		if above := b + b&-b; above <= len(s.sums) {
			s.sums[above-1] += s.sums[b-1]
		}
	}
}

// rank counts the values below x. The rank of NaN is 0.
func (s *sorted) rank(x float64) int {
	b, i, ok := s.find(x)
	if !ok {
		return s.size
	}
	return s.before(b) + i
}

// kth returns the k-th smallest value, 0 <= k < size.
func (s *sorted) kth(k int) float64 {
	b := 0
	for step := 1 << bits.Len(uint(len(s.sums))); step > 0; step /= 2 {
		if b+step <= len(s.sums) && int(s.sums[b+step-1]) <= k {
			b += step
			k -= int(s.sums[b-1])
		}
	}
	return s.at(b).value[k]
}

// open puts an empty block into the order. The caller sets its values, and calls recount.
func (s *sorted) open(b int) {
	at := int32(len(s.blocks))
	if last := len(s.free) - 1; last >= 0 {
		at, s.free = s.free[last], s.free[:last]
	} else {
		s.blocks = append(s.blocks, block{})
	}
	s.blocks[at].n = 0
	s.order, s.most = slices.Insert(s.order, b, at), slices.Insert(s.most, b, 0)
}

// share leaves the first keep values of blocks b and b+1 in block b, and moves the others to block b+1.
func (s *sorted) share(b, keep int) {
	l, r := s.at(b), s.at(b+1)
	if moved := int(l.n) - keep; moved >= 0 {
		copy(r.value[moved:], r.value[:r.n])
		copy(r.value[:], l.value[keep:l.n])
	} else {
		copy(l.value[l.n:], r.value[:-moved])
		copy(r.value[:], r.value[-moved:r.n])
	}
	l.n, r.n = int32(keep), l.n+r.n-int32(keep)
	s.most[b] = l.value[l.n-1]
	if r.n > 0 {
		s.most[b+1] = r.value[r.n-1]
	}
}

func (s *sorted) insert(x float64) {
	if s.size == 0 {
		s.reset()
		s.open(0)
		s.recount()
	}
	b := min(search(s.most, x), len(s.most)-1)
	if s.at(b).n == blockMax {
		s.open(b + 1)
		s.share(b, blockMax/2)
		s.recount()
		if x > s.most[b] {
			b++
		}
	}
	l := s.at(b)
	i := search(l.value[:l.n], x)
	copy(l.value[i+1:], l.value[i:l.n])
	l.value[i] = x
	l.n++
	s.size++
	s.count(b, 1)
	s.most[b] = l.value[l.n-1]
}

// cut removes the i-th value of a block, and refills the block if it is thin.
func (s *sorted) cut(b, i int) {
	l := s.at(b)
	copy(l.value[i:], l.value[i+1:l.n])
	l.n--
	s.size--
	s.count(b, -1)
	if l.n > 0 {
		s.most[b] = l.value[l.n-1]
	}
	if l.n >= blockMin || len(s.order) == 1 {
		return
	}
	b = max(b-1, 0)
	total := int(s.at(b).n + s.at(b+1).n)
	if total > blockFill { // a merge would make a block that the next inserts split again
		s.share(b, total/2)
	} else {
		s.share(b, total)
		s.free = append(s.free, s.order[b+1])
		s.order, s.most = slices.Delete(s.order, b+1, b+2), slices.Delete(s.most, b+1, b+2)
	}
	s.recount()
}

// remove removes one value equal to x and reports whether there was such a value.
func (s *sorted) remove(x float64) bool {
	b, i, ok := s.find(x)
	if !ok || s.at(b).value[i] != x {
		return false
	}
	s.cut(b, i)
	return true
}

// replace exchanges one value equal to old for x, and reports whether there was such a value. Values that move little
// usually stay in their block. In this case the exchange costs little more than the search.
func (s *sorted) replace(old, x float64) bool {
	b, i, ok := s.find(old)
	if !ok || s.at(b).value[i] != old {
		return false
	}
	l := s.at(b)
	if x < l.value[0] || x > l.value[l.n-1] {
		s.cut(b, i)
		s.insert(x)
		return true
	}
	j := search(l.value[:l.n], x)
	if j > i {
		j--
		copy(l.value[i:j], l.value[i+1:j+1])
	} else {
		copy(l.value[j+1:i+1], l.value[j:i])
	}
	l.value[j] = x
	s.most[b] = l.value[l.n-1]
	return true
}

// build sets the values to n values, which next returns in ascending order. O(n).
func (s *sorted) build(n int, next func() float64) {
	s.reset()
	s.size = n
	blocks := (n + blockFill - 1) / blockFill
	s.blocks = slices.Grow(s.blocks, blocks)
	for b := range blocks { // as even as possible
		s.open(b)
		l := s.at(b)
		l.n = int32(int64(n)*int64(b+1)/int64(blocks) - int64(n)*int64(b)/int64(blocks))
		for i := range l.value[:l.n] {
			l.value[i] = next()
		}
		s.most[b] = l.value[l.n-1]
	}
	s.recount()
}

// each calls visit with all values, in ascending order.
func (s *sorted) each(visit func(x float64)) {
	for b := range s.order {
		l := s.at(b)
		for _, x := range l.value[:l.n] {
			visit(x)
		}
	}
}
