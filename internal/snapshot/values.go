package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Uint codes a number that is not negative, as a varint.
func (c *Codec) Uint(v *uint64) {
	if c.In == nil {
		c.Dst = binary.AppendUvarint(c.Dst, *v)
		return
	}
	n, size := binary.Uvarint(c.In.rest)
	if *v = 0; c.In.took(size) {
		*v = n
	}
}

// Int codes a number of either sign, as a varint.
func (c *Codec) Int(v *int64) {
	if c.In == nil {
		c.Dst = binary.AppendVarint(c.Dst, *v)
		return
	}
	if rest := c.In.rest; len(rest) > 0 && rest[0] < 0x80 { // most numbers take one byte
		*v, c.In.rest = int64(rest[0]>>1)^-int64(rest[0]&1), rest[1:]
		return
	}
	n, size := binary.Varint(c.In.rest)
	if *v = 0; c.In.took(size) {
		*v = n
	}
}

// Real codes a float with all its bits; NaN is a fault.
func (c *Codec) Real(v *float64) {
	if c.In == nil {
		c.Dst = binary.LittleEndian.AppendUint64(c.Dst, math.Float64bits(*v))
		return
	}
	bits := uint64(0)
	if c.Check(len(c.In.rest) >= 8, early); c.OK() {
		bits = binary.LittleEndian.Uint64(c.In.rest)
		c.In.rest = c.In.rest[8:]
	}
	if *v = math.Float64frombits(bits); math.IsNaN(*v) {
		c.Check(false, "holds NaN")
		*v = 0
	}
}

// expect records a fault unless right is true, and sets the number to 0.
func (c *Codec) expect(v *float64, right bool, want string) {
	if c.In != nil && !right {
		c.In.Fail(fmt.Errorf("holds %v where %s is expected", *v, want))
		*v = 0
	}
}

// Any is the largest number, for a range without an upper bound.
const Any = math.MaxInt

// Number codes a number from least to most.
func (c *Codec) Number(v *int, least, most int) {
	n := int64(*v)
	if c.Int(&n); c.In == nil {
		return // writing changes nothing
	}
	if *v = int(n); n < int64(least) || n > int64(most) {
		c.In.Fail(fmt.Errorf("holds %d where %d to %d is expected", n, least, most))
		*v = 0
	}
}

// Number64 codes a number from least to most.
func (c *Codec) Number64(v *int64, least, most int64) {
	c.Int(v)
	c.Check(*v >= least && *v <= most, "holds a number out of range")
}

// Small codes a number of a small type, from least to most.
func Small[T ~int8 | ~int32 | ~uint8 | ~uint16](c *Codec, v *T, least, most int) {
	n := int(*v)
	c.Number(&n, least, most)
	*v = T(n)
}

// Index codes an index in a list of n items, or -1 for none.
func (c *Codec) Index(v *int32, n int) { Small(c, v, -1, n-1) }

// Count codes a number that is not negative.
func (c *Codec) Count(v *int64) {
	n := uint64(*v)
	c.Uint(&n)
	c.Check(n <= math.MaxInt64, "holds a number out of range")
	*v = int64(n)
}

// Share codes a number from 0 to 1.
func (c *Codec) Share(v *float64) {
	c.Real(v)
	c.expect(v, *v >= 0 && *v <= 1, "0 to 1")
}

// Amount codes a number that is finite and not negative.
func (c *Codec) Amount(v *float64) {
	c.Real(v)
	c.expect(v, *v >= 0 && num.Finite(*v), "a finite amount")
}

// Amount32 codes a number that is finite and not negative.
func (c *Codec) Amount32(v *float32) {
	wide := float64(*v)
	c.Amount(&wide)
	*v = float32(wide)
}

// Sum codes a running sum.
func (c *Codec) Sum(v *num.Sum) {
	c.Real(&v.High)
	c.Real(&v.Low)
	c.Check(num.Finite(v.High) && num.Finite(v.Low), "holds a sum that is not finite")
}

// Bool codes a truth value as 0 or 1.
func (c *Codec) Bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	if c.Uint(&n); c.In != nil {
		c.Check(n <= 1, "holds a truth value that is neither 0 nor 1")
		*v = n == 1
	}
}

// Text codes a text.
func (c *Codec) Text(v *string) {
	if text := c.block([]byte(*v)); c.In != nil {
		*v = string(text)
	}
}

// Duration codes a duration.
func (c *Codec) Duration(v *time.Duration) { c.Int((*int64)(v)) }

// Span codes a duration that is not negative.
func (c *Codec) Span(v *time.Duration) {
	c.Duration(v)
	c.Check(*v >= 0, "holds a negative duration")
}

// Time codes an instant, as seconds and nanoseconds since 1970. Its location and its monotonic reading are left
// out, because they mean nothing in another process.
func (c *Codec) Time(v *time.Time) {
	seconds, nanos := v.Unix(), uint64(v.Nanosecond())
	c.Int(&seconds)
	c.Uint(&nanos)
	if c.In == nil {
		return
	}
	// The range is the years 1 to about 9999; a time beyond may overflow inside time.Time.
	if nanos >= 1e9 || seconds < -62135596800 || seconds > 1<<38 {
		c.Check(false, "holds a time out of range")
		seconds, nanos = 0, 0
	}
	*v = time.Unix(seconds, int64(nanos)).UTC()
}

// Clock codes a clock.
func (c *Codec) Clock(v *clock.Clock) {
	if c.Bool(&v.Begun); v.Begun {
		c.Time(&v.Last)
		c.Span(&v.Since)
		c.Number(&v.Steps, 0, Any)
	}
	if c.In != nil && !(v.Begun && c.OK()) {
		*v = clock.Clock{}
	}
}
