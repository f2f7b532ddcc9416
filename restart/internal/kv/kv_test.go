package kv

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

func TestDurationsAreDecimalSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                     "0s",
		1:                                     "0.000000001s",
		-1:                                    "-0.000000001s",
		1500 * time.Millisecond:               "1.5s",
		90 * time.Second:                      "90s",
		100 * time.Hour:                       "360000s",
		1_020_000_000:                         "1.02s",
		math.MaxInt64:                         "9223372036.854775807s",
		math.MinInt64:                         "-9223372036.854775808s",
		-10 * time.Second:                     "-10s",
		time.Second + 10*time.Nanosecond:      "1.00000001s",
		time.Second + 999_999_999:             "1.999999999s",
		time.Duration(math.MinInt64) + 854775: "-9223372036.853921033s",
	} {
		assert.Equal(t, want, string(AppendDuration(nil, d)), "%d ns", int64(d))
	}
}

func TestNumbersAreShortAndReadable(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.1: "0.1", 1e6: "1000000", 67108864: "67108864", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-07", -2.5: "-2.5", math.Inf(1): "+Inf", math.Inf(-1): "-Inf",
		math.MaxFloat64: "1.7976931348623157e+308", math.SmallestNonzeroFloat64: "5e-324",
	} {
		assert.Equal(t, want, string(AppendFloat(nil, x)), "%v", x)
	}
	assert.Equal(t, "?", string(AppendFloat(nil, math.NaN())))
}

// Every duration and every number reads back as itself, to the bit.
func TestValuesRoundTrip(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		bits := source.Uint64() >> source.IntN(64)
		checkRoundTrip(t, bits)
	}
	for _, bits := range []uint64{0, 1, math.MaxUint64, 1 << 63, math.MaxInt64, 1e9, 1e18} {
		checkRoundTrip(t, bits)
	}
}

func checkRoundTrip(t *testing.T, bits uint64) {
	t.Helper()
	want := time.Duration(bits)
	got, err := ParseEstimate(string(AppendEstimate(nil, want)))
	require.NoError(t, err, "%d ns", want)
	require.Equal(t, want, got)
	got, err = time.ParseDuration(string(AppendDuration(nil, want)))
	require.NoError(t, err, "%d ns", want)
	require.Equal(t, want, got)

	number := math.Float64frombits(bits)
	back, err := ParseFloat(string(AppendFloat(nil, number)))
	require.NoError(t, err, "%v", number)
	if number != number {
		require.True(t, back != back)
		return
	}
	require.Equal(t, math.Float64bits(number), math.Float64bits(back), "%v", number)
}

func TestUnknownIsAQuestionMark(t *testing.T) {
	assert.Equal(t, "?", string(AppendEstimate(nil, estimate.Unknown)))
	d, err := ParseEstimate("?")
	require.NoError(t, err)
	assert.Equal(t, estimate.Unknown, d)
}

func TestQuoteIsBounded(t *testing.T) {
	long := make([]byte, 1<<16)
	assert.Less(t, len(Quote(string(long))), 200)
	assert.Equal(t, `"a\x00b"`, Quote("a\x00b"))
}
