package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// all has a value of each kind.
type all struct {
	uint          uint64
	least, any    int64
	number, items int
	real, share   float64
	amount        float64
	span          time.Duration
	yes, no       bool
	now, zero     time.Time
	long          time.Duration
	sent          string
	from          int
	clock, unset  clock.Clock
	text, empty   string
	sum           num.Sum
	small         uint8
	narrow        float32
	count         int64
	index         int32
}

func (v *all) code(c *Codec) {
	c.Uint(&v.uint)
	c.Int(&v.least)
	c.Number64(&v.any, -3, 5)
	c.Number(&v.number, -3, 5)
	v.items = c.Size(v.items, 8)
	c.Real(&v.real)
	c.Share(&v.share)
	c.Amount(&v.amount)
	c.Span(&v.span)
	c.All(&v.yes, &v.no, &v.now, &v.zero, &v.long, &v.sent, &v.from)
	c.Clock(&v.clock)
	c.Clock(&v.unset)
	c.Text(&v.text)
	c.Text(&v.empty)
	c.Sum(&v.sum)
	Small(c, &v.small, 0, 9)
	c.Amount32(&v.narrow)
	c.Count(&v.count)
	c.Index(&v.index, 1)
}

func TestASnapshotReadsBackAsAnEqualValue(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := all{
		uint: math.MaxUint64, least: math.MinInt64, any: -3, number: -3, items: 2, real: math.Inf(1), share: .25, amount: 1e300,
		span: time.Minute, yes: true, now: now.In(time.FixedZone("x", 60)), text: "part", sum: num.Sum{High: 3, Low: -1e-20},
		clock: clock.Clock{Begun: true, Last: now, Since: time.Hour, Steps: 3}, small: 9, narrow: .5, count: math.MaxInt64, index: -1,
		long: -time.Hour, sent: "whole", from: 5,
	}
	kept := want
	data, err := Append([]byte("other"), 7, want.code)
	require.NoError(t, err)
	assert.Equal(t, kept, want, "writing changes nothing")
	var got all
	require.NoError(t, Restore(data[5:], 7, &got, (*all).code))
	want.now = now
	assert.Equal(t, want, got)
}

func TestFaultsAreNamedOnce(t *testing.T) {
	written := func(fields func(*Codec)) []byte {
		data, _ := Append(nil, 1, fields)
		return data[1 : len(data)-checksumSize]
	}
	float := func(x float64) []byte { return written(func(c *Codec) { c.Real(&x) }) }
	whole := func(n int64) []byte { return written(func(c *Codec) { c.Int(&n) }) }
	var v all
	three := float32(-3)
	for want, c := range map[string]struct {
		data []byte
		read func(*Codec)
	}{
		"ends early":                    {nil, func(c *Codec) { c.Uint(&v.uint) }},
		"early or holds a number":       {[]byte{1, 2}, func(c *Codec) { c.Real(&v.real) }},
		"number out of range":           {[]byte{0x85, 0}, func(c *Codec) { c.Uint(&v.uint) }}, // padded
		"a sum that is not finite":      {append(float(math.Inf(1)), float(0)...), func(c *Codec) { c.Sum(&v.sum) }},
		"more than a rounding error":    {append(float(1), float(-1e-14)...), func(c *Codec) { c.Sum(&v.sum) }},
		"counts 9 items":                {[]byte{9}, func(c *Codec) { c.Text(&v.text) }},
		"1 bytes too many":              {[]byte{0}, func(*Codec) {}},
		"holds 9 where 0 to 8":          {whole(9), func(c *Codec) { c.Number(&v.number, 0, 8) }},
		"counts 2 items, and has 3":     {[]byte{2, 1, 2, 3}, func(c *Codec) { c.Size(0, 2) }},
		"holds NaN":                     {float(math.NaN()), func(c *Codec) { c.Real(&v.real) }},
		"holds 1.5 where 0 to 1":        {float(1.5), func(c *Codec) { c.Share(&v.share) }},
		"holds +Inf where a finite":     {float(math.Inf(1)), func(c *Codec) { c.Amount(&v.amount) }},
		"holds -1 where a finite":       {float(-1), func(c *Codec) { c.Amount(&v.amount) }},
		"-3 where a finite amount":      {written(func(c *Codec) { c.Real32(&three) }), func(c *Codec) { c.Amount32(&v.narrow) }},
		"negative duration":             {whole(-1), func(c *Codec) { c.Span(&v.span) }},
		"neither 0 nor 1":               {[]byte{2}, func(c *Codec) { c.Bool(&v.yes) }},
		"holds a time out of range":     {binary.AppendUvarint(whole(1), 1e9), func(c *Codec) { c.Time(&v.now) }},
		"the decoder's own, and no 2nd": {nil, func(c *Codec) { c.In.Fail(errors.New("the decoder's own, and no 2nd")); c.Uint(&v.uint) }},
	} {
		in := Codec{In: NewReader("room: State", 1, Seal(append([]byte{1}, c.data...), 0))}
		c.read(&in)
		err := in.In.Close()
		require.ErrorContains(t, err, "room: State: snapshot: ")
		assert.ErrorContains(t, err, want)
		assert.Equal(t, err, in.In.Close())
		v.real, v.clock = 3, clock.Clock{Begun: true}
		in.Real(&v.real)
		in.Clock(&v.clock)
		assert.Zero(t, v.real)
		assert.Zero(t, v.clock)
		assert.False(t, in.OK())
	}
	r := NewReader("a: B", 1, nil)
	assert.EqualError(t, r.Close(), "a: B: snapshot: want a snapshot, got no bytes")
	r = NewReader("a: B", 1, []byte{2})
	assert.EqualError(t, r.Close(), "a: B: snapshot: version is 2, want 1; another version of the library wrote it: begin without it")
}

