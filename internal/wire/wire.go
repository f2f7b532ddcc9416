package wire

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/check"
)

// Line returns the fields as one line.
func Line(fields func(*Codec)) string {
	c := Lines(make([]byte, 0, 120))
	fields(c)
	return string(c.out)
}

// Lines returns a codec that appends the fields as a line to dst, and [Codec.Appended] returns the result. Only the
// codec is allocated.
func Lines(dst []byte) *Codec { return &Codec{mode: line, out: dst, from: len(dst)} }

// Appended returns dst with the appended fields.
func (c *Codec) Appended() []byte { return c.out }

// Log returns the fields as a group, for log/slog.
func Log(fields func(*Codec)) slog.Value {
	c := Codec{mode: group, attrs: make([]slog.Attr, 0, 10)}
	fields(&c)
	return slog.GroupValue(c.attrs...)
}

// JSON returns the fields as an object. JSON returns an error if a value has no text, such as an enumeration value
// without a name.
func JSON(fields func(*Codec)) ([]byte, error) {
	c := Codec{mode: object, out: append(make([]byte, 0, 200), '{')}
	fields(&c)
	if c.err != nil {
		return nil, c.err
	}
	return append(c.out, '}'), nil
}

// Read sets v from the form of [JSON]. The error names the field that is unknown or out of range, and then v is
// unchanged. null also leaves v unchanged.
func Read[T any](data []byte, v *T, fields func(*T, *Codec)) error {
	if string(data) == "null" {
		return nil
	}
	var fresh T
	in := input{name: check.PlaceOf[T]()}
	if !in.object(data) {
		return check.Bad(in.name, "", string(data), "its fields as an object")
	}
	if err := in.run(func(c *Codec) { fields(&fresh, c) }); err != nil {
		return err
	}
	*v = fresh
	return nil
}
