package snapshot

import (
	"encoding"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
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

// Restore sets v from a snapshot by the list of fields that wrote it. It is an error, and leaves v as it was, if data
// is no such snapshot.
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

// Reading reports whether the fields are read and all was right so far, so that what follows from them may be made.
func (c *Codec) Reading() bool { return c.In != nil && c.In.OK() }

// OK reports whether all that was read so far was right.
func (c *Codec) OK() bool { return c.In == nil || c.In.OK() }

// Valid refuses a configuration that was read unless it is right and valid.
func (c *Codec) Valid(right bool, config interface{ Validate() error }) {
	if c.Reading() {
		c.In.Check(right, "has a configuration out of range")
		c.In.Fail(config.Validate())
	}
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
		c.block(c.part[:len(c.part)-checksumSize])
		return
	}
	c.unmarshal(p, c.block(nil))
}

// Last is Part for what ends a snapshot and is read in place: it is left as it was unless all before it was right.
func (c *Codec) Last(p State) {
	if c.In == nil {
		c.Part(p)
		return
	}
	block := c.block(nil)
	if err := c.In.Close(); err == nil {
		c.unmarshal(p, block)
	}
}

// block codes bytes, with their number before them. What is read is not copied.
func (c *Codec) block(b []byte) []byte {
	n := c.size(len(b), 1)
	if c.In == nil {
		c.Dst = append(c.Dst, b...)
		return b
	}
	b = c.In.rest[:n:n]
	c.In.rest = c.In.rest[n:]
	return b
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

// Size codes how many items follow, of at least so many bytes each, so that a hostile number cannot ask for all memory.
func (c *Codec) Size(n, bytes int) int {
	if n = c.size(n, bytes); n > most {
		c.Check(false, "holds more items than fit")
		return 0
	}
	return n
}

func (c *Codec) size(n, bytes int) int {
	items := uint64(n)
	if c.Uint(&items); c.In != nil && items > uint64(len(c.In.rest)/max(bytes, 1)) {
		c.In.Fail(fmt.Errorf("counts %d items, and has %d bytes left", items, len(c.In.rest)))
		return 0
	}
	return int(items)
}

// All codes fields one by one: truth values, numbers from 0, durations, times and texts. With a field of another type nothing
// can be read.
func (c *Codec) All(fields ...any) {
	for _, field := range fields {
		switch v := field.(type) {
		case *bool:
			c.Bool(v)
		case *int:
			c.Number(v, 0, Any)
		case *time.Duration:
			c.Duration(v)
		case *time.Time:
			c.Time(v)
		case *string:
			c.Text(v)
		default:
			c.Check(false, "has a field of a type that has no form")
		}
	}
}

// List codes a slice, item by item. An item takes a byte at least, so a hostile number claims no more items than there are
// bytes.
func List[T any](c *Codec, items *[]T, item func(*T)) {
	n := c.Size(len(*items), 1)
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

// most is how many items a list may have.
const most = 1 << 30
