package skew

import (
	"encoding/binary"
	"fmt"
	"math"
)

// encodingVersion is the first byte of an encoded sketch.
const encodingVersion = 1

// AppendBinary appends the sketch as bytes: a version, the numbers of rows and partitions, the seed, and the counters row by
// row, all but the version as unsigned varints. It never fails. O(d p).
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	dst = append(dst, encodingVersion)
	dst = binary.AppendUvarint(dst, uint64(len(s.rows)))
	dst = binary.AppendUvarint(dst, uint64(s.partitions))
	dst = binary.AppendUvarint(dst, s.seed)
	for _, n := range s.cells {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst, nil
}

// MarshalBinary returns the sketch as bytes, as [Sketch.AppendBinary] writes it. It never fails.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary replaces s by the sketch that data encodes. It is an error, and leaves s as it was, if data is not what
// AppendBinary writes: if it is too short or too long, or if its rows do not have the same sum.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != encodingVersion {
		return fmt.Errorf("skew: not an encoded sketch of version %d", encodingVersion)
	}
	data = data[1:]
	var header [3]uint64 // rows, partitions, seed
	for i := range header {
		n, rest, err := uvarint(data)
		if err != nil {
			return err
		}
		header[i], data = n, rest
	}
	rows, partitions := header[0], header[1]
	if rows < 1 || partitions < 1 || rows > maxCells || partitions > maxCells || rows*partitions > uint64(len(data)) {
		return fmt.Errorf("skew: encoded sketch of %d rows and %d partitions has %d bytes of counters, want 1 or more for each counter", rows, partitions, len(data))
	}
	decoded, err := NewSketch(int(rows), int(partitions), header[2])
	if err != nil {
		return err
	}
	if err := decoded.readCells(data); err != nil {
		return err
	}
	*s = *decoded
	return nil
}

func (s *Sketch) readCells(data []byte) error {
	for row := range s.rows {
		var sum int64
		for j := range s.partitions {
			n, rest, err := uvarint(data)
			if err != nil {
				return err
			}
			if n > uint64(math.MaxInt64-sum) {
				return fmt.Errorf("skew: encoded sketch has a sum above %d in row %d", int64(math.MaxInt64), row)
			}
			sum += int64(n)
			s.cells[row*s.partitions+j], data = int64(n), rest
		}
		if row > 0 && sum != s.total {
			return fmt.Errorf("skew: encoded sketch has the sum %d in row %d, want %d as in row 0", sum, row, s.total)
		}
		s.total = sum
	}
	if len(data) > 0 {
		return fmt.Errorf("skew: encoded sketch has %d bytes too many", len(data))
	}
	return nil
}

func uvarint(data []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || size > 1 && data[size-1] == 0 { // a last byte of 0 says nothing: AppendUvarint does not write it
		return 0, nil, fmt.Errorf("skew: encoded sketch ends early or holds a number out of range")
	}
	return n, data[size:], nil
}
