package skew

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// encodingVersion is the first byte of an encoded sketch.
const encodingVersion = 2

// AppendBinary appends the sketch as bytes: a version, the numbers of rows and partitions, the seed, the counters row
// by row, all these as unsigned varints, and a checksum. It never fails. O(d p).
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = append(dst, encodingVersion)
	dst = snapshot.AppendUint(dst, uint64(len(s.rows)))
	dst = snapshot.AppendUint(dst, uint64(s.partitions))
	dst = snapshot.AppendUint(dst, s.seed)
	for _, n := range s.cells {
		dst = snapshot.AppendUint(dst, uint64(n))
	}
	return snapshot.Seal(dst, from), nil
}

// MarshalBinary returns the sketch as bytes, as [Sketch.AppendBinary] writes it. It never fails.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary replaces s by the sketch that data encodes. It is an error, and leaves s as it was, if data is not
// what AppendBinary writes, or a byte of it has changed.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("skew: Sketch", encodingVersion, data)
	rows, partitions, seed := r.Uint(), r.Uint(), r.Uint()
	some, few := rows >= 1 && partitions >= 1, rows <= maxCells && partitions <= maxCells
	r.Check(some && few && rows*partitions <= uint64(len(data)), "has no counters, or fewer than it says")
	if !r.OK() {
		return r.Close()
	}
	decoded, err := NewSketch(int(rows), int(partitions), seed)
	if err != nil {
		return err
	}
	for row := range decoded.rows {
		decoded.readRow(r, row)
	}
	if err := r.Close(); err != nil {
		return err
	}
	*s = *decoded
	return nil
}

func (s *Sketch) readRow(r *snapshot.Reader, row int) {
	var sum int64
	for j := range s.partitions {
		n := r.Uint()
		if r.Check(n <= uint64(math.MaxInt64-sum), "has a sum above the largest int64"); !r.OK() {
			return
		}
		sum += int64(n)
		s.cells[row*s.partitions+j] = int64(n)
	}
	r.Check(row == 0 || sum == s.total, "has rows of different sums")
	s.total = sum
}
