package skew

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
)

// Sizes adds up the sizes of a job's partitions from the reports of its map tasks [DynamicShare §4.1]. The paper
// writes S(i), the sum of S_m(i) over all m. Here S(i) is the size of partition i, and S_m(i) is the size of the
// part that map task m makes. If several copies of a map task report, Sizes includes the first report and ignores
// the others, because all copies make the same output.
//
// A Sizes is not safe for concurrent use. Use a separate Sizes for each job.
type Sizes struct {
	total    []int64
	reported []bool // for each map task, whether it has reported
	missing  int    // number of map tasks that have not reported
	sum      int64  // sum of total
}

// NewSizes returns a Sizes for this number of partitions and map tasks. All sizes are 0. NewSizes returns an error if
// a number is less than 1.
func NewSizes(partitions, maps int) (*Sizes, error) {
	if partitions < 1 {
		return nil, check.Bad("skew", "partitions", partitions, "1 or more")
	}
	if maps < 1 {
		return nil, check.Bad("skew", "maps", maps, "1 or more")
	}
	return &Sizes{total: make([]int64, partitions), reported: make([]bool, maps), missing: maps}, nil
}

// Report adds the sizes that map task m has counted, one size for each partition. Map tasks are numbered from 0. If
// the map task has reported before, Report changes nothing and returns false.
//
// Report returns an error and changes nothing in these cases:
//
//   - The map task is unknown.
//   - The number of sizes is not the number of partitions.
//   - A size is negative, or the sum of all sizes would be more than the largest int64.
//
// O(p) for p partitions, no allocation.
func (s *Sizes) Report(m int, sizes []int64) (bool, error) {
	if m < 0 || m >= len(s.reported) {
		return false, check.Badf("skew", "map task", m, "0 to %d", len(s.reported)-1)
	}
	if len(sizes) != len(s.total) {
		return false, fmt.Errorf("skew: map task %d reports %d sizes, want %d, one for each partition", m, len(sizes), len(s.total))
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

// Missing returns the number of map tasks that have not reported. O(1).
func (s *Sizes) Missing() int { return s.missing }

// Append appends to dst the size of each partition: the sum over all reports so far. O(p) for p partitions.
func (s *Sizes) Append(dst []int64) []int64 { return append(dst, s.total...) }

// Total returns the sum of the sizes over all partitions. O(1).
func (s *Sizes) Total() int64 { return s.sum }
