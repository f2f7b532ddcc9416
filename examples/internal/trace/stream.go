package trace

import (
	"errors"
	"io"
)

// stream reads JSON that is too large for the memory, one small value at a time: the records of a log, one after the
// other or in an array, or the members of a record. It recognises the beginning of a record by its first key. After
// an error, it goes on at the next object with such a key.
type stream struct {
	r          io.Reader
	buf        []byte
	mark       int // where the last value began; after an error, a record may begin inside it
	start, end int // the part of the buffer that was read and not yet used
	err        error
	limit      int
	isRecord   func(firstKey []byte) bool
	value      []byte // the last value that was taken, valid until the next step
	first      bool   // the last step entered an object or array
	kind       string // kind in the object around the records, if it has one
	wrapped    bool   // the records are in an array inside a value that is not needed
}

func newStream(r io.Reader, limit int, isRecord func(firstKey []byte) bool) *stream {
	return &stream{r: r, buf: make([]byte, min(firstBuffer, limit)), limit: limit, isRecord: isRecord}
}

// fill reads more bytes into the buffer. It first makes room, by moving the content or by growing. Without room it
// reads nothing.
func (s *stream) fill() {
	if s.end == len(s.buf) {
		if len(s.buf) >= s.limit {
			s.mark = s.start
		}
		switch {
		case s.mark > 0:
			s.end = copy(s.buf, s.buf[s.mark:s.end])
			s.start -= s.mark
			s.mark = 0
		case len(s.buf) < s.limit:
			s.buf = append(s.buf, make([]byte, min(len(s.buf), s.limit-len(s.buf)))...)
		default:
			return
		}
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	s.err = err
}

// need reads until n bytes are in the buffer. It returns false if the stream ends before.
func (s *stream) need(n int) bool {
	n = min(n, s.limit)
	for s.end-s.start < n && s.err == nil {
		s.fill()
	}
	return s.end-s.start >= n
}

// longestKey is the largest length of the first key of a record, with the space before it.
const longestKey = 200

// atRecord reports whether a record begins at the cursor.
func (s *stream) atRecord() bool {
	s.need(longestKey)
	key := firstKey(s.buf[s.start:s.end])
	return key != nil && s.isRecord(key)
}

// peek moves to the next byte that is not a space, and returns it without consuming it.
func (s *stream) peek() (byte, error) {
	for {
		s.start = min(skipSpace(s.buf[:s.end], s.start), s.end)
		if s.start < s.end {
			return s.buf[s.start], nil
		}
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
}

// enter moves into the object or array at the cursor. It skips any other value and returns false.
func (s *stream) enter(open byte) (bool, error) {
	b, err := s.peek()
	if err != nil {
		return false, err
	}
	if b != open {
		return false, s.skip()
	}
	s.start++
	s.mark = s.start
	s.first = true
	return true, nil
}

// next moves to the next member or element; false after the last.
func (s *stream) next(end byte) (bool, error) {
	b, err := s.peek()
	if err != nil {
		return false, err
	}
	first := s.first
	s.first = false
	if b == end {
		s.start++
		return false, nil
	}
	if first {
		return true, nil
	}
	if b != ',' {
		return false, errSyntax
	}
	s.start++
	return true, nil
}

// key reads a key and its colon.
func (s *stream) key() (string, error) {
	b, err := s.peek()
	if err != nil {
		return "", err
	}
	if b != '"' {
		return "", errSyntax
	}
	if err := s.take(); err != nil {
		return "", err
	}
	key := string(s.value[1 : len(s.value)-1])
	if b, err = s.peek(); err == nil && b != ':' {
		err = errSyntax
	}
	if err == nil {
		s.start++
	}
	return key, err
}

// unwrap moves into the object at the cursor, up to the records. They are in the first member that is an array with
// the given name, or an array of records.
func (s *stream) unwrap(name string) error {
	if _, err := s.enter('{'); err != nil {
		return err
	}
	for {
		more, err := s.next('}')
		if err != nil {
			return err
		}
		if !more {
			return errSyntax
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		b, err := s.peek()
		if err != nil {
			return err
		}
		if b == '[' && (key == name || s.atArrayOfRecords()) {
			s.start++
			s.wrapped = true
			return nil
		}
		if err := s.scan(); err != nil && !errors.Is(err, errLong) {
			return err
		}
		if c := (cursor{data: s.value}); key == "kind" && b == '"' {
			s.kind = string(c.text())
		}
	}
}

// atArrayOfRecords reports whether the array at the cursor begins with a record.
func (s *stream) atArrayOfRecords() bool {
	s.need(longestKey)
	ahead := s.buf[s.start:s.end]
	key := firstKey(ahead[skipSpace(ahead, 1):])
	return key != nil && s.isRecord(key)
}

// skip skips the value at the cursor.
func (s *stream) skip() error {
	if err := s.take(); !errors.Is(err, errLong) {
		return err
	}
	return nil
}

// take reads the value at the cursor, inside a record, into s.value. It skips a value that is too long, and returns
// errLong. After an error in the value, the cursor stays at its beginning.
func (s *stream) take() error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	if b == '{' && s.atRecord() {
		s.mark = s.start
		return errCut
	}
	return s.scan()
}

// takeRecord does the same with a whole record. After an error, the cursor is inside the record.
func (s *stream) takeRecord() error {
	err := s.scan()
	if err != nil && !errors.Is(err, errLong) {
		s.start = min(s.start+1, s.end)
		s.mark = s.start
	}
	return err
}

func (s *stream) scan() error {
	s.mark = s.start
	var scan scanner
	long := false
	for at := s.start; ; {
		n, how := scan.feed(s.buf[at:s.end])
		at += n
		switch {
		case how == badly:
			return errSyntax
		case how == wholly, s.err != nil && scan.want == inScalar && scan.depth == 0:
			s.value = s.buf[s.start:at]
			if s.start = at; long {
				return errLong
			}
			return nil
		case s.err != nil:
			return s.err
		}
		if long = long || s.end-s.start >= s.limit; long {
			s.start, s.mark = s.end, s.end
		}
		held := at - s.start
		s.fill()
		at = s.start + held
	}
}
