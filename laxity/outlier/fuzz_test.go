package outlier

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzLOF tries arbitrary values and l. The result is an error, or a factor for each value that is not NaN and not negative.
// The factors do not depend on the order of the values.
func FuzzLOF(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), 1, 0.0)
	f.Add(make([]byte, 64), 3, 1.0)
	f.Fuzz(func(t *testing.T, data []byte, l int, floor float64) {
		var values []float64
		for ; len(data) >= 8 && len(values) < 64; data = data[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		var s Scorer
		factors, err := s.Score(nil, values, l, floor)
		if err != nil {
			require.Empty(t, factors)
			return
		}
		require.Len(t, factors, len(values))
		for i := range factors {
			require.GreaterOrEqual(t, factors[i], 0.0)
			values[i], values[len(values)-1-i] = values[len(values)-1-i], values[i]
			if i >= len(values)/2-1 {
				break
			}
		}
		reversed, err := s.Score(nil, values, l, floor)
		require.NoError(t, err)
		for i := range factors {
			require.Equal(t, factors[i], reversed[len(factors)-1-i])
		}
	})
}

// FuzzDetector tries arbitrary laxities. The detector returns a verdict for each laxity, an overloaded worker's
// laxity is low, and the same laxities have the same verdicts.
func FuzzDetector(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), 0)
	f.Fuzz(func(t *testing.T, data []byte, l int) {
		var laxities []time.Duration
		for ; len(data) >= 8 && len(laxities) < 64; data = data[8:] {
			laxities = append(laxities, time.Duration(binary.LittleEndian.Uint64(data)))
		}
		d, err := NewDetector(Config{Neighbours: l})
		if err != nil {
			return
		}
		verdicts := d.Detect(nil, laxities)
		require.Len(t, verdicts, len(laxities))
		for i, v := range verdicts {
			require.False(t, math.IsNaN(v.LOF))
			require.Equal(t, v.Overloaded, v.Reason == StandsApart)
			require.Equal(t, laxities[i], v.Laxity)
			if v.Overloaded {
				require.LessOrEqual(t, v.Laxity, v.Bar)
			}
			_, _ = v.String(), v.LogValue()
		}
		require.Equal(t, verdicts, d.Detect(nil, laxities))
	})
}
