package trace

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// cursor reads one JSON value in memory and decodes only the parts that the caller asks for. In the other parts it
// checks brackets, commas, colons and strings, but not the spelling of numbers and escapes. After an error, the
// cursor is at the end, bad is set, and every method returns a zero value. So the caller checks for an error only
// once, at the end.
type cursor struct {
	data  []byte
	pos   int
	first bool // the cursor is directly after the beginning of an object or array
	bad   bool
	plain bool // the data are one plain value instead of JSON: a text without quotes, or a number
}

func (c *cursor) fail() { c.bad, c.pos = true, len(c.data) }

// space moves to the next byte that is not a space, and returns it; 0 at the end.
func (c *cursor) space() byte {
	for c.pos < len(c.data) {
		if b := c.data[c.pos]; b > ' ' {
			return b
		}
		c.pos++
	}
	return 0
}

// done reports whether the whole input was one well-formed value.
func (c *cursor) done() bool { return c.space() == 0 && c.pos == len(c.data) && !c.bad }

// enter moves into the object or array at the cursor. It skips any other value and returns false.
func (c *cursor) enter(open byte) bool {
	if c.space() != open {
		c.skip()
		return false
	}
	c.pos++
	c.first = true
	return true
}

// key returns the next key of the object; false after the last. The caller must read or skip its value.
func (c *cursor) key() ([]byte, bool) {
	if !c.next('}') {
		return nil, false
	}
	if c.space() != '"' {
		c.fail()
		return nil, false
	}
	key := c.quoted()
	if c.space() != ':' {
		c.fail()
		return nil, false
	}
	c.pos++
	return key, true
}

// fields calls take for each member of the object at the cursor. It skips the values that take does not read, and any
// value that is not an object.
func (c *cursor) fields(take func(key []byte)) {
	if !c.enter('{') {
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		c.space() // a look at what comes is no step
		before := c.pos
		if take(key); c.pos == before {
			c.skip()
		}
	}
}

// elements calls take, which must read one value, for each element of the array at the cursor. A plain value is an
// array of one element, or a list with semicolons between its elements.
func (c *cursor) elements(take func()) {
	if c.plain = c.plain && c.space() != '['; c.plain {
		for element := range bytes.SplitSeq(c.data, []byte(";")) {
			c.data, c.pos = element, 0
			take()
		}
		return
	}
	if !c.enter('[') {
		return
	}
	for c.next(']') {
		take()
	}
}

func (c *cursor) next(end byte) bool {
	b := c.space()
	if b == end {
		c.pos++
		c.first = false
		return false
	}
	if !c.first {
		if b != ',' {
			c.fail()
			return false
		}
		c.pos++
	}
	c.first = false
	return !c.bad
}

// quoted returns the text between the quotes at the cursor, without decoding escapes.
func (c *cursor) quoted() []byte {
	start := c.pos + 1
	end := skipString(c.data, c.pos)
	if end < 0 {
		c.fail()
		return nil
	}
	c.pos = end
	return c.data[start : end-1]
}

// text returns the string at the cursor; nil if the value is not a string. It shares memory with the input if the
// string has no escapes.
func (c *cursor) text() []byte {
	if c.plain {
		c.pos = len(c.data)
		return c.data
	}
	if c.space() != '"' {
		c.skip()
		return nil
	}
	start := c.pos
	text := c.quoted()
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b == '\\' {
			i++
			if b = text[i]; b != '\\' && b != '"' && b != '/' { // the rare escapes
				var s string
				if json.Unmarshal(c.data[start:c.pos], &s) != nil {
					c.fail()
				}
				return []byte(s)
			}
		}
		plain = append(plain, b)
	}
	return plain
}

// name returns the string at the cursor, or the text of a number, since some logs have numbers as names.
func (c *cursor) name() []byte {
	if b := c.space(); c.plain || b != '-' && (b < '0' || b > '9') {
		return c.text()
	}
	start := c.pos
	c.skip()
	return c.data[start:c.pos]
}

// integer returns the number at the cursor, rounded toward zero. ok is false for any other value, and for a number
// outside int64.
func (c *cursor) integer() (n int64, ok bool) {
	if b := c.space(); b != '-' && (b < '0' || b > '9') {
		c.skip()
		return 0, false
	}
	start := c.pos
	for i := c.pos; i < len(c.data) && i < start+18; i++ { // the common case: digits that cannot overflow
		d := c.data[i] - '0'
		if d > 9 {
			if i > start && scalar[c.data[i]] == 0 {
				c.pos = i
				return n, true
			}
			break
		}
		n = n*10 + int64(d)
	}
	c.skip()
	literal := string(c.data[start:c.pos])
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(f) >= 1<<62 {
		return 0, false
	}
	return int64(f), true
}

// number returns the number at the cursor, which may stand in quotes. Any other value, also one that is not finite, is
// not ok.
func (c *cursor) number() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(bytes.TrimSpace(c.name())), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// answer returns the boolean at the cursor, or unknown.
func (c *cursor) answer() Answer {
	if c.plain {
		return answerOf(string(c.text()))
	}
	start := c.pos
	c.skip()
	return answerOf(string(bytes.TrimSpace(c.data[min(start, c.pos):c.pos])))
}

func answerOf(text string) Answer {
	switch text {
	case "true", "TRUE", "True", "1", "yes":
		return Yes
	case "false", "FALSE", "False", "0", "no":
		return No
	}
	return AnswerUnknown
}

// skip passes over one value.
func (c *cursor) skip() {
	if end := skipValue(c.data, c.pos); end >= 0 {
		c.pos = end
		return
	}
	c.fail()
}
