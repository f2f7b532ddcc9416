package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Reader reads what the Append functions wrote. After the first fault every call returns zero, and [Reader.Close] the
// fault: a decoder reads all fields and asks once. What is not in the one form in which Append writes it is a fault,
// too.
type Reader struct {
	name string
	rest []byte
	err  error
}

// NewReader begins to read data, whose first byte must be the version, and which [Seal] ended. The name is the state's,
// for errors: "clone: Estimator".
func NewReader(name string, version byte, data []byte) *Reader {
	r := &Reader{name: name}
	switch {
	case len(data) == 0:
		r.Fail(errors.New("want a snapshot, got no bytes"))
	case data[0] != version:
		r.Fail(fmt.Errorf("version is %d, want %d", data[0], version))
	case !sealed(data):
		r.Fail(errors.New("checksum does not match: it has changed, or is cut short"))
	default:
		r.rest = data[1 : len(data)-checksumSize]
	}
	return r
}

func sealed(data []byte) bool {
	end := len(data) - checksumSize
	return end > 0 && binary.LittleEndian.Uint32(data[end:]) == checksum(data[:end])
}

// Fail records a fault that the decoder found itself, unless there was one before.
func (r *Reader) Fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: snapshot: %w", r.name, err)
		r.rest = nil
	}
}

// Check is Fail with the text, unless ok.
func (r *Reader) Check(ok bool, fault string) {
	if !ok {
		r.Fail(errors.New(fault))
	}
}

// OK reports whether there was no fault so far. A loop over what was read asks it.
func (r *Reader) OK() bool { return r.err == nil }

// Close returns the first fault; bytes that are left over are one.
func (r *Reader) Close() error {
	if len(r.rest) > 0 {
		r.Fail(fmt.Errorf("has %d bytes too many", len(r.rest)))
	}
	return r.err
}

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.rest) }

// Uint reads a number that is not negative.
func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if !r.took(size) {
		return 0
	}
	return n
}

// Int reads a number of either sign.
func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.rest)
	if !r.took(size) {
		return 0
	}
	return n
}

// took moves on by a varint of the given size. Its last byte is only 0 if it is the only one.
func (r *Reader) took(size int) bool {
	if size <= 0 || size > 1 && r.rest[size-1] == 0 {
		r.Check(false, "ends early or holds a number out of range")
		return false
	}
	r.rest = r.rest[size:]
	return true
}

// Number reads a whole number from least to most.
func (r *Reader) Number(least, most int) int {
	n := r.Int()
	if r.err == nil && (n < int64(least) || n > int64(most)) {
		r.Fail(fmt.Errorf("holds %d where %d to %d is expected", n, least, most))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// Count reads how many items follow, each of which takes at least so many bytes: never more than the rest can hold, so
// that a hostile number cannot ask for all memory.
func (r *Reader) Count(bytes int) int {
	n := r.Uint()
	if n > uint64(len(r.rest)/max(bytes, 1)) {
		r.Fail(fmt.Errorf("counts %d items, and has %d bytes left", n, len(r.rest)))
		return 0
	}
	return int(n)
}

// Float reads a float that is no NaN.
func (r *Reader) Float() float64 {
	if len(r.rest) < 8 {
		r.Check(false, "ends early or holds a number out of range")
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(r.rest))
	r.rest = r.rest[8:]
	r.Check(!math.IsNaN(x), "holds NaN")
	if r.err != nil {
		return 0
	}
	return x
}

// Share reads a float from 0 to 1.
func (r *Reader) Share() float64 {
	x := r.Float()
	if !(x >= 0 && x <= 1) {
		r.Fail(fmt.Errorf("holds %v where 0 to 1 is expected", x))
		return 0
	}
	return x
}

// Amount reads a float that is finite and not negative.
func (r *Reader) Amount() float64 {
	x := r.Float()
	if !(x >= 0) || !num.Finite(x) {
		r.Fail(fmt.Errorf("holds %v where a finite amount is expected", x))
		return 0
	}
	return x
}

// Duration reads a duration that is not negative.
func (r *Reader) Duration() time.Duration {
	d := r.Int()
	r.Check(d >= 0, "holds a negative duration")
	return time.Duration(max(d, 0))
}

// Bool reads a truth value.
func (r *Reader) Bool() bool {
	b := r.Uint()
	r.Check(b <= 1, "holds a truth value that is neither 0 nor 1")
	return b == 1
}

// Time reads an instant, in UTC.
func (r *Reader) Time() time.Time {
	seconds, nanos := r.Int(), r.Uint()
	// Years 1 to 9999 and a bit: what lies beyond may overflow inside time.Time.
	if nanos >= 1e9 || seconds < -62135596800 || seconds > 1<<38 {
		r.Check(false, "holds a time out of range")
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanos)).UTC()
}

// Block reads bytes that are a snapshot of their own. They are not copied.
func (r *Reader) Block() []byte {
	n := r.Count(1)
	block := r.rest[:n:n]
	r.rest = r.rest[n:]
	return block
}

// Sum reads a running sum.
func (r *Reader) Sum() num.Sum {
	s := num.Sum{High: r.Float(), Low: r.Float()}
	r.Check(num.Finite(s.High) && num.Finite(s.Low), "holds a sum that is not finite")
	return s
}

// Clock reads a clock.
func (r *Reader) Clock() clock.Clock {
	if !r.Bool() {
		return clock.Clock{}
	}
	c := clock.Clock{Begun: true, Last: r.Time(), Since: r.Duration(), Steps: r.Number(0, math.MaxInt)}
	if r.err != nil {
		return clock.Clock{}
	}
	return c
}
