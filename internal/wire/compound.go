package wire

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
)

// items is the form of a list. The function named of returns the form of an item.
type items[T any] struct {
	v  *[]T
	of func(*T) form
}

func (f items[T]) line(dst []byte) []byte {
	for i := range len(*f.v) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.of(&(*f.v)[i]).line(dst)
	}
	return dst
}

func (f items[T]) json(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range len(*f.v) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.of(&(*f.v)[i]).json(dst)
	}
	return append(dst, ']')
}

// log returns the list as JSON. A JSON handler of log/slog writes the JSON unchanged, and a text handler prints it.
func (f items[T]) log() slog.Value { return slog.AnyValue(json.RawMessage(f.json(nil))) }

func (f items[T]) want(bool) string { return "a list" }

func (f items[T]) parse(t token) bool {
	var parts []json.RawMessage
	ok := !t.quoted && json.Unmarshal([]byte(t.text), &parts) == nil
	*f.v = make([]T, len(parts))
	for i := range parts {
		ok = ok && f.of(&(*f.v)[i]).parse(tokenOf(parts[i]))
	}
	return ok
}

// nested is the form of a value that has fields of its own.
type nested struct {
	c      *Codec
	fields func(*Codec)
}

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
	in := input{name: f.c.in.name}
	ok := !t.quoted && in.object([]byte(t.text))
	if ok {
		f.c.in.fail(in.run(f.fields))
	}
	return ok
}

// wired is the form of a value of a Wired type, usually from another package.
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
	r, ok := f.v.(json.Unmarshaler)
	if ok = ok && !t.quoted; ok {
		f.c.in.fail(r.UnmarshalJSON([]byte(t.text)))
	}
	return ok
}

// appendAtom appends a text, in quotes if it is not one word.
func appendAtom(dst []byte, s string) []byte {
	if s == "" || slices.ContainsFunc([]byte(s), mark) || strconv.Quote(s) != `"`+s+`"` {
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, s...)
}

// mark reports whether a byte separates or encloses values in a line.
func mark(b byte) bool { return b == ' ' || b == '=' || b == ',' || b == '(' || b == ')' || b == '"' }
