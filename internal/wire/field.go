package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Field is one key=value pair of a line. If the pair is written and read, the result is exactly the same value. A
// table of fields is used both to write and to read.
type Field struct {
	Key    string
	Value  any  // *int, *float64, *time.Duration, *bool or *string
	Choice bool // the field is an operator's choice: it may be off, and is never unknown
}

// Choices returns the fields of the struct to which p points, with their keys. For example, the field MaxRestarts
// has the key max-restarts.
func Choices(p any) []Field {
	v := reflect.ValueOf(p).Elem()
	list := make([]Field, v.NumField())
	for i := range list {
		list[i] = Field{key(v.Type().Field(i).Name), v.Field(i).Addr().Interface(), true}
	}
	return list
}

// Struct is the list of fields of a configuration. A field may be a number, a truth value, a string, an
// enumeration, a list, or a struct of such fields. Struct leaves out a field of another type, such as a function,
// and a list that is nil.
func Struct[T any](v *T, c *Codec) { c.choices(reflect.ValueOf(v).Elem()) }

// choices calls the codec for each field of a configuration. It finds the fields by reflection.
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
			list(c.When(*f != nil), key, f, func(d *time.Duration) form { return span{d, true} })
		default:
			if form := (Field{key, f, true}).form(); form != nil {
				put(c, key, one.IsZero(), form)
			} else if one.Kind() == reflect.Struct {
				put(c, key, one.IsZero(), nested{c, func(c *Codec) { c.choices(one) }})
			}
		}
	}
}

// Settings returns the list of fields of a configuration in the form that [JSON] needs.
func Settings[T any](v *T) func(*Codec) { return func(c *Codec) { Struct(v, c) } }

// key converts the name of a Go field to kebab-case, for example MaxSkew to max-skew.
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

// form returns the form in which the value of the field is written and read. It returns nil for a type that has no
// form.
func (f Field) form() form {
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

// exact returns the form of a number that is written with all its digits. If the number is a choice, -1 is written
// as off.
func exact[T Number](v *T, choice bool) form {
	if choice {
		return offOr(v)
	}
	return formOf(v, true)
}

// Append appends the separator, the key, an equals sign and the value to dst. Append does not allocate.
func (f Field) Append(dst []byte, separator byte) []byte {
	return f.AppendValue(append(append(append(dst, separator), f.Key...), '='))
}

// AppendValue appends only the value of the field to dst, without separator and key.
func (f Field) AppendValue(dst []byte) []byte {
	off, from := false, len(dst)
	switch v := f.Value.(type) { // a form that is converted to an interface would allocate
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

// Parse sets the value of the field from a text. If the text is not valid, Parse returns an error with the key, the
// text, and a description of the valid texts.
func (f Field) Parse(text string) error {
	if word, ok := f.Value.(Word); ok {
		return word.Set(text)
	}
	if form := f.form(); !form.parse(token{text: text, line: true}) {
		return &Fault{f.Key, text, form.want(true)}
	}
	return nil
}

// Unset reports whether the field has its zero value. Such a field is not written.
func (f Field) Unset() bool {
	if word, ok := f.Value.(Word); ok {
		return word.Get() == ""
	}
	return reflect.ValueOf(f.Value).Elem().IsZero()
}

// Word is a value that is written and read as one word, by functions of the caller. If Get returns an empty text,
// the field is not written.
type Word struct {
	Get func() string
	Set func(text string) error
}

// Fault is the error of a value that cannot be read. It has the key of the field, the text, and a description of
// the valid texts.
type Fault struct{ Key, Text, Want string }

// Error returns the fault as one line.
func (f *Fault) Error() string { return fmt.Sprintf("%s is %.40q, want %s", f.Key, f.Text, f.Want) }

// Find returns the index of the field with the given key, or -1 if there is none.
func Find(fields []Field, key string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Key == key })
}

// keys returns the keys of the fields as one text, for an error.
func keys(fields []Field) string {
	list := make([]string, len(fields))
	for i := range fields {
		list[i] = fields[i].Key
	}
	return strings.Join(list, ", ")
}

// AppendSet appends to dst the fields that are not zero, each with a comma before it.
func AppendSet(dst []byte, fields []Field) []byte {
	for _, f := range fields {
		if !f.Unset() {
			dst = f.Append(dst, ',')
		}
	}
	return dst
}

// ParsePairs sets fields from words of the form key=value. The words may have any order, and each field may occur
// at most one time. Bit i of seen is set if the field with index i was among the words. An error begins with the
// text of the argument named of, for example the name of the type that has the fields.
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

// ParseSet sets fields from a text of key=value pairs that are separated by commas. Spaces around a key or a value
// are ignored. Its rules are the rules of ParsePairs.
func ParseSet(of string, fields []Field, text string) error {
	words := strings.Split(text, ",")
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		words[i] = strings.TrimSpace(key) + "=" + strings.TrimSpace(value)
	}
	_, err := ParsePairs(of, fields, words)
	return err
}

// AppendSeconds appends a duration to dst as exact decimal seconds, for example 90s or 0.25s.
func AppendSeconds(dst []byte, d time.Duration) []byte { return append(appendSeconds(dst, d), 's') }
