package wire

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/check"
)

// mode is the task of a codec: to write a line, a JSON object or a group of log fields, or to read.
type mode uint8

const (
	line mode = iota
	object
	group
	reading
)

// Codec is called for each field of a value, one after the other. It writes each field to a line, to JSON or to a
// log, or reads each field.
type Codec struct {
	mode  mode
	out   []byte // the line or the JSON object so far
	from  int    // the index in out at which the line begins
	attrs []slog.Attr
	in    *input
	err   error // the error of the first value that cannot be written
	used  usage // whether the next field is written
}

// fail stores an error, unless there was an error before.
func (c *Codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// usage says whether a field is written: always, never, or only if it is not zero.
type usage uint8

const (
	unlessZero usage = iota
	always
	never
)

// When says whether the next field is written. If used is true, the field is written even if it is zero. If used is
// false, the field is not written even if it is not zero. Without a call of When, a field is written if it is not
// zero.
func (c *Codec) When(used bool) *Codec {
	if c.used = never; used {
		c.used = always
	}
	return c
}

// Brief reports whether the codec writes a line or a log. Then a list of fields may write a summary in place of a
// long list.
func (c *Codec) Brief() bool { return c.mode == line || c.mode == group }

// InLine reports whether the value is a line. A line may leave out fields that only machines need.
func (c *Codec) InLine() bool { return c.mode == line }

// Reading reports whether the codec reads. A list may then compute further fields from the fields that were read.
func (c *Codec) Reading() bool { return c.mode == reading }

// Check stores an error if the codec reads and right is false. Use it for a field that was read under the given key
// and has a fault, for example a list that is too long.
func (c *Codec) Check(right bool, key string, value any, want string) {
	if c.mode == reading && !right {
		c.in.fail(check.Bad(c.in.name, key, value, want))
	}
}

// form is one field of a value, with methods that write it as text and read it.
type form interface {
	line(dst []byte) []byte
	json(dst []byte) []byte
	log() slog.Value
	parse(t token) bool
	want(line bool) string // says in words which texts parse accepts
}

// put writes or reads one field, as the method field does. For lines, which are written most often, put avoids the
// allocation that a conversion to an interface needs.
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

// field writes or reads one field, in all modes except that it does not write lines.
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

// bare writes or reads a field that has no key in a line. In JSON and logs the field has a key.
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

// space returns the line so far. If the line has a field already, space appends a space, which separates the next
// field.
func (c *Codec) space() []byte {
	if len(c.out) > c.from {
		return append(c.out, ' ')
	}
	return c.out
}

// comma returns the object so far. If the object has a field already, comma appends a comma, which separates the
// next field.
func (c *Codec) comma() []byte {
	if len(c.out) > 1 {
		return append(c.out, ',')
	}
	return c.out
}
