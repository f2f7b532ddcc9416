package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// Text is an enumeration, or another type whose values have a name of one word.
type Text interface {
	fmt.Stringer
	encoding.TextMarshaler
}

// word is the form of a Text.
type word struct {
	c *Codec
	v Text
}

func (f word) line(dst []byte) []byte { return append(dst, f.v.String()...) }
func (f word) log() slog.Value        { return slog.StringValue(f.v.String()) }
func (f word) want(bool) string       { return "a word" }

func (f word) json(dst []byte) []byte {
	text, err := f.v.MarshalText()
	f.c.fail(err)
	return strconv.AppendQuote(dst, string(text))
}

func (f word) parse(t token) bool {
	v, ok := f.v.(encoding.TextUnmarshaler)
	if ok = ok && t.quoted; ok {
		f.c.in.fail(v.UnmarshalText([]byte(t.text)))
	}
	return ok
}

// flag is the form of a truth value for which a line has one of two given words.
type flag struct {
	v       *bool
	no, yes string
}

func (f flag) line(dst []byte) []byte {
	if *f.v {
		return append(dst, f.yes...)
	}
	return append(dst, f.no...)
}

func (f flag) json(dst []byte) []byte { return truth{f.v}.json(dst) }
func (f flag) log() slog.Value        { return slog.BoolValue(*f.v) }

func (f flag) want(line bool) string {
	if line {
		return f.yes + " or " + f.no
	}
	return truth{f.v}.want(false)
}

func (f flag) parse(t token) bool {
	if !t.line {
		return truth{f.v}.parse(t)
	}
	*f.v = t.text == f.yes
	return *f.v || t.text == f.no
}

// truth is the form of a truth value that is written as true or false.
type truth struct{ v *bool }

func (f truth) line(dst []byte) []byte { return strconv.AppendBool(dst, *f.v) }
func (f truth) json(dst []byte) []byte { return strconv.AppendBool(dst, *f.v) }
func (f truth) log() slog.Value        { return slog.BoolValue(*f.v) }
func (f truth) want(bool) string       { return "true or false" }

func (f truth) parse(t token) bool {
	*f.v = t.text == "true"
	return !t.quoted && (*f.v || t.text == "false")
}

// instant is the form of an instant: the time in UTC, to the nanosecond.
type instant struct{ v *time.Time }

func (f instant) line(dst []byte) []byte { return f.v.UTC().AppendFormat(dst, time.RFC3339Nano) }
func (f instant) json(dst []byte) []byte { return append(f.line(append(dst, '"')), '"') }
func (f instant) log() slog.Value        { return slog.TimeValue(f.v.UTC()) }
func (f instant) want(bool) string       { return "a time such as 2026-01-02T03:04:05Z" }

func (f instant) parse(t token) bool {
	at, err := time.Parse(time.RFC3339Nano, t.text)
	*f.v = at.UTC()
	return err == nil && t.quoted
}

// text is the form of a string.
type text struct{ v *string }

func (f text) line(dst []byte) []byte { return appendAtom(dst, *f.v) }
func (f text) log() slog.Value        { return slog.StringValue(*f.v) }
func (f text) want(bool) string       { return "a text" }

func (f text) json(dst []byte) []byte {
	quoted, _ := json.Marshal(*f.v) // Marshal never fails for a string
	return append(dst, quoted...)
}

func (f text) parse(t token) bool {
	*f.v = t.text
	return t.line || t.quoted
}
