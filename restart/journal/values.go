package journal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// A field is one key=value of a line: the key, and a pointer to where the value lives. One table of fields serves for
// reading and for writing, so that the two cannot drift apart.
type field struct {
	key   string
	value any // *int, *float64, *time.Duration or *bool
}

// unset reports whether the field has its zero value, which is left out.
func (f field) unset() bool {
	switch v := f.value.(type) {
	case *int:
		return *v == 0
	case *float64:
		return *v == 0
	case *time.Duration:
		return *v == 0
	case *bool:
		return !*v
	}
	return false
}

func (f field) append(dst []byte) []byte {
	switch v := f.value.(type) {
	case *int:
		return strconv.AppendInt(dst, int64(*v), 10)
	case *float64:
		return appendFloat(dst, *v)
	case *time.Duration:
		return appendEstimate(dst, *v)
	case *bool:
		if *v {
			return append(dst, "yes"...)
		}
		return append(dst, "no"...)
	}
	return dst
}

func (f field) parse(text string) (err error) {
	want := ""
	switch v := f.value.(type) {
	case *int:
		*v, err = strconv.Atoi(text)
		want = "a whole number"
	case *float64:
		*v, err = parseFloat(text)
		want = "a number, or ? for unknown"
	case *time.Duration:
		*v, err = parseEstimate(text)
		want = "a duration such as 1.5s or 2m"
	case *bool:
		*v = text == "yes"
		if text != "yes" && text != "no" {
			err = strconv.ErrSyntax
		}
		want = "yes or no"
	}
	if err != nil {
		return fmt.Errorf("%s is %s, want %s", f.key, quote(text), want)
	}
	return nil
}

// A choice of a policy or a budget may also be off.

func (f field) appendChoice(dst []byte) []byte {
	off := false
	switch v := f.value.(type) {
	case *int:
		off = *v == restart.Off
	case *float64:
		off = *v == restart.Off
	case *time.Duration:
		off = *v == restart.Off
	}
	if off {
		return append(dst, "off"...)
	}
	return f.append(dst)
}

func (f field) parseChoice(text string) error {
	if text == "off" {
		switch v := f.value.(type) {
		case *int:
			*v = restart.Off
			return nil
		case *float64:
			*v = restart.Off
			return nil
		case *time.Duration:
			*v = restart.Off
			return nil
		}
	}
	return f.parse(text)
}

// find returns the place of the field with the key, or -1.
func find(fields []field, key string) int {
	for i := range fields {
		if fields[i].key == key {
			return i
		}
	}
	return -1
}

// keys lists what may be given.
func keys(fields []field) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.key)
	}
	return b.String()
}

// appendDuration writes whole and decimal seconds, exactly: 90s, 0.25s.
func appendDuration(dst []byte, d time.Duration) []byte {
	ns := uint64(d)
	if d < 0 {
		dst = append(dst, '-')
		ns = -ns // right for the least duration as well
	}
	dst = strconv.AppendUint(dst, ns/1e9, 10)
	if rest := ns % 1e9; rest != 0 {
		var digits [9]byte
		last := 0
		for i := 8; i >= 0; i-- {
			digits[i] = '0' + byte(rest%10)
			rest /= 10
			if digits[i] != '0' && last == 0 {
				last = i + 1
			}
		}
		dst = append(dst, '.')
		dst = append(dst, digits[:last]...)
	}
	return append(dst, 's')
}

// appendEstimate writes a duration that may be unknown.
func appendEstimate(dst []byte, d time.Duration) []byte {
	if d == estimate.Unknown {
		return append(dst, '?')
	}
	return appendDuration(dst, d)
}

func parseEstimate(text string) (time.Duration, error) {
	if text == "?" {
		return estimate.Unknown, nil
	}
	return time.ParseDuration(text)
}

// appendFloat writes the shortest text that reads back as the same number, without an exponent where that is readable.
func appendFloat(dst []byte, x float64) []byte {
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return append(dst, '?')
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

func parseFloat(text string) (float64, error) {
	if text == "?" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// quote shows a piece of a line in an error, cut to a readable length.
func quote(text string) string {
	const longest = 40
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strconv.Quote(text)
}
