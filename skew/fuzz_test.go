package skew

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// FuzzUnmarshalSketch reads arbitrary bytes. The result must be an error, or a sketch with rows of equal sums that
// reads back as itself. Its bytes are fewer if the bytes that were read have fields that no release knows.
func FuzzUnmarshalSketch(f *testing.F) {
	s, _ := NewSketch(2, 3, 300)
	_ = s.Add(5, 1000)
	data, _ := s.MarshalBinary()
	f.Add(snapshottest.Body(data))
	f.Add([]byte{2, 2, 1, 1, 5, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		var s, again Sketch
		if s.UnmarshalBinary(data) != nil {
			require.Equal(t, Sketch{}, s)
			return
		}
		for row := range s.Rows() {
			var sum int64
			for _, n := range s.Append(nil, row) {
				require.GreaterOrEqual(t, n, int64(0))
				sum += n
			}
			require.Equal(t, s.Total(), sum)
		}
		encoded, err := s.MarshalBinary()
		require.NoError(t, err)
		require.LessOrEqual(t, len(encoded), len(data))
		require.NoError(t, again.UnmarshalBinary(encoded))
		require.Equal(t, s, again)
	})
}

// FuzzAssign reads arbitrary problems. The result must be an error or a consistent plan.
func FuzzAssign(f *testing.F) {
	f.Add([]byte("0123456789abcdefghij"), uint8(2), uint8(0), int64(0), .5)
	f.Add([]byte{1, 2, 3, 4, 5, 6}, uint8(3), uint8(1), int64(200), 1e-9)
	f.Fuzz(func(t *testing.T, data []byte, reducers, policy uint8, limit int64, rate float64) {
		c := Policy{Rule: Rule(policy % 4), PlaceAll: policy >= 128}
		var p Problem
		for r := range int(reducers % 16) {
			p.Reducers = append(p.Reducers, Reducer{SecondsPerUnit: rate * float64(1+r%3), Deadline: time.Duration(limit), Ready: time.Duration(r%4) * time.Second})
		}
		for ; len(data) >= 2 && len(p.Sizes) < 100; data = data[2:] {
			p.Sizes = append(p.Sizes, int64(binary.LittleEndian.Uint16(data)))
		}
		plan, err := c.Assign(p)
		if err == nil {
			checkPlan(t, c, p, plan)
		}
	})
}

// FuzzSketch checks that Partition stays in range, and that Add and Merge give the same counters.
func FuzzSketch(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint64(3), uint8(4), uint8(5))
	f.Fuzz(func(t *testing.T, seed, a, b uint64, rows, partitions uint8) {
		one, err := NewSketch(int(rows), int(partitions), seed)
		if err != nil {
			return
		}
		two, _ := NewSketch(int(rows), int(partitions), seed)
		both, _ := NewSketch(int(rows), int(partitions), seed)
		_, _, _, _ = one.Add(a, 3), two.Add(b, 4), both.Add(b, 4), both.Add(a, 3)
		require.NoError(t, one.Merge(two))
		require.Equal(t, both, one)
		for row := range int(rows) {
			p := one.Partition(row, a)
			require.GreaterOrEqual(t, one.Append(nil, row)[p], int64(3))
		}
	})
}
