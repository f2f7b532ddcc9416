package skew

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
)

// Sizes adds up the sizes of a job's partitions from the reports of its map tasks: S(i), the sum of S_m(i) over m
// [DynamicShare §4.1]. A map task counts once, however many copies of it report, since they all make the same output.
// Not safe for concurrent use; one per job.
type Sizes struct {
	total    []int64
	reported []bool // by map task
	missing  int
	sum      int64
}

// NewSizes returns the sizes of partitions, all 0, that maps map tasks are going to report. It is an error if either
// number is less than 1.
func NewSizes(partitions, maps int) (*Sizes, error) {
	if partitions < 1 {
		return nil, check.Bad("skew", "partitions", partitions, "1 or more")
	}
	if maps < 1 {
		return nil, check.Bad("skew", "maps", maps, "1 or more")
	}
	return &Sizes{total: make([]int64, partitions), reported: make([]bool, maps), missing: maps}, nil
}

// Report adds the sizes that map task m, counted from 0, found. It reports false for a task that has reported before
// and changes nothing then. It is an error, and changes nothing, if there is no such task, if sizes has not one entry
// for each partition, if one is negative, or if the sum of all sizes would exceed the largest int64. O(p), no
// allocation.
func (s *Sizes) Report(m int, sizes []int64) (bool, error) {
	if m < 0 || m >= len(s.reported) {
		return false, check.Badf("skew", "map task", m, "0 to %d", len(s.reported)-1)
	}
	if len(sizes) != len(s.total) {
		return false, fmt.Errorf("skew: map task %d reports %d sizes, want %d", m, len(sizes), len(s.total))
	}
	if s.reported[m] {
		return false, nil
	}
	sum := s.sum
	for i, size := range sizes {
		if size < 0 || size > math.MaxInt64-sum {
			at := fmt.Sprintf("sizes[%d] of map task %d", i, m)
			return false, check.Badf("skew", at, size, "0 or more, and at most %d in all", int64(math.MaxInt64))
		}
		sum += size
	}
	for i, size := range sizes {
		s.total[i] += size
	}
	s.sum, s.reported[m] = sum, true
	s.missing--
	return true, nil
}

// Missing returns how many map tasks have not reported.
func (s *Sizes) Missing() int { return s.missing }

// Append appends the sizes of the partitions, so far as they were reported, to dst.
func (s *Sizes) Append(dst []int64) []int64 { return append(dst, s.total...) }

// Total returns the sum of the sizes.
func (s *Sizes) Total() int64 { return s.sum }
