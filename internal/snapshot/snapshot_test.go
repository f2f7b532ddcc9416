package snapshot

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	c := clock.Clock{Begun: true, Last: now, Since: time.Hour, Steps: 3}
	data := []byte{7}
	data = AppendUint(data, math.MaxUint64)
	data = AppendInt(data, math.MinInt64)
	data = AppendInt(data, -3)
	data = AppendUint(data, 2)
	data = AppendFloat(data, math.Inf(1))
	data = AppendFloat(data, .25)
	data = AppendFloat(data, 1e300)
	data = AppendInt(data, int64(time.Minute))
	data = AppendBool(AppendBool(data, true), false)
	data = AppendTime(AppendTime(data, now.In(time.FixedZone("x", 60))), time.Time{})
	data = AppendClock(AppendClock(data, c), clock.Clock{})
	data = AppendSum(AppendBlock(AppendBlock(data, []byte("part")), nil), num.Sum{High: 3, Low: -1e-20})

	r := NewReader("x: X", 7, Seal(data, 0))
	assert.Equal(t, uint64(math.MaxUint64), r.Uint())
	assert.Equal(t, int64(math.MinInt64), r.Int())
	assert.Equal(t, -3, r.Number(-3, 5))
	assert.Equal(t, 2, r.Count(8))
	assert.Equal(t, math.Inf(1), r.Float())
	assert.Equal(t, .25, r.Share())
	assert.Equal(t, 1e300, r.Amount())
	assert.Equal(t, time.Minute, r.Duration())
	assert.True(t, r.Bool())
	assert.False(t, r.Bool())
	assert.Equal(t, now, r.Time())
	assert.Equal(t, time.Time{}, r.Time())
	assert.Equal(t, c, r.Clock())
	assert.Equal(t, clock.Clock{}, r.Clock())
	assert.Equal(t, "part", string(r.Block()))
	assert.Empty(t, r.Block())
	assert.Equal(t, num.Sum{High: 3, Low: -1e-20}, r.Sum())
	assert.True(t, r.OK())
	require.NoError(t, r.Close())
}

func TestFaultsAreNamedOnce(t *testing.T) {
	float := func(x float64) []byte { return AppendFloat(nil, x) }
	for want, c := range map[string]struct {
		data []byte
		read func(*Reader)
	}{
		"ends early":                    {nil, func(r *Reader) { r.Uint() }},
		"number out of range":           {[]byte{0x85, 0}, func(r *Reader) { r.Uint() }}, // padded
		"a sum that is not finite":      {append(float(math.Inf(1)), float(0)...), func(r *Reader) { r.Sum() }},
		"counts 9 items":                {AppendUint(nil, 9), func(r *Reader) { r.Block() }},
		"1 bytes too many":              {[]byte{0}, func(*Reader) {}},
		"holds 9 where 0 to 8":          {AppendInt(nil, 9), func(r *Reader) { r.Number(0, 8) }},
		"counts 2 items, and has 3":     {append(AppendUint(nil, 2), 1, 2, 3), func(r *Reader) { r.Count(2) }},
		"holds NaN":                     {float(math.NaN()), func(r *Reader) { r.Float() }},
		"holds 1.5 where 0 to 1":        {float(1.5), func(r *Reader) { r.Share() }},
		"holds +Inf where a finite":     {float(math.Inf(1)), func(r *Reader) { r.Amount() }},
		"holds -1 where a finite":       {float(-1), func(r *Reader) { r.Amount() }},
		"negative duration":             {AppendInt(nil, -1), func(r *Reader) { r.Duration() }},
		"neither 0 nor 1":               {[]byte{2}, func(r *Reader) { r.Bool() }},
		"holds a time out of range":     {AppendUint(AppendInt(nil, 1), 1e9), func(r *Reader) { r.Time() }},
		"the decoder's own, and no 2nd": {nil, func(r *Reader) { r.Fail(errors.New("the decoder's own, and no 2nd")); r.Uint() }},
	} {
		r := NewReader("room: State", 1, Seal(append([]byte{1}, c.data...), 0))
		c.read(r)
		err := r.Close()
		require.ErrorContains(t, err, "room: State: snapshot: ")
		assert.ErrorContains(t, err, want)
		assert.Equal(t, err, r.Close())
		assert.Zero(t, r.Float())
		assert.Zero(t, r.Clock())
		assert.False(t, r.OK())
	}
	assert.EqualError(t, NewReader("a: B", 1, nil).Close(), "a: B: snapshot: want a snapshot, got no bytes")
	assert.EqualError(t, NewReader("a: B", 1, []byte{2}).Close(), "a: B: snapshot: version is 2, want 1")
}

// The polynomial finds whatever changes within 32 bits in a row; and a snapshot may follow other bytes.
func TestDamageIsRefused(t *testing.T) {
	whole := Seal(AppendUint([]byte("other bytes\x01"), 1<<40), 11)[11:]
	require.NoError(t, read(whole))
	for at := range whole {
		assert.Error(t, read(whole[:at]), "cut to %d", at)
		for bits := 1; bits < 256; bits++ {
			bad := bytes.Clone(whole)
			bad[at] ^= byte(bits)
			assert.Error(t, read(bad), "byte %d", at)
			if at+4 <= len(bad) {
				bad[at+3] ^= byte(bits)
				assert.Error(t, read(bad), "bytes %d to %d", at, at+3)
			}
		}
	}
	assert.EqualError(t, read(append(whole, 0)),
		"a: B: snapshot: checksum does not match: it has changed, or is cut short")
}

func read(data []byte) error {
	r := NewReader("a: B", 1, data)
	r.Uint()
	return r.Close()
}

// Any bytes: no panic, and no count beyond what the rest can hold.
func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 3, 1, 2, 3}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data, calls []byte) {
		r := NewReader("a: B", 1, Seal(data, 0))
		for _, c := range calls {
			left := len(r.rest)
			switch c % 10 {
			case 0:
				r.Uint()
			case 1:
				r.Int()
			case 2:
				if n := r.Number(-5, 5); n < -5 || n > 5 {
					t.Fatal(n)
				}
			case 3:
				if n := r.Count(3); n > len(r.rest)/3 {
					t.Fatal(n, len(r.rest))
				}
			case 4:
				if x := r.Share(); !(x >= 0 && x <= 1) {
					t.Fatal(x)
				}
			case 5:
				r.Amount()
			case 6:
				r.Duration()
			case 7:
				r.Bool()
			case 8:
				r.Time()
			case 9:
				r.Clock()
			}
			if len(r.rest) > left {
				t.Fatal("reads backwards")
			}
		}
		_ = r.Close()
	})
}
