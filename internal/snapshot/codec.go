package snapshot

import (
	"encoding"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Codec writes state, or reads it: one list of fields serves for both, so that the two cannot drift apart.
type Codec struct {
	Dst []byte
	In  *Reader // nil to write

	part []byte // the snapshot of a part, with its checksum
}

// Append appends the snapshot that a list of fields makes: the version, the fields, a checksum.
func Append(dst []byte, version byte, fields func(*Codec)) ([]byte, error) {
	c := Codec{Dst: append(dst, version)}
	fields(&c)
	return Seal(c.Dst, len(dst)), nil
}

// Restore sets v from a snapshot by the list of fields that wrote it. It is an error, and leaves v as it was, if data is
// no such snapshot.
func Restore[T any](data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	var fresh T
	return RestoreTo(fresh, data, version, v, fields)
}

// RestoreTo is Restore for state of which a part comes from elsewhere: that of fresh, into which the snapshot is read.
func RestoreTo[T any](fresh T, data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	c := Codec{In: NewReader(check.PlaceOf[T](), version, data)}
	fields(&fresh, &c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*v = fresh
	return nil
}

// code codes a value that is written and read by a function each.
func code[T any](c *Codec, v *T, write func([]byte, T) []byte, read func(*Reader) T) {
	if c.In == nil {
		c.Dst = write(c.Dst, *v)
		return
	}
	*v = read(c.In)
}

// Reading reports whether the fields are read and all was right so far, so that what follows from them may be made.
func (c *Codec) Reading() bool { return c.In != nil && c.In.OK() }

// OK reports whether all that was read so far was right.
func (c *Codec) OK() bool { return c.In == nil || c.In.OK() }

// Number codes a number of a range.
func (c *Codec) Number(v *int, least, most int) {
	if c.In == nil {
		c.Dst = AppendInt(c.Dst, int64(*v))
		return
	}
	*v = c.In.Number(least, most)
}

// Number64 codes a number of a range.
func (c *Codec) Number64(v *int64, least, most int64) {
	c.Int(v)
	c.Check(*v >= least && *v <= most, "holds a number out of range")
}

// Count codes a number that is not negative.
func (c *Codec) Count(v *int64) {
	n := uint64(*v)
	c.Uint(&n)
	c.Check(n <= math.MaxInt64, "holds a number out of range")
	*v = int64(n)
}

// Valid refuses a configuration that was read unless it is right and valid.
func (c *Codec) Valid(right bool, config interface{ Validate() error }) {
	if c.Reading() {
		c.In.Check(right, "has a configuration out of range")
		c.In.Fail(config.Validate())
	}
}

// Small codes a number of a range that has a small type.
func Small[T ~int8 | ~int32 | ~uint8 | ~uint16](c *Codec, v *T, least, most int) {
	n := int(*v)
	c.Number(&n, least, most)
	*v = T(n)
}

// Index codes a place in a list of n, or none.
func (c *Codec) Index(v *int32, n int) { Small(c, v, -1, n-1) }

// Duration codes a duration.
func (c *Codec) Duration(v *time.Duration) { c.Int((*int64)(v)) }

// Int codes a number of either sign.
func (c *Codec) Int(v *int64) { code(c, v, AppendInt, (*Reader).Int) }

// Span codes a duration that is not negative.
func (c *Codec) Span(v *time.Duration) {
	c.Duration(v)
	c.Check(*v >= 0, "holds a negative duration")
}

// Share codes a number from 0 to 1.
func (c *Codec) Share(v *float64) { code(c, v, AppendFloat, (*Reader).Share) }

// Sum codes a running sum.
func (c *Codec) Sum(v *num.Sum) { code(c, v, AppendSum, (*Reader).Sum) }

// Uint codes a number that is not negative.
func (c *Codec) Uint(v *uint64) { code(c, v, AppendUint, (*Reader).Uint) }

// Amount codes a number that is finite and not negative.
func (c *Codec) Amount(v *float64) { code(c, v, AppendFloat, (*Reader).Amount) }

// Amount32 codes a number that is finite and not negative.
func (c *Codec) Amount32(v *float32) {
	wide := float64(*v)
	c.Amount(&wide)
	*v = float32(wide)
}

// Real codes a number of either sign.
func (c *Codec) Real(v *float64) { code(c, v, AppendFloat, (*Reader).Float) }

// Time codes an instant; see [AppendTime].
func (c *Codec) Time(v *time.Time) { code(c, v, AppendTime, (*Reader).Time) }

// Clock codes a clock.
func (c *Codec) Clock(v *clock.Clock) { code(c, v, AppendClock, (*Reader).Clock) }

// Bool codes a truth value.
func (c *Codec) Bool(v *bool) { code(c, v, AppendBool, (*Reader).Bool) }

// Text codes a text.
func (c *Codec) Text(v *string) {
	if c.In == nil {
		c.Dst = AppendBlock(c.Dst, []byte(*v))
		return
	}
	*v = string(c.In.Block())
}

// Size codes how many items follow, of at least so many bytes each, so that a hostile number cannot ask for all memory.
func (c *Codec) Size(n, bytes int) int {
	if c.In == nil {
		c.Dst = AppendUint(c.Dst, uint64(n))
		return n
	}
	n = c.In.Count(bytes)
	if n > most {
		c.Check(false, "holds more items than fit")
		return 0
	}
	return n
}

// State is what has a snapshot of its own.
type State interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Part codes state that has a snapshot of its own. Its checksum is left out: that of the whole holds for it as well.
func (c *Codec) Part(p State) {
	if c.In == nil {
		c.part, _ = p.AppendBinary(c.part[:0]) // it never fails
		c.Dst = AppendBlock(c.Dst, c.part[:len(c.part)-checksumSize])
		return
	}
	c.unmarshal(p, c.In.Block())
}

// Last is Part for what ends a snapshot and is read in place: it is left as it was unless all before it was right.
func (c *Codec) Last(p State) {
	if c.In == nil {
		c.Part(p)
		return
	}
	block := c.In.Block()
	if err := c.In.Close(); err == nil {
		c.unmarshal(p, block)
	}
}

func (c *Codec) unmarshal(p State, block []byte) {
	if c.In.OK() {
		c.part = Seal(append(c.part[:0], block...), 0)
		if err := p.UnmarshalBinary(c.part); err != nil {
			c.In.Fail(err)
		}
	}
}

// Check refuses what was read, unless it is right.
func (c *Codec) Check(right bool, fault string) {
	if c.In != nil {
		c.In.Check(right, fault)
	}
}

// List codes a slice, item by item.
func List[T any](c *Codec, items *[]T, bytes int, item func(*T)) {
	n := c.Size(len(*items), bytes)
	if c.In != nil {
		*items = make([]T, n)
	}
	for i := range *items {
		if !c.OK() {
			return
		}
		item(&(*items)[i])
	}
}

// Any is the largest number.
const Any = math.MaxInt

// most is how many items a list may have.
const most = 1 << 30
