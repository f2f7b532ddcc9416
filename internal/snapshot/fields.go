package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A field is its tag, the number of bytes of its content, and its content. The tag is a varint: twice the field's
// number, plus nestedTag if the content is fields again. Otherwise the content is values. The numbers of the fields of
// a level ascend.
const nestedTag = 1

// Field begins the field with the given number, and returns the Codec for the values of the field:
//
//	c.Field(3, "slots").Number(&b.slots, 0, most)
//
// A field has one or more values, or a list. The numbers of a level ascend in the order of the calls. Field is for a
// field that every release writes: if it is missing, this is a fault that contains the number and the name. A release
// that adds a field calls [Codec.Has] in place of Field. A field that no release needs any more keeps its number: no
// other field may ever get it.
func (c *Codec) Field(number int, name string) *Codec {
	if !c.Has(number, name, true) && c.OK() {
		c.In.at = step{uint64(number), name}
		c.In.Fail(errors.New("is missing"))
	}
	return c
}

// Has begins the field with the given number, if the field is there, and reports whether it is there. When the Codec
// writes, the field is there if given is true. If Has returns false, the caller sets the value that an absent field
// stands for. The release that wrote the snapshot may not have known the field:
//
//	if c.Has(7, "machine", m != nowhere) {
//		c.Number(&m, 0, most)
//	} else {
//		m = nowhere
//	}
//
// A reader skips each field that it does not ask for.
func (c *Codec) Has(number int, name string, given bool) bool {
	if !c.Writes() {
		if !c.In.numbered { // the first field of the snapshot
			c.In.numbered, c.In.after, c.In.rest = true, c.In.rest, nil
		}
		return c.In.seek(uint64(number), name)
	}
	if c.end(); given {
		c.tag = len(c.Dst)
		c.Dst = append(binary.AppendUvarint(c.Dst, uint64(number)<<1), 0) // end sets the number of bytes
		c.open = len(c.Dst)
	}
	return given
}

// Fields writes or reads the open field, whose content is fields again. The function fields calls Field for them,
// with numbers that begin anew. If there was a fault, Fields does not call the function.
func (c *Codec) Fields(fields func()) {
	if c.Writes() {
		c.Dst[c.tag] |= nestedTag
		open := c.open
		fields()
		c.end()
		c.open = open
		return
	}
	r := &c.In
	inner := c.content()
	if !r.OK() {
		return
	}
	after, last := r.after, r.last
	r.outer, r.after, r.last = append(r.outer, r.at), inner, 0
	fields()
	if r.Close() == nil {
		r.outer, r.after, r.last = r.outer[:len(r.outer)-1], after, last
	}
}

// Part writes or reads the open field as a part of the state that has a snapshot of its own. The fields of the part are
// the fields of this field. The version and the checksum of the whole snapshot include the part.
func (c *Codec) Part(p State) {
	if c.Writes() {
		c.Dst[c.tag] |= nestedTag
		c.append(p)
		return
	}
	c.unmarshal(p, c.content())
}

// Last writes or reads the last field of a snapshot, as [Codec.Part] does. When it reads, it changes the part only if
// there was no fault before. So the caller may pass a part that is in use.
func (c *Codec) Last(p State) {
	if c.Writes() {
		c.Part(p)
		return
	}
	content, at := c.content(), c.In.at
	if c.In.Close() == nil {
		c.In.at = at
		c.unmarshal(p, content)
	}
}

// content returns the content of the open field, which must have fields itself.
func (c *Codec) content() []byte {
	c.In.Check(c.In.nested, "holds values where fields are expected")
	content := c.In.rest
	c.In.nested, c.In.rest = false, nil
	return content
}

// append appends the fields of a part behind the byte that is reserved for their number of bytes. The fields are the
// snapshot of the part without its version and its checksum.
func (c *Codec) append(p State) {
	at := len(c.Dst) - 1                  // the byte that is reserved for the length; until then it is the version
	c.Dst, _ = p.AppendBinary(c.Dst[:at]) // never fails
	c.Dst = c.Dst[:len(c.Dst)-checksumSize]
}

// end ends the field that the Codec writes, if there is one: it sets the number of bytes of the content.
func (c *Codec) end() {
	if c.open > 0 {
		c.setLength(c.open)
		c.open = 0
	}
}

// setLength sets the number of bytes that follow c.Dst[:from]. The byte before them is reserved for the number. If the
// number needs more bytes, setLength moves the bytes that follow.
func (c *Codec) setLength(from int) {
	n := len(c.Dst) - from
	if c.Dst[from-1] = byte(n); n < 0x80 {
		return
	}
	var length [binary.MaxVarintLen64]byte
	more := binary.PutUvarint(length[:], uint64(n)) - 1
	c.Dst = append(c.Dst, length[:more]...)
	copy(c.Dst[from+more:], c.Dst[from:])
	copy(c.Dst[from-1:], length[:more+1])
}

// step is the number and the name of a field. The number is 0 if no field is open.
type step struct {
	number uint64
	name   string
}

// seek closes the open field, and skips the fields with smaller numbers. If the field with the given number follows,
// seek opens it and returns true.
func (r *Reader) seek(number uint64, name string) bool {
	if len(r.rest) > 0 {
		r.Fail(fmt.Errorf("has %d bytes too many", len(r.rest)))
	}
	r.Check(!r.nested, "holds fields where values are expected")
	r.at, r.nested = step{}, false
	for len(r.after) > 0 {
		tag, content, after := r.head()
		of := tag / 2
		if of > number || r.err != nil {
			return false
		}
		r.last, r.after = of, after
		if of == number {
			r.at, r.nested, r.rest = step{number, name}, tag&nestedTag > 0, content
			return true
		}
	}
	return false
}

// head returns the tag and the content of the next field, and the fields behind it.
func (r *Reader) head() (tag uint64, content, after []byte) {
	tag, after, whole := uvarint(r.after)
	size, after, sized := uvarint(after)
	if !whole || !sized || size > uint64(len(after)) || tag/2 <= r.last {
		r.Fail(errors.New("holds fields out of order, or a field that is cut short"))
		return 0, nil, nil
	}
	return tag, after[:size:size], after[size:]
}

// uvarint reads a varint from b, and returns the bytes behind it. A varint with more bytes than necessary is refused.
func uvarint(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}

// uvarint reads a varint of the open field.
func (r *Reader) uvarint() uint64 {
	n, rest, ok := uvarint(r.rest)
	r.rest = rest
	r.Check(ok, early)
	return n
}
