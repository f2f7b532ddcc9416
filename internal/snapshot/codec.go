package snapshot

import (
	"encoding"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Codec writes state to a snapshot, or reads state from it. A type has a single list of fields for both directions,
// so writing and reading always agree.
type Codec struct {
	Dst []byte
	In  Reader // the zero Reader if the Codec writes

	// While the Codec writes a field: the places of the field's tag and of its content in Dst; 0 if no field is open.
	tag, open int

	part []byte // scratch memory: the snapshot of a part of the state, with its checksum
}

// Append appends a snapshot to dst: the version, the fields, and a checksum. The function fields must call the
// methods of the Codec for each field of the state.
func Append(dst []byte, version byte, fields func(*Codec)) ([]byte, error) {
	c := Codec{Dst: append(dst, version)}
	fields(&c)
	return c.Sealed(len(dst)), nil
}

// Sealed ends the snapshot that the Codec writes, adds its checksum, and returns Dst. The snapshot begins at Dst[from].
func (c *Codec) Sealed(from int) []byte {
	c.end()
	return Seal(c.Dst, from)
}

// Restore sets v to the state in a snapshot. The function fields must be the same as for [Append]. If data is no
// such snapshot, Restore returns an error and leaves v unchanged.
func Restore[T any](data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	var fresh T
	return RestoreTo(fresh, data, version, v, fields)
}

// RestoreTo restores a snapshot as [Restore] does, for a type with a part that is not in the snapshot, such as a
// function of the host. The argument fresh must be a value with this part. The snapshot is read into fresh, and
// fresh then replaces *v.
func RestoreTo[T any](fresh T, data []byte, version byte, v *T, fields func(*T, *Codec)) error {
	c := Codec{In: NewReader(check.PlaceOf[T](), version, data)}
	fields(&fresh, &c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*v = fresh
	return nil
}

// Writes reports whether the Codec writes. Otherwise it reads.
func (c *Codec) Writes() bool { return c.In.name == "" }

// Reading reports whether the Codec reads and there was no fault so far. Code that computes further state from the
// fields runs only if Reading returns true.
func (c *Codec) Reading() bool { return !c.Writes() && c.In.OK() }

// OK reports whether there was no fault so far. It is always true if the Codec writes.
func (c *Codec) OK() bool { return c.Writes() || c.In.OK() }

// Valid checks a configuration that was read. It stores a fault if right is false, or if the method Validate of the
// configuration returns an error. If the Codec writes, Valid does nothing.
func (c *Codec) Valid(right bool, config interface{ Validate() error }) {
	if c.Reading() {
		c.In.Check(right, "has a configuration out of range")
		c.In.Fail(config.Validate())
	}
}

// State is a type that can write and read a snapshot of its own.
type State interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Item writes or reads a part of the state inside of a field, for example in a list: the number of bytes, and then the
// fields of the part.
func (c *Codec) Item(p State) {
	if c.Writes() {
		c.Dst = append(c.Dst, 0) // for the number of bytes
		from := len(c.Dst)
		c.append(p)
		c.setLength(from)
		return
	}
	c.unmarshal(p, c.block(nil))
}

// block writes or reads the number of bytes and then the bytes. When it reads, the result shares memory with the
// input.
func (c *Codec) block(b []byte) []byte {
	n := c.size(len(b), 1)
	if c.Writes() {
		c.Dst = append(c.Dst, b...)
		return b
	}
	b = c.In.rest[:n:n]
	c.In.rest = c.In.rest[n:]
	return b
}

// unmarshal reads a part of the state from its fields. They have no version and no checksum, so unmarshal adds both
// before the part reads the fields.
func (c *Codec) unmarshal(p State, fields []byte) {
	if c.In.OK() {
		c.part = Seal(append(append(c.part[:0], Version), fields...), 0)
		if err := p.UnmarshalBinary(c.part); err != nil {
			c.In.Fail(err)
		}
	}
}

// Check stores a fault if the Codec reads and right is false.
func (c *Codec) Check(right bool, fault string) {
	if !c.Writes() {
		c.In.Check(right, fault)
	}
}

// Size writes or reads the number of items that follow, and returns it. bytes is the least number of bytes of an
// item. If the input is too short for this number of items, the number is a fault. So a false number cannot make
// the reader allocate all memory.
func (c *Codec) Size(n, bytes int) int {
	if n = c.size(n, bytes); n > most {
		c.Check(false, "holds more items than fit")
		return 0
	}
	return n
}

func (c *Codec) size(n, bytes int) int {
	items := uint64(n)
	if c.Uint(&items); !c.Writes() && items > uint64(len(c.In.rest)/max(bytes, 1)) {
		c.In.Fail(fmt.Errorf("counts %d items, and has %d bytes left", items, len(c.In.rest)))
		return 0
	}
	return int(items)
}

// All writes or reads fields one after the other. A field may be a truth value, an int that is not negative, a
// duration, a time or a string. A field of another type is a fault.
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

// List writes or reads a slice: the number of items, and then each item by the function item. An item has at least
// one byte. So a number of items that is larger than the number of bytes left is a fault, and is refused.
func List[T any](c *Codec, items *[]T, item func(*T)) {
	n := c.Size(len(*items), 1)
	if !c.Writes() {
		*items = make([]T, n)
	}
	Each(c, *items, item)
}

// Each writes or reads one more field of a list: it calls the function item for each item. The fields of a list are
// columns. The first one, by [List], has the number of items and thus makes the list. A fact of the items that a later
// release adds is a further field, so that the items need no numbers.
func Each[T any](c *Codec, items []T, item func(*T)) {
	for i := range items {
		if !c.OK() {
			return
		}
		item(&items[i])
	}
}

// most is the largest number of items in a list.
const most = 1 << 30
