package skew

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/straggler-go/straggler/internal/check"
)

// prime is the Mersenne prime 2^61 - 1, modulo which the hash functions compute.
const prime = 1<<61 - 1

// maxCells bounds the counters of a sketch, so that a corrupt encoding cannot ask for all memory.
const maxCells = 1 << 28

// Sketch counts the sizes of p partitions under d hash functions at once: sketch[i, j] is the number of values whose
// key the i-th function sends to partition j [DynamicShare §4.1, equations 6 and 7]. Each row is the exact size of each
// partition under its function; nothing is estimated. Each map task fills one, and they add up with [Sketch.Merge] in
// any order. Sketches of the same numbers and seed have the same functions.
//
// The functions are pairwise independent on 64-bit keys: (a1*hi + a2*lo + b) mod (2^61-1) mod p, with hi and lo the
// halves of the key and random a1, a2 and b. The paper's (a*x + b) mod pr is this with one multiplier, and independent
// only on keys below pr.
//
// The zero value has no rows: it counts nothing, and is there to be decoded into. Not safe for concurrent use; one per
// map task.
type Sketch struct {
	rows       []hash
	partitions int
	seed       uint64
	cells      []int64 // row by row
	total      int64
}

// noRows is the error of the zero Sketch.
func noRows() error {
	return check.Bad("skew", "rows", 0, "1 or more: the sketch has no hash functions")
}

type hash struct{ a1, a2, b uint64 }

// NewSketch returns an empty sketch with the given number of hash functions, drawn from seed. It is an error if there
// is no row or no partition, or if there are more than 2^28 counters. It needs 8 bytes a counter.
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

// Rows returns d, the number of hash functions.
func (s *Sketch) Rows() int { return len(s.rows) }

// Partitions returns p, the number of partitions.
func (s *Sketch) Partitions() int { return s.partitions }

// Seed returns the seed that the hash functions were drawn from.
func (s *Sketch) Seed() uint64 { return s.seed }

// Total returns the number of values that were added, which is the sum of each row.
func (s *Sketch) Total() int64 { return s.total }

// Partition returns the partition that the hash function of a row sends a key to. A row outside 0 to d-1 counts as the
// nearer end; a sketch without rows has partition 0. O(1), no allocation.
func (s *Sketch) Partition(row int, key uint64) int {
	if len(s.rows) == 0 {
		return 0
	}
	return s.rows[min(max(row, 0), len(s.rows)-1)].of(key, s.partitions)
}

func (h hash) of(key uint64, partitions int) int {
	x := times(h.a1, key>>32) + times(h.a2, key&math.MaxUint32) + h.b // below 3*2^61, no overflow
	return int(modulo(x) % uint64(partitions))
}

// times returns a*x modulo the prime, for a below the prime and x below 2^32.
func times(a, x uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	return modulo(lo&prime + (hi<<3 | lo>>61)) // 2^61 is 1 modulo the prime
}

func modulo(x uint64) uint64 {
	x = x&prime + x>>61
	if x >= prime {
		x -= prime
	}
	return x
}

// HashKey turns a key of bytes into one of 64 bits (FNV-1a), for [Sketch.Add] and [Sketch.Partition]. It is not keyed:
// whoever chooses the keys can make them collide under every hash function. O(n), no allocation.
func HashKey[K ~string | ~[]byte](key K) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return h
}

// Add counts n values of a key, in each row. It is an error, and changes nothing, if n is negative or the sum of all
// would exceed the largest int64. O(d), no allocation.
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

// Merge adds what other has counted to s. It is an error, and changes nothing, if other is nil, has other hash
// functions, that is, another number of rows or partitions or another seed, or if the sum of all would exceed the
// largest int64. O(d p), no allocation.
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

// Append appends the sizes of the partitions under the hash function of a row to dst. A row outside 0 to d-1 counts as
// the nearer end. O(p).
func (s *Sketch) Append(dst []int64, row int) []int64 { return append(dst, s.row(row)...) }

func (s *Sketch) row(row int) []int64 {
	if len(s.rows) == 0 {
		return nil
	}
	row = min(max(row, 0), len(s.rows)-1)
	return s.cells[row*s.partitions : (row+1)*s.partitions]
}
