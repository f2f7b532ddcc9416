package trace

import (
	"bufio"
	"errors"
	"io"
)

// stream walks over concatenated JSON objects that are too large to hold, by handing out one small value at a time. An
// object that starts a line, indented no more than the first one of the stream, is taken for a new top-level object
// wherever it occurs: what was open before it has been cut off.
type stream struct {
	r      *bufio.Reader
	limit  int
	value  []byte // the last one taken
	indent int    // of the first top-level object; -1 before it
	blanks int    // since the line began; -1 after anything else
	depth  int    // of the objects and arrays that were entered
}

var (
	errSyntax = errors.New("broken JSON")
	errCut    = errors.New("a new object where the old one had not ended")
	errLong   = errors.New("over-long value")
)

func newStream(r io.Reader, limit int) *stream {
	return &stream{r: bufio.NewReaderSize(r, sniffed), limit: limit, indent: -1}
}

// get reads a byte and keeps track of the beginnings of lines.
func (s *stream) get() (byte, error) {
	b, err := s.r.ReadByte()
	switch {
	case err != nil:
	case b == '\n':
		s.blanks = 0
	case b > ' ':
		s.blanks = -1
	case s.blanks >= 0:
		s.blanks++
	}
	return b, err
}

// peek moves to the next byte that is not white, and returns it without consuming it.
func (s *stream) peek() (byte, error) {
	for {
		before := s.blanks
		b, err := s.get()
		if err != nil {
			return 0, err
		}
		if b > ' ' {
			s.unget(before)
			if b == '{' && s.depth > 0 && s.atLineStart() {
				return b, errCut
			}
			return b, nil
		}
	}
}

func (s *stream) unget(blanks int) {
	_ = s.r.UnreadByte() // cannot fail after a read
	s.blanks = blanks
}

func (s *stream) atLineStart() bool { return s.blanks >= 0 && s.blanks <= s.indent }

// enter steps into the object or array at the cursor. Another value is passed over and returns false.
func (s *stream) enter(open byte) (bool, error) {
	b, err := s.peek()
	if err != nil {
		return false, err
	}
	if b != open {
		return false, s.skip()
	}
	if s.indent < 0 {
		s.indent = max(s.blanks, 0)
	}
	_, err = s.get()
	s.depth++
	return true, err
}

// next steps to the next member or element; false after the last one. It is lenient about commas.
func (s *stream) next(end byte) (bool, error) {
	for {
		b, err := s.peek()
		if err != nil {
			return false, err
		}
		if b != ',' && b != end {
			return true, nil
		}
		if _, err = s.get(); b == end {
			s.depth--
			return false, err
		}
	}
}

// key takes a key and its colon.
func (s *stream) key() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	if err := s.take(); err != nil {
		return "", err
	}
	key := string(s.value)
	if err := s.expect(':'); err != nil {
		return "", err
	}
	_, err := s.get()
	return key[1 : len(key)-1], err
}

func (s *stream) expect(want byte) error {
	b, err := s.peek()
	if err == nil && b != want {
		err = errSyntax
	}
	return err
}

// skip passes over the value at the cursor.
func (s *stream) skip() error { return s.scan(func(byte) {}) }

// take puts the value at the cursor into s.value. One that is too long is passed over, and errLong returned.
func (s *stream) take() error {
	s.value = s.value[:0]
	long := false
	err := s.scan(func(b byte) {
		if long = long || len(s.value) >= s.limit; !long {
			s.value = append(s.value, b)
		}
	})
	if err == nil && long {
		err = errLong
	}
	return err
}

// scan hands the bytes of the value at the cursor to keep, without the white space between tokens.
func (s *stream) scan(keep func(byte)) error {
	if _, err := s.peek(); err != nil {
		return err
	}
	for depth, first := 0, true; ; first = false {
		before := s.blanks
		b, err := s.get()
		if err != nil {
			return err
		}
		switch b {
		case '"':
			keep(b)
			if err := s.scanString(keep); err != nil {
				return err
			}
		case '{', '[':
			if b == '{' && !first && before >= 0 && before <= s.indent {
				s.unget(before)
				return errCut
			}
			depth++
			keep(b)
		case '}', ']', ',', ':':
			if depth == 0 {
				s.unget(before)
				return errorIf(first)
			}
			if b == '}' || b == ']' {
				depth--
			}
			keep(b)
		default:
			if b > ' ' {
				keep(b)
			}
			if b > ' ' || depth > 0 {
				continue
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

func errorIf(broken bool) error {
	if broken {
		return errSyntax
	}
	return nil
}

// scanString goes on after an opening quote, up to the closing one.
func (s *stream) scanString(keep func(byte)) error {
	for escaped := false; ; {
		b, err := s.get()
		if err != nil {
			return err
		}
		if b < ' ' {
			return errSyntax
		}
		keep(b)
		switch {
		case escaped:
			escaped = false
		case b == '\\':
			escaped = true
		case b == '"':
			return nil
		}
	}
}

// resync moves to the next line that starts a top-level object.
func (s *stream) resync() error {
	s.depth = 0
	for {
		before := s.blanks
		b, err := s.get()
		if err != nil {
			return err
		}
		if b == '{' && before >= 0 && before <= max(s.indent, 0) {
			s.unget(before)
			return nil
		}
	}
}
