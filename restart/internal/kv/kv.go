// Package kv reads and writes key=value settings: the fields of a policy, of a budget, of a journal's lines. Durations
// and numbers take the shortest form that reads back as the same value; ? stands for what is unknown.
package kv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// unknown is estimate.Unknown, which internal packages cannot import.
const unknown = num.MinDuration

// A Field is one key=value: the key, and a pointer to where the value lives. One table of fields serves for reading and
// for writing, so that the two cannot drift apart.
type Field struct {
	Key   string
	Value any // *int, *float64, *time.Duration or *bool
}

// Unset reports whether the field has its zero value, which is left out.
func (f Field) Unset() bool {
	switch v := f.Value.(type) {
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

// Append writes the value.
func (f Field) Append(dst []byte) []byte {
	switch v := f.Value.(type) {
	case *int:
		return strconv.AppendInt(dst, int64(*v), 10)
	case *float64:
		return AppendFloat(dst, *v)
	case *time.Duration:
		return AppendEstimate(dst, *v)
	case *bool:
		if *v {
			return append(dst, "yes"...)
		}
		return append(dst, "no"...)
	}
	return dst
}

// Parse reads the value. The error names the key, the text and what was wanted.
func (f Field) Parse(text string) (err error) {
	want := ""
	switch v := f.Value.(type) {
	case *int:
		*v, err = strconv.Atoi(text)
		want = "a whole number"
	case *float64:
		*v, err = ParseFloat(text)
		want = "a number, or ? for unknown"
	case *time.Duration:
		*v, err = ParseEstimate(text)
		want = "a duration such as 1.5s or 2m"
	case *bool:
		*v = text == "yes"
		if text != "yes" && text != "no" {
			err = strconv.ErrSyntax
		}
		want = "yes or no"
	}
	if err != nil {
		return f.bad(text, want)
	}
	return nil
}

// AppendChoice is Append for a choice of a policy or a budget, which may also be off.
func (f Field) AppendChoice(dst []byte) []byte {
	off := false
	switch v := f.Value.(type) {
	case *int:
		off = *v == check.Off
	case *float64:
		off = *v == check.Off
	case *time.Duration:
		off = *v == check.Off
	}
	if off {
		return append(dst, "off"...)
	}
	return f.Append(dst)
}

// ParseChoice is Parse for a choice, which may also be off, and is never unknown.
func (f Field) ParseChoice(text string) (err error) {
	want := ""
	switch v := f.Value.(type) {
	case *int:
		*v, err = parseOr(text, strconv.Atoi)
		want = "a whole number, or off"
	case *float64:
		*v, err = parseOr(text, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
		if math.IsNaN(*v) {
			err = strconv.ErrSyntax
		}
		want = "a number, or off"
	case *time.Duration:
		*v, err = parseOr(text, time.ParseDuration)
		want = "a duration such as 1.5s or 2m, or off"
	default:
		return f.Parse(text)
	}
	if err != nil {
		return f.bad(text, want)
	}
	return nil
}

func parseOr[T int | float64 | time.Duration](text string, parse func(string) (T, error)) (T, error) {
	if text == "off" {
		return check.Off, nil
	}
	return parse(text)
}

// Fault is the error of a value that can't be read.
type Fault struct{ Key, Text, Want string }

// Error returns the fault as one line.
func (f *Fault) Error() string { return fmt.Sprintf("%s is %s, want %s", f.Key, Quote(f.Text), f.Want) }

func (f Field) bad(text, want string) error { return &Fault{f.Key, text, want} }

// Find returns the place of the field with the key, or -1.
func Find(fields []Field, key string) int {
	for i := range fields {
		if fields[i].Key == key {
			return i
		}
	}
	return -1
}

// Keys lists what may be given.
func Keys(fields []Field) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Key)
	}
	return b.String()
}

// AppendDuration writes whole and decimal seconds, exactly: 90s, 0.25s.
func AppendDuration(dst []byte, d time.Duration) []byte {
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

// AppendEstimate writes a duration that may be unknown.
func AppendEstimate(dst []byte, d time.Duration) []byte {
	if d == unknown {
		return append(dst, '?')
	}
	return AppendDuration(dst, d)
}

// ParseEstimate reads a duration that may be unknown.
func ParseEstimate(text string) (time.Duration, error) {
	if text == "?" {
		return unknown, nil
	}
	return time.ParseDuration(text)
}

// AppendFloat writes the shortest text that reads back as the same number, without an exponent where that is readable.
func AppendFloat(dst []byte, x float64) []byte {
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return append(dst, '?')
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// ParseFloat reads a number; ? is NaN.
func ParseFloat(text string) (float64, error) {
	if text == "?" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// Quote shows a piece of a line in an error, cut to a readable length.
func Quote(text string) string {
	const longest = 40
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strconv.Quote(text)
}

// AppendKey writes the key and the sign behind it.
func AppendKey(dst []byte, key string) []byte { return append(append(dst, key...), '=') }

// AppendSet writes the fields that are not zero, each behind a comma.
func AppendSet(dst []byte, fields []Field) []byte {
	for _, f := range fields {
		if !f.Unset() {
			dst = f.AppendChoice(AppendKey(append(dst, ','), f.Key))
		}
	}
	return dst
}

// ParseSet reads key=value pairs with commas between them; spaces around a key or a value do not count. The errors
// begin with what the settings are of.
func ParseSet(what string, fields []Field, text string) error {
	seen := make([]bool, len(fields))
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		i := Find(fields, key)
		switch {
		case i < 0 && len(fields) == 0:
			return fmt.Errorf("%s has no settings, got %s", what, Quote(pair))
		case i < 0:
			return fmt.Errorf("%s has no setting %s, want one of %s", what, Quote(key), Keys(fields))
		case seen[i]:
			return fmt.Errorf("%s: %s is given twice", what, key)
		}
		seen[i] = true
		if err := fields[i].ParseChoice(value); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}
