package digesttest

import (
	"fmt"
	"strconv"
	"time"
)

// Text is the text of a case: one JSON object a line.
type Text struct{ b []byte }

// Object is a JSON object: keys and values in turn. [Text.Line] lists the types of the values.
type Object []any

// Line writes an object as a line. A value is a text, a truth value, an integer, a float, a duration, an Object, a list
// of one of these, or nil. A float has all its digits. A duration is written in nanoseconds.
func (x *Text) Line(pairs ...any) {
	x.b = append(appendObject(x.b, pairs), '\n')
}

func appendObject(b []byte, pairs []any) []byte {
	b = append(b, '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, pairs[i].(string))
		b = append(b, ':')
		b = appendValue(b, pairs[i+1])
	}
	return append(b, '}')
}

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return strconv.AppendQuote(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case time.Duration:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		if v-v != 0 { // JSON has no infinite number and no NaN
			return strconv.AppendQuote(b, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case Object:
		return appendObject(b, v)
	case []int:
		return appendList(b, v)
	case []string:
		return appendList(b, v)
	case []float64:
		return appendList(b, v)
	case []Object:
		return appendList(b, v)
	}
	panic(fmt.Sprintf("digesttest: a value has the type %T", value))
}

func appendList[T any](b []byte, list []T) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, list[i])
	}
	return append(b, ']')
}
