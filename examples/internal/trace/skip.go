package trace

import (
	"bytes"
)

// skipValue returns the index after the value that starts at or after i, or -1.
func skipValue(d []byte, i int) int {
	i = skipSpace(d, i)
	if i >= len(d) {
		return -1
	}
	switch d[i] {
	case '"':
		return skipString(d, i)
	case '{', '[':
		var s scanner
		if n, how := s.feed(d[i:]); how == wholly {
			return i + n
		}
		return -1
	}
	start := i
	for i < len(d) && scalar[d[i]] != 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// skipString returns the index after the closing quote of the string that opens at i, or -1.
func skipString(d []byte, i int) int {
	for i++; i < len(d); i++ {
		switch special[d[i]] {
		case 0:
		case '"':
			return i + 1
		case '\\':
			i++
		default:
			return -1
		}
	}
	return -1
}

func skipSpace(d []byte, i int) int {
	for i < len(d) && d[i] <= ' ' {
		i++
	}
	return i
}

// firstKey returns the first key of the object with which d begins, as far as d goes.
func firstKey(d []byte) []byte {
	if len(d) == 0 || d[0] != '{' {
		return nil
	}
	start := skipSpace(d, 1)
	if start >= len(d) || d[start] != '"' {
		return nil
	}
	end := bytes.IndexByte(d[start+1:], '"')
	if end < 0 {
		return nil
	}
	return d[start+1 : start+1+end]
}

// special marks the bytes with a meaning inside a string: the quote, the backslash, and control characters (1). JSON
// forbids control characters in strings; a line break there shows that a record stops in the middle.
var special = func() (table [256]byte) {
	for b := range ' ' {
		table[b] = 1
	}
	table['"'], table['\\'] = '"', '\\'
	return table
}()

// scalar marks the bytes of numbers and of true, false, null and NaN.
var scalar = func() (table [256]byte) {
	for _, b := range []byte("+-.0123456789abcdefghijklmnopqrstuvwxyzEINT") {
		table[b] = 1
	}
	return table
}()
