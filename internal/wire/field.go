package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Field is an exact key=value pair of a line: it reads back as an equal value. One table of fields serves for
// reading and for writing.
type Field struct {
	Key    string
	Value  any  // *int, *float64, *time.Duration, *bool or *string
	Choice bool // the field may be off, and is never unknown
}

// Choices lists the fields of the struct that p points to, with their keys: MaxRestarts has the key max-restarts.
func Choices(p any) []Field {
	v := reflect.ValueOf(p).Elem()
	list := make([]Field, v.NumField())
	for i := range list {
		list[i] = Field{key(v.Type().Field(i).Name), v.Field(i).Addr().Interface(), true}
	}
	return list
}

// Struct is the list of fields of a configuration. A field may be a number, a truth value, a text, an enumeration,
// a list, or a struct of such fields. Struct leaves out a field of another type, such as a function, and a nil
// list.
func Struct[T any](v *T, c *Codec) { c.choices(reflect.ValueOf(v).Elem()) }

// choices runs the fields of a configuration, found by reflection.
func (c *Codec) choices(v reflect.Value) {
	for i := range v.NumField() {
		key, one := key(v.Type().Field(i).Name), v.Field(i)
		switch f := one.Addr().Interface().(type) {
		case Text:
			c.When(!one.IsZero()).Enum(key, f)
		case *int64:
			Choice(c, key, f)
		case *[]int:
			Numbers(c.When(*f != nil), key, f)
		case *[]time.Duration:
			list(c.When(*f != nil), key, f, func(d *time.Duration) readable { return span{d, true} })
		default:
			if form := (Field{key, f, true}).form(); form != nil {
				put(c, key, one.IsZero(), form)
			} else if one.Kind() == reflect.Struct {
				put(c, key, one.IsZero(), nested{c, func(c *Codec) { c.choices(one) }})
			}
		}
	}
}

// Settings returns the list of fields of a configuration, for [JSON].
func Settings[T any](v *T) func(*Codec) { return func(c *Codec) { Struct(v, c) } }

// key converts the name of a Go field to kebab-case.
func key(name string) string {
	var b strings.Builder
	for i, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			if c += 'a' - 'A'; i > 0 {
				b.WriteByte('-')
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// form returns the form in which the value is written and read; nil for a type without a form.
func (f Field) form() readable {
	switch v := f.Value.(type) {
	case *int:
		return exact(v, f.Choice)
	case *float64:
		return exact(v, f.Choice)
	case *time.Duration:
		return exact(v, f.Choice)
	case *bool:
		return flag{v, "no", "yes"}
	case *string:
		return text{v}
	}
	return nil
}

// exact returns the exact form of a number, which may be off if it is a choice.
func exact[T Number](v *T, choice bool) readable {
	if choice {
		return offOr(v)
	}
	return formOf(v, true)
}

// Append appends the field after a separator. Append does not allocate.
func (f Field) Append(dst []byte, separator byte) []byte {
	return f.AppendValue(append(append(append(dst, separator), f.Key...), '='))
}

// AppendValue appends the value without separator and key.
func (f Field) AppendValue(dst []byte) []byte {
	off, from := false, len(dst)
	switch v := f.Value.(type) { // a form in an interface would allocate
	case *int:
		off, dst = *v == check.Off, whole[int]{v}.line(dst)
	case *float64:
		off, dst = *v == check.Off, real{v, true}.line(dst)
	case *time.Duration:
		off, dst = *v == check.Off, span{v, true}.line(dst)
	case *bool:
		dst = flag{v, "no", "yes"}.line(dst)
	case *string:
		dst = text{v}.line(dst)
	case Word:
		dst = append(dst, v.Get()...)
	}
	if off && f.Choice {
		return append(dst[:from], "off"...)
	}
	return dst
}

// Parse reads the value. Its error names the key, the text, and the texts that are valid.
func (f Field) Parse(text string) error {
	if word, ok := f.Value.(Word); ok {
		return word.Set(text)
	}
	if form := f.form(); !form.parse(token{text: text, line: true}) {
		return &Fault{f.Key, text, form.want(true)}
	}
	return nil
}

// Unset reports whether the field has its zero value, and so is left out.
func (f Field) Unset() bool {
	if word, ok := f.Value.(Word); ok {
		return word.Get() == ""
	}
	return reflect.ValueOf(f.Value).Elem().IsZero()
}

// Word is the value of a field with its own text of one word. A field with an empty text is left out.
type Word struct {
	Get func() string
	Set func(text string) error
}

// Fault is the error of a value that cannot be read.
type Fault struct{ Key, Text, Want string }

// Error returns the fault as one line.
func (f *Fault) Error() string { return fmt.Sprintf("%s is %.40q, want %s", f.Key, f.Text, f.Want) }

// Find returns the index of the field with the key, or -1.
func Find(fields []Field, key string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Key == key })
}

// keys lists the keys of the fields, for an error.
func keys(fields []Field) string {
	list := make([]string, len(fields))
	for i := range fields {
		list[i] = fields[i].Key
	}
	return strings.Join(list, ", ")
}

// AppendSet appends the fields that are not zero, each after a comma.
func AppendSet(dst []byte, fields []Field) []byte {
	for _, f := range fields {
		if !f.Unset() {
			dst = f.Append(dst, ',')
		}
	}
	return dst
}

// ParsePairs reads key=value words in any order, each field at most once. ParsePairs returns the fields present as bits.
// Its errors begin with the text of, which names the owner of the fields.
func ParsePairs(of any, fields []Field, words []string) (seen uint64, err error) {
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		i := Find(fields, key)
		switch {
		case (!ok || i < 0) && len(fields) == 0:
			return seen, fmt.Errorf("%v has no fields, got %.40q", of, word)
		case !ok || i < 0:
			return seen, fmt.Errorf("%v has no field %.40q, want one of %s, each with = and a value", of, key, keys(fields))
		case seen>>i&1 == 1:
			return seen, fmt.Errorf("%v: %s is given twice", of, key)
		}
		seen |= 1 << i
		if err := fields[i].Parse(value); err != nil {
			return seen, fmt.Errorf("%v: %w", of, err)
		}
	}
	return seen, nil
}

// ParseSet is ParsePairs for a text with commas between the words; spaces around a key or a value do not count.
func ParseSet(of string, fields []Field, text string) error {
	words := strings.Split(text, ",")
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		words[i] = strings.TrimSpace(key) + "=" + strings.TrimSpace(value)
	}
	_, err := ParsePairs(of, fields, words)
	return err
}

// AppendSeconds appends a duration as exact decimal seconds: 90s, 0.25s.
func AppendSeconds(dst []byte, d time.Duration) []byte { return append(appendSeconds(dst, d), 's') }
