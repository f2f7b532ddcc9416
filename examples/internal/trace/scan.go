package trace

// scanner skips one JSON value that may arrive in pieces. It checks brackets, commas, colons and strings, but not the
// spelling of numbers and escapes. The zero value is ready. Its memory does not grow with the input.
type scanner struct {
	want    token
	depth   int
	objects [maxDepth/64 + 1]uint64 // a bit by depth: the group at that depth is an object
}

// maxDepth is the largest depth of nesting; event logs stay below 30.
const maxDepth = 500

// token is the part of JSON that may follow at the scanner's position.
type token uint8

const (
	aValue      token = iota
	aValueOrEnd       // in an array, behind its bracket
	aKey
	aKeyOrEnd // in an object, behind its brace
	aColon
	aComma // or the end of the group
	inKey
	inKeyEscape
	inText
	inTextEscape
	inScalar
)

// scanned is the result of feed.
type scanned uint8

const (
	partly scanned = iota // the whole piece belongs to the value, which goes on
	wholly                // the value ends before the byte at the returned index
	badly                 // the byte at the returned index is an error
)

// feed reads the next piece of the input.
func (s *scanner) feed(d []byte) (n int, how scanned) {
	for i := 0; i < len(d); i++ {
		b := d[i]
		switch s.want {
		case inKey, inText:
			for special[b] == 0 {
				if i++; i == len(d) {
					return i, partly
				}
				b = d[i]
			}
			switch {
			case b == '\\':
				s.want++
			case b != '"':
				return i, badly
			case s.want == inKey:
				s.want = aColon
			case s.depth == 0:
				return i + 1, wholly
			default:
				s.want = aComma
			}
			continue
		case inKeyEscape, inTextEscape:
			if b < ' ' { // a record that stops behind a backslash
				return i, badly
			}
			s.want--
			continue
		case inScalar:
			for scalar[b] != 0 {
				if i++; i == len(d) {
					return i, partly
				}
				b = d[i]
			}
			if s.depth == 0 {
				return i, wholly
			}
			s.want = aComma
		}
		if b <= ' ' {
			continue
		}
		if how := s.step(b); how != partly {
			return i + 1 - int(how>>1), how
		}
	}
	return len(d), partly
}

// step reads a byte outside strings and numbers.
func (s *scanner) step(b byte) scanned {
	switch s.want {
	case aValue, aValueOrEnd:
		return s.value(b)
	case aKey, aKeyOrEnd:
		if b == '"' {
			s.want = inKey
			return partly
		}
		if b == '}' && s.want == aKeyOrEnd {
			return s.leave()
		}
	case aColon:
		if b == ':' {
			s.want = aValue
			return partly
		}
	case aComma:
		object := s.inObject()
		switch {
		case b == ',' && object:
			s.want = aKey
			return partly
		case b == ',':
			s.want = aValue
			return partly
		case b == '}' && object, b == ']' && !object:
			return s.leave()
		}
	}
	return badly
}

func (s *scanner) value(b byte) scanned {
	switch {
	case b == '"':
		s.want = inText
	case b == '{', b == '[':
		if s.depth == maxDepth {
			return badly
		}
		s.enter(b == '{')
	case scalar[b] != 0:
		s.want = inScalar
	case b == ']' && s.want == aValueOrEnd:
		return s.leave()
	default:
		return badly
	}
	return partly
}

func (s *scanner) enter(object bool) {
	s.depth++
	bit := uint64(1) << (s.depth % 64)
	if object {
		s.objects[s.depth/64] |= bit
		s.want = aKeyOrEnd
	} else {
		s.objects[s.depth/64] &^= bit
		s.want = aValueOrEnd
	}
}

func (s *scanner) inObject() bool { return s.objects[s.depth/64]>>(s.depth%64)&1 != 0 }

func (s *scanner) leave() scanned {
	s.want = aComma
	if s.depth--; s.depth == 0 {
		return wholly
	}
	return partly
}
