package wire

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/num"
)

func written[T any](v T) string { return string(Field{Value: &v}.AppendValue(nil)) }

func TestFieldsAreShortAndReadable(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                     "0s",
		1:                                     "0.000000001s",
		-1:                                    "-0.000000001s",
		1500 * time.Millisecond:               "1.5s",
		100 * time.Hour:                       "360000s",
		1_020_000_000:                         "1.02s",
		math.MaxInt64:                         "9223372036.854775807s",
		-10 * time.Second:                     "-10s",
		time.Second + 10*time.Nanosecond:      "1.00000001s",
		time.Second + 999_999_999:             "1.999999999s",
		num.MinDuration:                       "?",
		time.Duration(math.MinInt64) + 854775: "-9223372036.853921033s",
	} {
		assert.Equal(t, want, written(d), "%d ns", int64(d))
	}
	assert.Equal(t, "-9223372036.854775808s", string(AppendSeconds(nil, math.MinInt64)))
	for x, want := range map[float64]string{
		0: "0", 0.1: "0.1", 1e6: "1000000", 67108864: "67108864", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-07", -2.5: "-2.5", math.Inf(1): "+Inf", math.Inf(-1): "-Inf",
		math.MaxFloat64: "1.7976931348623157e+308", math.SmallestNonzeroFloat64: "5e-324",
	} {
		assert.Equal(t, want, written(x), "%v", x)
	}
	assert.Equal(t, "?", written(math.NaN()))
	assert.Equal(t, "yes", written(true))
}

// If a duration or a number is written and read, the result is the same value, to the last bit.
func TestFieldsReadBackAsEqualValues(t *testing.T) {
	bits := []uint64{0, 1, math.MaxUint64, 1 << 63, math.MaxInt64, 1e9, 1e18}
	for source := rand.New(rand.NewPCG(1, 2)); len(bits) < 20_000; {
		bits = append(bits, source.Uint64()>>source.IntN(64))
	}
	for _, b := range bits {
		d, x := time.Duration(b), math.Float64frombits(b)
		var duration time.Duration
		require.NoError(t, Field{Value: &duration}.Parse(written(d)), "%d ns", b)
		require.Equal(t, d, duration)
		plain, err := time.ParseDuration(string(AppendSeconds(nil, d)))
		require.NoError(t, err)
		require.Equal(t, d, plain)
		var number float64
		require.NoError(t, Field{Value: &number}.Parse(written(x)), "%v", x)
		if x == x {
			require.Equal(t, b, math.Float64bits(number), "%v", x)
		} else {
			require.True(t, number != number)
		}
	}
}

func TestFieldsDoNotAllocate(t *testing.T) {
	n, x, d, b, dst := 7, 0.25, time.Minute, true, make([]byte, 0, 100)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, f := range [...]Field{{Key: "n", Value: &n}, {Key: "x", Value: &x}, {Key: "d", Value: &d}, {Key: "b", Value: &b}} {
			dst = f.Append(dst, ' ')
		}
		dst = dst[:0]
	}))
}
