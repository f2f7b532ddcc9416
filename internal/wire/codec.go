package wire

import (
	"log/slog"
)

// mode is the operation of a codec: a line, a JSON object, a log group, or reading an object.
type mode uint8

const (
	line mode = iota
	object
	group
	reading
)

// Codec receives the fields of a value one by one, and prints, logs, marshals or reads each field.
type Codec struct {
	mode  mode
	out   []byte // a line or a JSON object
	from  int    // index in out where the line begins
	attrs []slog.Attr
	in    *input
	err   error // error of a value that cannot be written
	used  usage // usage of the next field
}

// fail keeps the first error.
func (c *Codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// usage says whether a field is written.
type usage uint8

const (
	unlessZero usage = iota
	always
	never
)

// When decides whether the next field is written. A used field is written even if it is zero. An unused field is
// left out even if it is not zero.
func (c *Codec) When(used bool) *Codec {
	if c.used = never; used {
		c.used = always
	}
	return c
}

// Brief reports whether the value is printed or logged, so that a long list may be summed up.
func (c *Codec) Brief() bool { return c.mode == line || c.mode == group }

// InLine reports whether the value is a line. A line may leave out fields that only machines need.
func (c *Codec) InLine() bool { return c.mode == line }

// form is a field of one kind, as text.
type form interface {
	line(dst []byte) []byte
	json(dst []byte) []byte
	log() slog.Value
}

// readable is a form that can be read. The forms of an operator's choices are readable.
type readable interface {
	form
	parse(t token) bool
	want(line bool) string // describes in words what parse accepts
}

// put is field without an allocation for lines, which are written most often: an interface would allocate.
func put[F form](c *Codec, key string, zero bool, f F) {
	if c.mode != line {
		c.field(key, zero, f)
		return
	}
	if c.used == always || c.used == unlessZero && !zero {
		c.out = f.line(append(append(c.space(), key...), '='))
	}
	c.used = unlessZero
}

// field writes or reads one field. field is the only function that handles all modes except lines.
func (c *Codec) field(key string, zero bool, f form) {
	if c.mode == reading {
		c.in.read(key, f)
	} else if c.used == always || c.used == unlessZero && !zero {
		switch c.mode {
		case object:
			c.out = f.json(append(append(append(c.comma(), '"'), key...), '"', ':'))
		case group:
			c.attrs = append(c.attrs, slog.Attr{Key: key, Value: f.log()})
		}
	}
	c.used = unlessZero
}

// bare writes or reads a field that has no key in a line.
func (c *Codec) bare(key string, f form) {
	if c.mode == line && c.used != never {
		c.out, c.used = f.line(c.space()), unlessZero
		return
	}
	if c.used == unlessZero {
		c.used = always
	}
	put(c, key, false, f)
}

// space appends the separator of a line, except before its first field.
func (c *Codec) space() []byte {
	if len(c.out) > c.from {
		return append(c.out, ' ')
	}
	return c.out
}

// comma appends the separator of an object, except before its first field.
func (c *Codec) comma() []byte {
	if len(c.out) > 1 {
		return append(c.out, ',')
	}
	return c.out
}
