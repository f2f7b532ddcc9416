package snapshot

import (
	"encoding"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Codec writes state, or reads it. One list of fields serves for both, so that writing and reading always agree.
type Codec struct {
	Dst []byte
	In  *Reader // nil to write

	part []byte // the snapshot of a part, with its checksum
}

// Append appends a snapshot of a list of fields: the version, the fields, a checksum.
func Append(dst []byte, version byte, fields func(*Codec)) ([]byte, error) {
	c := Codec{Dst: append(dst, version)}
	fields(&c)
	return Seal(c.Dst, len(dst)), nil
}

// Restore sets v from a snapshot, by the list of fields that wrote it. If data is no such snapshot, Restore returns
// an error and leaves v unchanged.
func Restore[T any](data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	var fresh T
	return RestoreTo(fresh, data, version, v, fields)
}

// RestoreTo is Restore for state with a part that is not in the snapshot. The snapshot is read into fresh, which
// holds this part.
func RestoreTo[T any](fresh T, data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	c := Codec{In: NewReader(check.PlaceOf[T](), version, data)}
	fields(&fresh, &c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*v = fresh
	return nil
}

// Reading reports whether the fields are read and all were right so far. Code that computes further state from them
// asks this.
func (c *Codec) Reading() bool { return c.In != nil && c.In.OK() }

// OK reports whether all fields read so far were right.
func (c *Codec) OK() bool { return c.In == nil || c.In.OK() }

// Valid refuses a configuration that was read unless right is true and the configuration is valid.
func (c *Codec) Valid(right bool, config interface{ Validate() error }) {
	if c.Reading() {
		c.In.Check(right, "has a configuration out of range")
		c.In.Fail(config.Validate())
	}
}

// State is a type with its own snapshot.
type State interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Part codes state with its own snapshot. The checksum of the part is left out, because the checksum of the whole
// covers the part.
func (c *Codec) Part(p State) {
	if c.In == nil {
		c.part, _ = p.AppendBinary(c.part[:0]) // it never fails
		c.block(c.part[:len(c.part)-checksumSize])
		return
	}
	c.unmarshal(p, c.block(nil))
}

// Last is Part for the last part of a snapshot, which is read in place. The part is unchanged unless everything before it
// was right.
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

// block codes bytes, after their number. Bytes that are read are not copied.
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

// unmarshal reads a part from a block without a checksum.
func (c *Codec) unmarshal(p State, block []byte) {
	if c.In.OK() {
		c.part = Seal(append(c.part[:0], block...), 0)
		if err := p.UnmarshalBinary(c.part); err != nil {
			c.In.Fail(err)
		}
	}
}

// Check records a fault of the input unless right is true.
func (c *Codec) Check(right bool, fault string) {
	if c.In != nil {
		c.In.Check(right, fault)
	}
}

// Size codes the number of items that follow. Each item takes at least the given bytes, so a hostile number cannot
// ask for all memory.
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

// All codes fields one by one: truth values, numbers from 0, durations, times and texts. A field of another type is
// a fault.
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
			c.Check(false, "has a field of a type without a form")
		}
	}
}

// List codes a slice, item by item. An item takes at least a byte, so a hostile number cannot claim more items than
// there are bytes.
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

// most is the largest number of items in a list.
const most = 1 << 30
