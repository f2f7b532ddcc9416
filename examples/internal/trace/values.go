package trace

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// moment reads a time: milliseconds, or text as in RFC 3339. Negative and absurd times, and values of other kinds, become
// unknown and are counted as faults; null, -1 and Go's zero time mean unknown.
func (c *cursor) moment(faults *Faults) Opt {
	if c.plain || c.space() == '"' {
		return momentOf(c.text(), faults)
	}
	null := c.space() == 'n'
	n, ok := c.integer()
	if !ok && !null {
		faults[BadTime]++
	}
	return momentFrom(n, ok, faults)
}

// layouts are further formats of times: with a space instead of T, as databases print them, with a zone without a
// colon, and without a zone, which is read as UTC.
var layouts = []struct {
	layout string
	zone   bool
}{
	{"2006-01-02 15:04:05.999999999Z07:00", true},
	{"2006-01-02T15:04:05.999999999Z0700", true},
	{"2006-01-02 15:04:05.999999999 Z07:00", true},
	{"2006-01-02 15:04:05.999999999 -0700 MST", true},
	{"2006-01-02T15:04:05.999999999GMT", true},
	{"2006-01-02T15:04:05.999999999", false},
	{"2006-01-02 15:04:05.999999999", false},
}

// momentOf reads a time from a text; an empty text, and null in a table, is unknown.
func momentOf(text []byte, faults *Faults) Opt {
	if t, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
		return momentFrom(t.UnixMilli(), true, faults)
	}
	if len(text) >= len("2006-01-02 15:04:05") && text[4] == '-' {
		for _, l := range layouts {
			if t, err := time.Parse(l.layout, string(text)); err == nil {
				if !l.zone {
					faults[NoZone]++
				}
				return momentFrom(t.UnixMilli(), true, faults)
			}
		}
	}
	c := cursor{data: text}
	n, ok := c.integer()
	if ok = ok && c.done(); !ok && len(text) > 0 && !bytes.EqualFold(text, []byte("null")) {
		faults[unreadable(text)]++
	}
	return momentFrom(n, ok, faults)
}

// unreadable returns the fault of a text that is no time.
func unreadable(text []byte) Fault {
	_, err := strconv.ParseFloat(string(bytes.Replace(bytes.TrimSpace(text), []byte(","), []byte("."), 1)), 64)
	if err == nil && bytes.Contains(text, []byte(",")) {
		return DecimalComma
	}
	return BadTime
}

func momentFrom(n int64, ok bool, faults *Faults) Opt {
	if !ok || n == -1 || n == (time.Time{}).UnixMilli() {
		return Opt{}
	}
	if n < 0 || n > maxTime {
		faults[BadTime]++
		return Opt{}
	}
	return Known(n)
}

// clock reads a time of a real clock; 0 means unknown, too.
func (c *cursor) clock(faults *Faults) Opt {
	if t := c.moment(faults); t.Or(0) > 0 {
		return t
	}
	return Opt{}
}

// bytes reads a number of bytes. Negative and absurd numbers become unknown.
func (c *cursor) bytes() Opt {
	if n, ok := c.integer(); ok && n <= maxBytes {
		return Known(n)
	}
	return Opt{}
}

// index reads the number of a task, an attempt or a stage; -1 if there is none, or if it is too large.
func (c *cursor) index() int32 {
	if n, ok := c.integer(); ok && n >= 0 && n <= math.MaxInt32 {
		return int32(n)
	}
	return -1
}
