package trace

// skipValue returns the index after the value that starts at or after i, or -1.
func skipValue(d []byte, i, depth int) int {
	i = skipSpace(d, i)
	if i >= len(d) {
		return -1
	}
	switch d[i] {
	case '"':
		return skipString(d, i)
	case '{', '[':
		if depth == maxDepth {
			return -1
		}
		return skipGroup(d, i+1, depth+1, d[i]+2) // in ASCII the closing bracket is the opening one plus 2
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

// skipGroup passes over the members of an object or the elements of an array, and its closing bracket.
func skipGroup(d []byte, i, depth int, end byte) int {
	i = skipSpace(d, i)
	if i < len(d) && d[i] == end {
		return i + 1
	}
	for {
		if end == '}' {
			i = skipSpace(d, i)
			if i >= len(d) || d[i] != '"' {
				return -1
			}
			if i = skipString(d, i); i < 0 {
				return -1
			}
			if i = skipSpace(d, i); i >= len(d) || d[i] != ':' {
				return -1
			}
			i++
		}
		if i = skipValue(d, i, depth); i < 0 {
			return -1
		}
		if i = skipSpace(d, i); i >= len(d) {
			return -1
		}
		switch d[i] {
		case ',':
			i++
		case end:
			return i + 1
		default:
			return -1
		}
	}
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

// special marks the bytes that mean something inside a string: its end, an escape, and control characters (1), which
// JSON forbids there: a raw line break is the trace of a record that stops in the middle.
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
