package wire

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/check"
)

// Line returns the fields of a value as one line.
func Line(fields func(*Codec)) string {
	c := Lines(make([]byte, 0, 120))
	fields(c)
	return string(c.out)
}

// Lines returns a codec that appends the fields of a value to dst, as one line. Afterwards [Codec.Appended] returns
// the result. Lines allocates only the codec.
func Lines(dst []byte) *Codec { return &Codec{mode: line, out: dst, from: len(dst)} }

// Appended returns the slice that was passed to [Lines], with the fields that were appended to it.
func (c *Codec) Appended() []byte { return c.out }

// Log returns the fields of a value as a group, for log/slog.
func Log(fields func(*Codec)) slog.Value {
	c := Codec{mode: group, attrs: make([]slog.Attr, 0, 10)}
	fields(&c)
	return slog.GroupValue(c.attrs...)
}

// JSON returns the fields of a value as a JSON object. If a field cannot be written, for example an enumeration
// value without a name, JSON returns an error.
func JSON(fields func(*Codec)) ([]byte, error) {
	c := Codec{mode: object, out: append(make([]byte, 0, 200), '{')}
	fields(&c)
	if c.err != nil {
		return nil, c.err
	}
	return append(c.out, '}'), nil
}

// Read sets v from an object that [JSON] has written. If a field is unknown or out of range, Read returns an error
// that names the field, and leaves v unchanged. The text null also leaves v unchanged.
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
