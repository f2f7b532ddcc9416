package skew

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/straggler-go/straggler/internal/check"
)

// prime is the modulus of the hash functions: the Mersenne prime 2^61 - 1.
const prime = 1<<61 - 1

// maxCells is the largest number of counters in a sketch. With this limit, a damaged encoding cannot make the
// reader allocate all memory.
const maxCells = 1 << 28

// Sketch counts the sizes of p partitions under d hash functions at the same time. It has one row of counters for
// each hash function. The counter sketch[i, j] is the number of values whose key hash function i sends to partition
// j [DynamicShare §4.1, equations 6 and 7]. So row i has the exact sizes of all partitions under hash function i,
// and no size is an estimate. Each map task fills its own sketch, and [Sketch.Merge] adds sketches in any order.
// Sketches with the same d, p and seed have the same hash functions.
//
// The hash functions are pairwise independent on 64-bit keys: (a1*hi + a2*lo + b) mod (2^61-1) mod p. Here hi and
// lo are the halves of the key, and a1, a2 and b are random numbers. The paper's hash function (a*x + b) mod pr has
// a single factor a, and is pairwise independent only for keys below pr.
//
// The zero value has no rows and counts nothing; it is useful only for UnmarshalBinary. A Sketch is not safe for
// concurrent use. Use a separate Sketch for each map task.
type Sketch struct {
	rows       []hash
	partitions int
	seed       uint64
	cells      []int64 // the counters, row after row
	total      int64   // the sum of the counters of a row, which is the same for each row
}

// noRows returns the error for a sketch without rows.
func noRows() error {
	return check.Bad("skew", "rows", 0, "1 or more: the sketch has no hash functions")
}

// hash has the random numbers of one hash function; the comment of Sketch has the formula.
type hash struct{ a1, a2, b uint64 }

// NewSketch returns an empty sketch with this number of rows, one for each hash function. The hash functions are
// computed from seed. NewSketch returns an error if rows or partitions is less than 1, or if there are more than
// 2^28 counters. A counter needs 8 bytes.
func NewSketch(rows, partitions int, seed uint64) (*Sketch, error) {
	switch {
	case rows < 1:
		return nil, check.Bad("skew", "rows", rows, "1 or more")
	case partitions < 1:
		return nil, check.Bad("skew", "partitions", partitions, "1 or more")
	case rows > maxCells/partitions:
		return nil, check.Badf("skew", "rows", rows, "%d at most with %d partitions", maxCells/partitions, partitions)
	}
	s := &Sketch{rows: make([]hash, rows), partitions: partitions, seed: seed, cells: make([]int64, rows*partitions)}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range s.rows {
		s.rows[i] = hash{r.Uint64N(prime), r.Uint64N(prime), r.Uint64N(prime)}
	}
	return s, nil
}

// Rows returns the number of rows, one for each hash function. The comment of Sketch calls it d.
func (s *Sketch) Rows() int { return len(s.rows) }

// Partitions returns the number of partitions. The comment of Sketch calls it p.
func (s *Sketch) Partitions() int { return s.partitions }

// Seed returns the seed of the hash functions.
func (s *Sketch) Seed() uint64 { return s.seed }

// Total returns the number of values that were added. The counters of each row have this sum.
func (s *Sketch) Total() int64 { return s.total }

// Partition returns the partition to which a hash function sends the key. row is the row of the hash function. A
// row below 0 is treated as the first row, and a row that is too large is treated as the last row. A sketch without
// rows returns 0. O(1), no allocation.
func (s *Sketch) Partition(row int, key uint64) int {
	if len(s.rows) == 0 {
		return 0
	}
	return s.rows[min(max(row, 0), len(s.rows)-1)].of(key, s.partitions)
}

// of returns the partition to which the hash function sends a key.
func (h hash) of(key uint64, partitions int) int {
	// The sum is less than 3*2^61, so it does not overflow.
	x := times(h.a1, key>>32) + times(h.a2, key&math.MaxUint32) + h.b
	return int(modulo(x) % uint64(partitions))
}

// times returns a*x modulo the prime. a must be below the prime, and x must be below 2^32.
func times(a, x uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	return modulo(lo&prime + (hi<<3 | lo>>61)) // 2^61 is 1 modulo the prime
}

// modulo returns x modulo the prime.
func modulo(x uint64) uint64 {
	x = x&prime + x>>61
	if x >= prime {
		x -= prime
	}
	return x
}

// HashKey returns a 64-bit number for a key of bytes, by the hash function FNV-1a. Pass this number as the key to
// [Sketch.Add] and [Sketch.Partition]. HashKey has no secret: a user who chooses the keys can choose keys for which
// HashKey returns the same number. Then all these keys belong to the same partition. O(n) for n bytes, no
// allocation.
func HashKey[K ~string | ~[]byte](key K) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return h
}

// Add adds n values with the same key to the counters of each row. It returns an error and changes nothing if the
// sketch has no rows, if n is negative, or if the total would be more than the largest int64. O(d) for d rows, no
// allocation.
func (s *Sketch) Add(key uint64, n int64) error {
	if len(s.rows) == 0 {
		return noRows()
	}
	if n < 0 || n > math.MaxInt64-s.total {
		return check.Badf("skew", "the number of values", n, "0 to %d", math.MaxInt64-s.total)
	}
	for row, h := range s.rows {
		s.cells[row*s.partitions+h.of(key, s.partitions)] += n
	}
	s.total += n
	return nil
}

// Merge adds the counters of other to s. The two sketches must have the same number of rows, the same number of
// partitions and the same seed. Merge returns an error and changes nothing if they differ, if other is nil, or if
// the total would be more than the largest int64. O(d p) for d rows and p partitions, no allocation.
func (s *Sketch) Merge(other *Sketch) error {
	switch {
	case other == nil:
		return fmt.Errorf("skew: the other sketch is nil")
	case len(other.rows) != len(s.rows) || other.partitions != s.partitions || other.seed != s.seed:
		return fmt.Errorf("skew: the other sketch has %d rows, %d partitions and seed %d, want %d, %d and %d",
			len(other.rows), other.partitions, other.seed, len(s.rows), s.partitions, s.seed)
	case other.total > math.MaxInt64-s.total:
		return fmt.Errorf("skew: the other sketch has counted %d values, want at most %d",
			other.total, math.MaxInt64-s.total)
	}
	for i, n := range other.cells {
		s.cells[i] += n
	}
	s.total += other.total
	return nil
}

// Append appends to dst the sizes of the partitions under one hash function. row is the row of the hash function. A
// row below 0 is treated as the first row, and a row that is too large is treated as the last row. O(p) for p
// partitions.
func (s *Sketch) Append(dst []int64, row int) []int64 { return append(dst, s.row(row)...) }

// row returns the counters of a row, as Append does, but without a copy.
func (s *Sketch) row(row int) []int64 {
	if len(s.rows) == 0 {
		return nil
	}
	row = min(max(row, 0), len(s.rows)-1)
	return s.cells[row*s.partitions : (row+1)*s.partitions]
}
