package wire

import (
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Kind writes a bare word in a line. The word tells a reader which fields follow. JSON and logs do not have it.
func (c *Codec) Kind(word string) {
	if c.mode == line {
		c.out = append(c.space(), word...)
	}
}

// Word is an enumeration that is always written, in lines without its key.
func (c *Codec) Word(key string, v Text) {
	if c.mode == line && c.used != never {
		c.out, c.used = append(c.space(), v.String()...), unlessZero
		return
	}
	c.bare(key, word{c, v})
}

// Flag is a truth value that is always written. In lines it is a bare word: no or yes.
func (c *Codec) Flag(key string, v *bool, no, yes string) { c.bare(key, flag{v, no, yes}) }

// Enum is an enumeration with its key.
func (c *Codec) Enum(key string, v Text) { put(c, key, false, word{c, v}) }

// Int is a whole number.
func (c *Codec) Int(key string, v *int) { put(c, key, *v == 0, whole[int]{v}) }

// Int64 is a whole number.
func (c *Codec) Int64(key string, v *int64) { put(c, key, *v == 0, whole[int64]{v}) }

// Index is an index in a list; -1 is no index, and is left out.
func (c *Codec) Index(key string, v *int) { c.When(*v >= 0).Int(key, v) }

// Float is a number; NaN is unknown. Use [Limit] for a number that may be infinite.
func (c *Codec) Float(key string, v *float64) { put(c, key, *v == 0, real{v: v}) }

// Keyed is a number and an enumeration that says which number it is. In lines the enumeration's name is the key of
// the number; in JSON and logs each has its own key.
func (c *Codec) Keyed(of string, what Text, key string, v *float64) {
	if as := c.used; c.mode == line {
		key = what.String()
	} else {
		c.Enum(of, what)
		c.used = as
	}
	c.Float(key, v)
}

// Bool is a truth value.
func (c *Codec) Bool(key string, v *bool) { put(c, key, !*v, truth{v}) }

// Text is any text.
func (c *Codec) Text(key string, v *string) { put(c, key, *v == "", text{v}) }

// Duration is a duration; [num.MinDuration] is unknown.
func (c *Codec) Duration(key string, v *time.Duration) { put(c, key, *v == 0, span{v: v}) }

// Time is an instant in UTC; the zero time is left out.
func (c *Codec) Time(key string, v *time.Time) { put(c, key, v.IsZero(), instant{v}) }

// Number is the constraint of a limit or a choice.
type Number interface {
	int | int64 | float64 | time.Duration
}

// Limit is a number with a special largest value: the largest number, or +Inf, means that there is no limit.
func Limit[T Number](c *Codec, key string, v *T) {
	put(c, key, *v == 0, limitOf(v))
}

func limitOf[T Number](v *T) special[T] { return special[T]{formOf(v, false), v, largest[T](), "null"} }

// Part is a number and its limit. In lines they are one field, used=3/10; in JSON and logs each has its own key.
func (c *Codec) Part(key string, used *int, of string, limit *int) {
	if c.InLine() {
		put(c, key, *used == 0 && *limit == 0, part{whole[int]{used}, limitOf(limit)})
		return
	}
	as := c.used
	c.Int(key, used)
	c.used = as
	Limit(c, of, limit)
}

// Choice is an operator's number; -1 turns a rule off. A choice is exact in lines as well.
func Choice[T Number](c *Codec, key string, v *T) {
	put(c, key, *v == 0, offOr(v))
}

// offOr returns the form of a choice.
func offOr[T Number](v *T) special[T] {
	off := -1
	return special[T]{formOf(v, true), v, T(off), "-1"}
}

// largest returns the largest number of a type, which stands for no limit.
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

// formOf returns the form of a number of any type.
func formOf[T Number](v *T, exact bool) readable {
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

// list puts a list; of returns the form of an item.
func list[T any](c *Codec, key string, v *[]T, of func(*T) readable) {
	put(c, key, len(*v) == 0, items[T]{v, of})
}

// Numbers is a list of whole numbers.
func Numbers[T int | int64](c *Codec, key string, v *[]T) {
	list(c, key, v, func(n *T) readable { return whole[T]{n} })
}

// Floats is a list of numbers.
func (c *Codec) Floats(key string, v *[]float64) {
	list(c, key, v, func(x *float64) readable { return real{x, true} })
}

// Texts is a list of texts.
func (c *Codec) Texts(key string, v *[]string) {
	list(c, key, v, func(s *string) readable { return text{s} })
}

// List is a list of values, each with the given list of fields.
func List[T any](c *Codec, key string, v *[]T, fields func(*T, *Codec)) {
	list(c, key, v, func(one *T) readable { return nested{c, func(c *Codec) { fields(one, c) }} })
}

// Wired is a type of another package with its own list of fields.
type Wired interface {
	String() string
	LogValue() slog.Value
	MarshalJSON() ([]byte, error)
}

// Value is a Wired value under a key.
func (c *Codec) Value(key string, v Wired) { put(c, key, false, wired{c, v}) }

// Inline is a Wired value with its fields among the fields of the whole.
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
	}
}
