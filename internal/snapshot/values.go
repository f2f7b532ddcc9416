package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Uint writes or reads a number that is not negative, as a varint.
func (c *Codec) Uint(v *uint64) {
	if c.Writes() {
		c.Dst = binary.AppendUvarint(c.Dst, *v)
		return
	}
	*v = c.In.uvarint()
}

// Int writes or reads a number that may be negative, as a varint.
func (c *Codec) Int(v *int64) {
	if c.Writes() {
		c.Dst = binary.AppendVarint(c.Dst, *v)
		return
	}
	// Most numbers need a single byte, so they have a faster path.
	if rest := c.In.rest; len(rest) > 0 && rest[0] < 0x80 {
		*v, c.In.rest = int64(rest[0]>>1)^-int64(rest[0]&1), rest[1:]
		return
	}
	n := c.In.uvarint()
	*v = int64(n>>1) ^ -int64(n&1)
}

// Real writes or reads a float with all its bits. NaN is a fault.
func (c *Codec) Real(v *float64) {
	if c.Writes() {
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

// Real32 writes or reads a float of 32 bits. NaN is a fault.
func (c *Codec) Real32(v *float32) {
	if c.Writes() {
		c.Dst = binary.LittleEndian.AppendUint32(c.Dst, math.Float32bits(*v))
		return
	}
	bits := uint32(0)
	if c.Check(len(c.In.rest) >= 4, early); c.OK() {
		bits = binary.LittleEndian.Uint32(c.In.rest)
		c.In.rest = c.In.rest[4:]
	}
	if *v = math.Float32frombits(bits); *v != *v {
		c.Check(false, "holds NaN")
		*v = 0
	}
}

// expect sets the number to 0 and stores a fault if the number was read and right is false. want says in words
// which numbers are allowed.
func (c *Codec) expect(v *float64, right bool, want string) {
	if !c.Writes() && !right {
		c.In.Fail(fmt.Errorf("holds %v where %s is expected", *v, want))
		*v = 0
	}
}

// Any is the upper end of a range that has no upper bound.
const Any = math.MaxInt

// Number writes or reads a number. A number that was read must be from least to most.
func (c *Codec) Number(v *int, least, most int) {
	n := int64(*v)
	if c.Int(&n); c.Writes() {
		return // if the codec writes, the number stays as it is
	}
	if *v = int(n); n < int64(least) || n > int64(most) {
		c.In.Fail(fmt.Errorf("holds %d where %d to %d is expected", n, least, most))
		*v = 0
	}
}

// Number64 writes or reads a number. A number that was read must be from least to most.
func (c *Codec) Number64(v *int64, least, most int64) {
	c.Int(v)
	c.Check(*v >= least && *v <= most, "holds a number out of range")
}

// Small writes or reads a number of a small type. A number that was read must be from least to most.
func Small[T ~int8 | ~int32 | ~uint8 | ~uint16](c *Codec, v *T, least, most int) {
	n := int(*v)
	c.Number(&n, least, most)
	*v = T(n)
}

// Index writes or reads an index in a list of n items. -1 stands for no index.
func (c *Codec) Index(v *int32, n int) { Small(c, v, -1, n-1) }

// Count writes or reads a number that is not negative.
func (c *Codec) Count(v *int64) {
	n := uint64(*v)
	c.Uint(&n)
	c.Check(n <= math.MaxInt64, "holds a number out of range")
	*v = int64(n)
}

// Share writes or reads a number from 0 to 1.
func (c *Codec) Share(v *float64) {
	c.Real(v)
	c.expect(v, *v >= 0 && *v <= 1, "0 to 1")
}

// Amount writes or reads a number that is finite and not negative.
func (c *Codec) Amount(v *float64) {
	c.Real(v)
	c.expect(v, *v >= 0 && num.Finite(*v), "a finite amount")
}

// Amount32 writes or reads a number that is finite and not negative.
func (c *Codec) Amount32(v *float32) {
	if c.Real32(v); !c.Writes() && !(*v >= 0 && *v <= math.MaxFloat32) {
		c.In.Fail(fmt.Errorf("holds %v where a finite amount is expected", *v))
		*v = 0
	}
}

// Sum writes or reads a running sum. Both of its parts must be finite. The low part is the rounding error of the high
// part: at most half a unit in its last place, 1.1e-16 of it. A part of up to 1e-15 does no harm, and is accepted.
func (c *Codec) Sum(v *num.Sum) {
	c.Real(&v.High)
	c.Real(&v.Low)
	c.Check(num.Finite(v.High) && num.Finite(v.Low), "holds a sum that is not finite")
	c.Check(math.Abs(v.Low) <= 1e-15*math.Abs(v.High), "holds a sum whose low part is more than a rounding error")
}

// Bool writes or reads a truth value, as 0 or 1.
func (c *Codec) Bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	if c.Uint(&n); !c.Writes() {
		c.Check(n <= 1, "holds a truth value that is neither 0 nor 1")
		*v = n == 1
	}
}

// Bytes writes or reads bytes. Those that were read share memory with the input.
func (c *Codec) Bytes(v *[]byte) { *v = c.block(*v) }

// Text writes or reads a string.
func (c *Codec) Text(v *string) {
	if text := c.block([]byte(*v)); !c.Writes() {
		*v = string(text)
	}
}

// Duration writes or reads a duration.
func (c *Codec) Duration(v *time.Duration) { c.Int((*int64)(v)) }

// Span writes or reads a duration that is not negative.
func (c *Codec) Span(v *time.Duration) {
	c.Duration(v)
	c.Check(*v >= 0, "holds a negative duration")
}

// Time writes or reads an instant, as seconds and nanoseconds since 1970. The location and the monotonic reading of
// a time.Time are left out, because they mean nothing in another process.
func (c *Codec) Time(v *time.Time) {
	seconds, nanos := v.Unix(), uint64(v.Nanosecond())
	c.Int(&seconds)
	c.Uint(&nanos)
	if c.Writes() {
		return
	}
	// The years 1 to about 9999 are allowed. A time outside this range may overflow inside time.Time.
	if nanos >= 1e9 || seconds < -62135596800 || seconds > 1<<38 {
		c.Check(false, "holds a time out of range")
		seconds, nanos = 0, 0
	}
	*v = time.Unix(seconds, int64(nanos)).UTC()
}

// Clock writes or reads the state of a clock.
func (c *Codec) Clock(v *clock.Clock) {
	if c.Bool(&v.Begun); v.Begun {
		c.Time(&v.Last)
		c.Span(&v.Since)
		c.Number(&v.Steps, 0, Any)
	}
	if !c.Writes() && !(v.Begun && c.OK()) {
		*v = clock.Clock{}
	}
}