// If All gets a field of a type that it cannot write, the programmer has made a mistake. If it reads a negative
// number, the snapshot is wrong.
func TestAllRefusesAFieldWithoutAForm(t *testing.T) {
	least := -1
	data, _ := Append(nil, 1, func(c *Codec) { c.Number(&least, -1, 1) })
	assert.ErrorContains(t, Restore(data, 1, new(float64), func(x *float64, c *Codec) { c.All(x) }), "a type without a form")
	assert.ErrorContains(t, Restore(data, 1, new(int), func(n *int, c *Codec) { c.All(n) }), "holds -1 where 0")
}

// The checksum detects any change within 32 bits in a row. A snapshot may follow other bytes.
func TestDamageIsRefused(t *testing.T) {
	n := uint64(1 << 40)
	whole, _ := Append([]byte("other bytes"), 1, func(c *Codec) { c.Uint(&n) })
	whole = whole[11:]
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
	c := Codec{In: NewReader("a: B", 1, data)}
	c.Uint(new(uint64))
	return c.In.Close()
}

// A sum that was made by additions is accepted, however much was taken from it again: its low part is at most half a unit in
// the last place of its high part.
func TestASumOfAnyAdditionsIsAccepted(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		var sum, read num.Sum
		var added []float64
		for range 300 {
			x := math.Ldexp(random.NormFloat64(), random.IntN(120)-60)
			if n := len(added); n > 0 && random.IntN(2) == 0 {
				x, added = -added[n-1], added[:n-1]
			} else {
				added = append(added, x)
			}
			sum.Add(x)
			high := math.Abs(sum.High)
			require.LessOrEqual(t, math.Abs(sum.Low), (math.Nextafter(high, math.Inf(1))-high)/2)
		}
		to := Codec{Dst: []byte{1}}
		to.Sum(&sum)
		from := Codec{In: NewReader("a: B", 1, Seal(to.Dst, 0))}
		from.Sum(&read)
		require.NoError(t, from.In.Close())
		require.Equal(t, sum, read)
	}
}

// For any bytes there is no panic, no number out of its range, and no number of items above the number of bytes
// left.
func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 3, 1, 2, 3}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data, calls []byte) {
		c := Codec{In: NewReader("a: B", 1, Seal(slices.Clip(data), 0))}
		var v all
		for _, call := range calls {
			left := c.In.Len()
			switch call % 10 {
			case 0:
				c.Uint(&v.uint)
			case 1:
				c.Int(&v.least)
			case 2:
				if c.Number(&v.number, -5, 5); v.number < -5 || v.number > 5 {
					t.Fatal(v.number)
				}
			case 3:
				if n := c.Size(0, 3); n > c.In.Len()/3 {
					t.Fatal(n, c.In.Len())
				}
			case 4:
				if c.Share(&v.share); !(v.share >= 0 && v.share <= 1) {
					t.Fatal(v.share)
				}
			case 5:
				c.Amount(&v.amount)
			case 6:
				c.Span(&v.span)
			case 7:
				c.Bool(&v.yes)
			case 8:
				c.Time(&v.now)
			case 9:
				c.Clock(&v.clock)
			}
			if c.In.Len() > left {
				t.Fatal("reads backwards")
			}
		}
		_ = c.In.Close()
	})
}
