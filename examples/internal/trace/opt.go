package trace

import "strconv"

// Opt is a count or a time that a log may not have. The zero value is unknown, so that unknown never becomes 0.
type Opt struct{ next int64 }

// The largest readable values. Within them differences of times fit a time.Duration and sums of bytes a float64.
const (
	maxTime  = 1 << 43 // milliseconds; the year 2248
	maxBytes = 1 << 52
)

// Known returns an Opt with the value n. A negative n, and math.MaxInt64, is unknown.
func Known(n int64) Opt { return Opt{max(n+1, 0)} }

// Get returns the value; false if it is unknown.
func (o Opt) Get() (n int64, ok bool) { return max(o.next-1, 0), o.next > 0 }

// Or returns the value, or n if it is unknown.
func (o Opt) Or(n int64) int64 {
	if o.next > 0 {
		return o.next - 1
	}
	return n
}

// Known reports whether the value is known.
func (o Opt) Known() bool { return o.next > 0 }

func (o Opt) String() string {
	if n, ok := o.Get(); ok {
		return strconv.FormatInt(n, 10)
	}
	return "unknown"
}

// MarshalJSON writes the number, or null if it is unknown.
func (o Opt) MarshalJSON() ([]byte, error) {
	if n, ok := o.Get(); ok {
		return strconv.AppendInt(nil, n, 10), nil
	}
	return []byte("null"), nil
}

// plus returns the sum of the known values; unknown if both are unknown.
func (o Opt) plus(p Opt) Opt {
	if !o.Known() || !p.Known() {
		return Opt{o.next + p.next}
	}
	return Opt{o.next + p.next - 1}
}
