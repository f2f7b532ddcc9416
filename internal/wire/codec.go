package wire

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/check"
)

// mode is what a codec does with the fields.
type mode uint8

const (
	line mode = iota
	object
	group
	reading
)

// Codec is handed the fields of a value, one by one, and prints, logs, marshals or reads them.
type Codec struct {
	mode  mode
	out   []byte // a line or a JSON object
	from  int    // where the line begins in it
	attrs []slog.Attr
	in    *input
	err   error // of a value that can't be written
	used  usage // of the next field
}

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

// When has the next field written if, and only if, it was used: even if it is zero, and not at all otherwise.
func (c *Codec) When(used bool) *Codec {
	if c.used = never; used {
		c.used = always
	}
	return c
}

// Brief reports whether the value is printed or logged, so that a list too long to read may be summed up.
func (c *Codec) Brief() bool { return c.mode == line || c.mode == group }

// InLine reports whether the value is a line, written or read, which may leave out what only a machine wants.
func (c *Codec) InLine() bool { return c.mode == line || c.mode == reading && c.in.line }

// Check refuses what was read under a key unless it is right, as for a list that is too long.
func (c *Codec) Check(right bool, key string, value any, want string) {
	if c.mode == reading && !right {
		c.in.fail(check.Bad(c.in.name, key, value, want))
	}
}

// Reading reports whether the value is read, so that what depends on its fields may be worked out behind them.
func (c *Codec) Reading() bool { return c.mode == reading }

// form is a field of one kind, as text.
type form interface {
	line(dst []byte) []byte
	json(dst []byte) []byte
	log() slog.Value
	parse(t token) bool
	want(line bool) string // what parse takes, in words
}

// put is field, which takes a line, the one that is written most, without an interface: that would allocate.
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

// field writes or reads one field. It is the only place that knows all modes but lines.
func (c *Codec) field(key string, zero bool, f form) {
	if c.mode == reading {
		if t, ok := c.in.take(key); ok && !f.parse(t) {
			c.in.bad(key, t, f.want(t.line))
		}
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

// bare writes a field that has no key in a line, or reads it.
func (c *Codec) bare(key string, f form) {
	switch {
	case c.mode == line && c.used != never:
		c.out = f.line(c.space())
		c.used = unlessZero
	case c.mode == reading && c.in.line:
		if t, ok := c.in.word(); ok && !f.parse(t) {
			c.in.bad(key, t, f.want(t.line))
		}
		c.used = unlessZero
	default:
		if c.used == unlessZero {
			c.used = always
		}
		put(c, key, false, f)
	}
}

func (c *Codec) space() []byte {
	if len(c.out) > c.from {
		return append(c.out, ' ')
	}
	return c.out
}

func (c *Codec) comma() []byte {
	if len(c.out) > 1 {
		return append(c.out, ',')
	}
	return c.out
}
