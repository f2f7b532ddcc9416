package wire

import (
	"encoding/json"
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Kind writes a single word in a line, without a key. It tells a reader which fields follow. JSON and logs do not have
// this word.
func (c *Codec) Kind(word string) {
	if c.mode == line {
		c.out = append(c.space(), word...)
	}
}

// Word writes or reads a value of an enumeration. It is always written, even if it is zero. A line has only its
// name, without the key.
func (c *Codec) Word(key string, v Text) {
	if c.mode == line && c.used != never {
		c.out, c.used = append(c.space(), v.String()...), unlessZero
		return
	}
	c.bare(key, word{c, v})
}

// Flag writes or reads a truth value. It is always written, even if it is false. A line has no key, but only the
// text of no or of yes.
func (c *Codec) Flag(key string, v *bool, no, yes string) { c.bare(key, flag{v, no, yes}) }

// Enum writes or reads a value of an enumeration, with its key.
func (c *Codec) Enum(key string, v Text) { put(c, key, false, word{c, v}) }

// Int writes or reads a whole number of type int.
func (c *Codec) Int(key string, v *int) { put(c, key, *v == 0, whole[int]{v}) }

// Int64 writes or reads a whole number of type int64.
func (c *Codec) Int64(key string, v *int64) { put(c, key, *v == 0, whole[int64]{v}) }

// Index writes or reads an index in a list. -1 means that there is no index, and is not written.
func (c *Codec) Index(key string, v *int) {
	if c.mode == reading {
		*v = -1
	}
	c.When(*v >= 0).Int(key, v)
	c.Check(*v >= -1, key, *v, "an index, 0 or more")
}

// Float writes or reads a number. NaN means that the number is not known. If the number may be infinite, use
// [Limit] instead.
func (c *Codec) Float(key string, v *float64) { put(c, key, *v == 0, real{v: v}) }

// Keyed writes or reads a number together with an enumeration that says which number it is. In a line, the name of
// the enumeration's value is the key of the number, for example seconds=0.25. In JSON and logs, they are two
// fields, and the argument named of is the key of the enumeration.
func (c *Codec) Keyed(of string, what Text, key string, v *float64) {
	if as := c.used; c.mode == line {
		key = what.String()
	} else {
		c.Enum(of, what)
		c.used = as
	}
	c.Float(key, v)
}

// Bool writes or reads a truth value as true or false.
func (c *Codec) Bool(key string, v *bool) { put(c, key, !*v, truth{v}) }

// Text writes or reads a string.
func (c *Codec) Text(key string, v *string) { put(c, key, *v == "", text{v}) }

// Duration writes or reads a duration. [num.MinDuration] means that the duration is not known.
func (c *Codec) Duration(key string, v *time.Duration) { put(c, key, *v == 0, span{v: v}) }

// Time writes or reads an instant in UTC. The zero time.Time is not written.
func (c *Codec) Time(key string, v *time.Time) { put(c, key, v.IsZero(), instant{v}) }

// Number is a type constraint: the types of number that [Limit] and [Choice] accept.
type Number interface {
	int | int64 | float64 | time.Duration
}

// Limit writes or reads a number that limits something. The largest number of the type, or +Inf, means that there
// is no limit: it is written as off in a line and as null in JSON.
func Limit[T Number](c *Codec, key string, v *T) {
	put(c, key, *v == 0, special[T]{formOf(v, false), v, largest[T](), "null"})
}

// Choice writes or reads a number that an operator has chosen. -1 means that a rule is turned off, and is written
// as off in a line. Lines print other numbers with six digits, but an operator's number with all its digits.
func Choice[T Number](c *Codec, key string, v *T) {
	put(c, key, *v == 0, offOr(v))
}

// offOr returns the form of a choice: a number for which -1 is written as off in a line.
func offOr[T Number](v *T) special[T] {
	off := -1
	return special[T]{formOf(v, true), v, T(off), "-1"}
}

// largest returns the largest number of a type. It stands for a limit that does not exist.
func largest[T Number]() (most T) {
	switch v := any(&most).(type) {
	case *int:
		*v = int(^uint(0) >> 1)
	case *int64:
		*v = 1<<63 - 1
	case *float64:
		*v = math.Inf(1)
	case *time.Duration:
		*v = num.MaxDuration
	}
	return most
}

// formOf returns the form of a number. If exact is true, a line has all digits of the number.
func formOf[T Number](v *T, exact bool) form {
	switch v := any(v).(type) {
	case *int:
		return whole[int]{v}
	case *int64:
		return whole[int64]{v}
	case *float64:
		return real{v, exact}
	case *time.Duration:
		return span{v, exact}
	}
	return nil
}

// list writes or reads a list. The function named of returns the form of an item.
func list[T any](c *Codec, key string, v *[]T, of func(*T) form) {
	put(c, key, len(*v) == 0, items[T]{v, of})
}

// Numbers writes or reads a list of whole numbers.
func Numbers[T int | int64](c *Codec, key string, v *[]T) {
	list(c, key, v, func(n *T) form { return whole[T]{n} })
}

// Floats writes or reads a list of floats.
func (c *Codec) Floats(key string, v *[]float64) {
	list(c, key, v, func(x *float64) form { return real{x, true} })
}

// Texts writes or reads a list of strings.
func (c *Codec) Texts(key string, v *[]string) {
	list(c, key, v, func(s *string) form { return text{s} })
}

// List writes or reads a list of values that have fields. The function fields is the list of fields of one value.
func List[T any](c *Codec, key string, v *[]T, fields func(*T, *Codec)) {
	list(c, key, v, func(one *T) form { return nested{c, func(c *Codec) { fields(one, c) }} })
}

// Wired is a type that has its own list of fields, usually in another package.
type Wired interface {
	String() string
	LogValue() slog.Value
	MarshalJSON() ([]byte, error)
}

// Value writes or reads a value of a Wired type as one field with the given key.
func (c *Codec) Value(key string, v Wired) { put(c, key, false, wired{c, v}) }

// Inline writes or reads a value of a Wired type without a key of its own: its fields are among the other fields.
// Inline must be the last call in a list of fields, because it reads all fields that are left.
func (c *Codec) Inline(v Wired) {
	switch c.mode {
	case line:
		c.out = append(c.space(), v.String()...)
	case object:
		if data := (wired{c, v}).json(nil); len(data) > 2 {
			c.out = append(c.comma(), data[1:len(data)-1]...)
		}
	case group:
		c.attrs = append(c.attrs, v.LogValue().Group()...)
	case reading:
		rest, _ := json.Marshal(c.in.value) // the fields are valid JSON
		c.in.value = nil
		wired{c, v}.parse(token{text: string(rest)})
	}
}
