package skew

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sketches that are merged in any order and in any groups have the same counters. Each row has the same total.
func TestSketchTotalsAreConserved(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		rows, partitions, seed := 1+r.IntN(5), 1+r.IntN(20), r.Uint64()
		var parts []*Sketch
		var want int64
		for range 1 + r.IntN(6) {
			s := randomSketch(t, r, rows, partitions, seed)
			parts, want = append(parts, s), want+s.Total()
		}
		forward, _ := NewSketch(rows, partitions, seed)
		for _, s := range parts {
			require.NoError(t, forward.Merge(s))
		}
		// Merge in a random order, in pairs, and through the encoding.
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for len(parts) > 1 {
			data, err := parts[1].MarshalBinary()
			require.NoError(t, err)
			var received Sketch
			require.NoError(t, received.UnmarshalBinary(data))
			require.NoError(t, parts[0].Merge(&received))
			parts = append(parts[2:], parts[0])
		}
		require.Equal(t, forward, parts[0])
		for row := range rows {
			var sum int64
			for _, n := range forward.Append(nil, row) {
				sum += n
			}
			require.Equal(t, want, sum)
		}
		require.Equal(t, want, forward.Total())
	}
}
