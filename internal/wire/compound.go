package wire

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
)

// sequence is a list whose items are forms.
type sequence interface {
	len() int
	make(n int)
	at(i int) form
}

// items writes and reads a sequence.
type items struct{ sequence }

func (f items) line(dst []byte) []byte {
	for i := range f.len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.at(i).line(dst)
	}
	return dst
}

func (f items) json(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range f.len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.at(i).json(dst)
	}
	return append(dst, ']')
}

// log hands over the JSON, which a handler of JSON takes as it is and one of text prints.
func (f items) log() slog.Value { return slog.AnyValue(json.RawMessage(f.json(nil))) }

func (f items) want(bool) string { return "a list" }

func (f items) parse(t token) bool {
	parts, ok := t.list()
	f.make(len(parts))
	for i := range parts {
		ok = ok && f.at(i).parse(parts[i])
	}
	return ok
}

type numbers[T int | int64] struct{ v *[]T }

func (f numbers[T]) len() int      { return len(*f.v) }
func (f numbers[T]) make(n int)    { *f.v = make([]T, n) }
func (f numbers[T]) at(i int) form { return whole[T]{&(*f.v)[i]} }

type floats struct{ v *[]float64 }

func (f floats) len() int      { return len(*f.v) }
func (f floats) make(n int)    { *f.v = make([]float64, n) }
func (f floats) at(i int) form { return real{&(*f.v)[i], true} }

type texts struct{ v *[]string }

func (f texts) len() int      { return len(*f.v) }
func (f texts) make(n int)    { *f.v = make([]string, n) }
func (f texts) at(i int) form { return text{&(*f.v)[i]} }

type list[T any] struct {
	c      *Codec
	v      *[]T
	fields func(*T, *Codec)
}

func (f list[T]) len() int   { return len(*f.v) }
func (f list[T]) make(n int) { *f.v = make([]T, n) }

func (f list[T]) at(i int) form {
	return nested{f.c, func(c *Codec) { f.fields(&(*f.v)[i], c) }}
}

// nested is a value with fields of its own.
type nested struct {
	c      *Codec
	fields func(*Codec)
}

// empty reports whether no field would be written.
func (f nested) empty() bool { return len(f.line(nil)) == 2 }

func (f nested) line(dst []byte) []byte {
	sub := Codec{mode: line}
	f.fields(&sub)
	return append(append(append(dst, '('), sub.out...), ')')
}

func (f nested) json(dst []byte) []byte {
	sub := Codec{mode: object, out: []byte{'{'}}
	f.fields(&sub)
	f.c.fail(sub.err)
	return append(append(dst, sub.out...), '}')
}

func (f nested) log() slog.Value  { return Log(f.fields) }
func (f nested) want(bool) string { return "an object" }

func (f nested) parse(t token) bool {
	in, ok := t.object(f.c.in.name)
	if ok {
		f.c.in.fail(in.run(f.fields))
	}
	return ok
}

// wired is a value of another package.
type wired struct {
	c *Codec
	v Wired
}

func (f wired) line(dst []byte) []byte {
	return append(append(append(dst, '('), f.v.String()...), ')')
}

func (f wired) json(dst []byte) []byte {
	data, err := f.v.MarshalJSON()
	f.c.fail(err)
	return append(dst, data...)
}

func (f wired) log() slog.Value  { return f.v.LogValue() }
func (f wired) want(bool) string { return "an object" }

func (f wired) parse(t token) bool {
	if !t.line {
		f.c.in.fail(f.v.UnmarshalJSON([]byte(t.text)))
		return !t.quoted
	}
	inner, ok := t.inner()
	if ok {
		f.c.in.fail(f.v.UnmarshalText([]byte(inner)))
	}
	return ok
}

// appendAtom writes a text, in quotes if it would not read as one word.
func appendAtom(dst []byte, s string) []byte {
	if s == "" || slices.ContainsFunc([]byte(s), mark) || strconv.Quote(s) != `"`+s+`"` {
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, s...)
}

// mark reports whether a byte has a meaning in lines.
func mark(b byte) bool { return b == ' ' || b == '=' || b == ',' || b == '(' || b == ')' || b == '"' }
