package wire

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// whole is the form of a whole number.
type whole[T int | int64] struct{ v *T }

func (f whole[T]) line(dst []byte) []byte { return strconv.AppendInt(dst, int64(*f.v), 10) }
func (f whole[T]) json(dst []byte) []byte { return strconv.AppendInt(dst, int64(*f.v), 10) }
func (f whole[T]) log() slog.Value        { return slog.Int64Value(int64(*f.v)) }
func (f whole[T]) want(bool) string       { return "a whole number" }

func (f whole[T]) parse(t token) bool {
	n, err := strconv.ParseInt(t.text, 10, 64)
	*f.v = T(n)
	return err == nil && !t.quoted && int64(*f.v) == n
}

// real is the form of a float. A line has all its digits if exact is true, and otherwise six.
type real struct {
	v     *float64
	exact bool
}

func (f real) line(dst []byte) []byte {
	switch {
	case math.IsNaN(*f.v):
		return append(dst, '?')
	case f.exact:
		return appendNumber(dst, *f.v)
	}
	return strconv.AppendFloat(dst, *f.v, 'g', 6, 64)
}

func (f real) json(dst []byte) []byte {
	switch {
	case math.IsNaN(*f.v):
		return append(dst, "null"...)
	case math.IsInf(*f.v, 0): // JSON has no infinite numbers, so a string is written
		return append(appendNumber(append(dst, '"'), *f.v), '"')
	}
	return appendNumber(dst, *f.v)
}

func (f real) log() slog.Value {
	switch {
	case math.IsNaN(*f.v):
		return slog.AnyValue(nil)
	case math.IsInf(*f.v, 0):
		return slog.StringValue(string(appendNumber(nil, *f.v)))
	}
	return slog.Float64Value(*f.v)
}

func (f real) want(line bool) string { return "a number" + orUnknown(line) }

// orUnknown returns the end of an error text: in a line, a number that is not known may be written as ?.
func orUnknown(line bool) string {
	if line {
		return ", or ? for unknown"
	}
	return ""
}

func (f real) parse(t token) bool {
	if t.null() {
		*f.v = math.NaN()
		return true
	}
	x, err := strconv.ParseFloat(t.text, 64)
	*f.v = x
	return err == nil && !math.IsNaN(x) && (!t.quoted || math.IsInf(x, 0))
}

// appendNumber appends the shortest text from which the same number can be read again.
func appendNumber(dst []byte, x float64) []byte {
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// span is the form of a duration, in seconds. MinDuration means that the duration is not known.
type span struct {
	v     *time.Duration
	exact bool
}

func (f span) line(dst []byte) []byte {
	switch {
	case *f.v == num.MinDuration:
		return append(dst, '?')
	case f.exact:
		return AppendSeconds(dst, *f.v)
	case *f.v == num.MaxDuration:
		return append(dst, "inf"...)
	}
	return append(strconv.AppendFloat(dst, f.v.Seconds(), 'g', 6, 64), 's')
}

func (f span) json(dst []byte) []byte {
	if *f.v == num.MinDuration {
		return append(dst, "null"...)
	}
	return appendSeconds(dst, *f.v)
}

func (f span) log() slog.Value {
	if *f.v == num.MinDuration {
		return slog.AnyValue(nil)
	}
	// This division gives the nearest float, and Seconds does not always do so.
	return slog.Float64Value(float64(*f.v) / 1e9)
}

func (f span) want(line bool) string {
	if line {
		return "a duration such as 1.5s or 2m" + orUnknown(line)
	}
	return "a number of seconds"
}

func (f span) parse(t token) (ok bool) {
	switch {
	case t.null():
		*f.v = num.MinDuration
		return true
	case t.line && t.text == "inf":
		*f.v = num.MaxDuration
		return true
	case t.line:
		var err error
		if *f.v, err = time.ParseDuration(t.text); err == nil {
			return true
		}
		if t.text, ok = strings.CutSuffix(t.text, "s"); !ok {
			return false
		}
	}
	*f.v, ok = parseSeconds(t.text)
	return ok && !t.quoted
}

// appendSeconds appends a duration in seconds as an exact decimal number.
func appendSeconds(dst []byte, d time.Duration) []byte {
	ns := uint64(d)
	if d < 0 {
		dst = append(dst, '-')
		ns = -ns // right even for the most negative duration
	}
	dst = strconv.AppendUint(dst, ns/1e9, 10)
	rest := ns % 1e9
	if rest == 0 {
		return dst
	}
	from := len(dst)
	// Ten digits, of which the first, a 1, is then replaced by the decimal point.
	dst = strconv.AppendUint(dst, 1e9+rest, 10)
	dst[from] = '.'
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// parseSeconds reads a number of seconds. If the number has at most nine digits after the point, the result is
// exact. Otherwise the result is rounded to the nearest nanosecond.
func parseSeconds(text string) (time.Duration, bool) {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) <= 9 && len(whole) <= 11 {
		s, bad := strconv.ParseInt(whole, 10, 64)
		ns, worse := strconv.ParseUint((part + "000000000")[:9], 10, 32)
		if bad == nil && worse == nil && max(s, -s) <= math.MaxInt64/int64(time.Second) {
			if whole[0] == '-' {
				return num.Sub(time.Duration(s)*time.Second, time.Duration(ns)), true
			}
			return num.Add(time.Duration(s)*time.Second, time.Duration(ns)), true
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	return num.Duration(x)
}

// special is the form of a number for which one value has a special meaning. A line has the word off for this
// value, and JSON has the given text.
type special[T Number] struct {
	form
	v    *T
	is   T      // the value with the special meaning
	text string // the text for this value in JSON: null or -1
}

func (f special[T]) line(dst []byte) []byte {
	if *f.v == f.is {
		return append(dst, "off"...)
	}
	return f.form.line(dst)
}

func (f special[T]) json(dst []byte) []byte {
	if *f.v == f.is {
		return append(dst, f.text...)
	}
	from := len(dst)
	if dst = f.form.json(dst); f.text == "-1" && string(dst[from:]) == "-1" {
		dst = append(dst, ".0"...) // without this, a duration of -1 s would be read as off
	}
	return dst
}

func (f special[T]) log() slog.Value {
	switch {
	case *f.v != f.is:
		return f.form.log()
	case f.text == "null":
		return slog.AnyValue(nil)
	}
	return slog.Float64Value(-1)
}

func (f special[T]) want(line bool) string {
	if line {
		return strings.TrimSuffix(f.form.want(line), orUnknown(line)) + ", or off"
	}
	return f.form.want(line) + ", or " + f.text
}

func (f special[T]) parse(t token) bool {
	if t.line && t.text == "off" || !t.line && !t.quoted && t.text == f.text {
		*f.v = f.is
		return true
	}
	return !(t.null() && f.text == "-1") && f.form.parse(t)
}
