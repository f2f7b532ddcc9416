package skew

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// state writes the fields of a sketch or reads them.
func (s *Sketch) state(c *snapshot.Codec) {
	rows, partitions := uint64(len(s.rows)), uint64(s.partitions)
	c.Field(1, "rows").Uint(&rows)
	c.Field(2, "partitions").Uint(&partitions)
	c.Field(3, "seed").Uint(&s.seed)
	if c.Field(4, "counters"); !c.Writes() {
		some, few := rows >= 1 && partitions >= 1, rows <= maxCells && partitions <= maxCells
		c.Check(some && few && rows*partitions <= uint64(c.In.Len()), "has no counters, or fewer than it says")
		if !c.OK() {
			return
		}
		fresh, err := NewSketch(int(rows), int(partitions), s.seed)
		if err != nil {
			c.In.Fail(err)
			return
		}
		*s = *fresh
	}
	var sum int64
	for i := range s.cells {
		if i%s.partitions == 0 {
			sum = 0
		}
		c.Count(&s.cells[i])
		c.Check(s.cells[i] <= math.MaxInt64-sum, "has a sum above the largest int64")
		if !c.OK() {
			return
		}
		if sum += s.cells[i]; i == s.partitions-1 {
			s.total = sum
		}
		c.Check((i+1)%s.partitions > 0 || sum == s.total, "has rows of different sums")
	}
}

// MarshalBinary and AppendBinary return the sketch as bytes: the number of rows, the number of partitions, the seed,
// and the counters row after row. The error is always nil. Both calls take O(d p) for d rows and p partitions.
// UnmarshalBinary replaces s by an encoded sketch. If data is no valid encoding, UnmarshalBinary returns an error and
// changes nothing.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, s.state)
}
func (s *Sketch) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, s, (*Sketch).state)
}
