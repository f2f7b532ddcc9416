package trace

import (
	"bytes"
	"errors"
	"io"
)

var (
	errSyntax = errors.New("broken JSON")
	errCut    = errors.New("a new record where the old one had not ended")
	errLong   = errors.New("over-long value")

	errForeign = errors.New("a record of another kind")
)

// resync moves to the next object that begins a record, from the beginning of the last value.
func (s *stream) resync() error {
	s.start = s.mark
	if s.start < s.end && !s.atRecord() {
		s.start++
	}
	for {
		s.mark = s.start
		if i := bytes.IndexByte(s.buf[s.start:s.end], '{'); i >= 0 {
			if s.start += i; s.atRecord() {
				return nil
			}
			s.start++
			continue
		}
		if s.start = s.end; s.err != nil {
			return s.err
		}
		s.mark = s.start
		s.fill()
	}
}

// each calls read for each of the following records. read returns false for a record of another kind.
func (s *stream) each(log *Log, read func(record []byte) bool) {
	s.records(log, func() error {
		if err := s.takeRecord(); err != nil {
			return err
		}
		if !read(s.value) {
			return errForeign
		}
		return nil
	})
}

// records calls read for each of the following records, up to the end of the stream or of the array around them. read
// must read one record.
func (s *stream) records(log *Log, read func() error) {
	for {
		b, err := s.peek()
		if err != nil {
			return
		}
		s.mark = s.start
		if b == '[' || b == ',' || b == ']' {
			s.start++
			if b == ']' && s.wrapped {
				return
			}
			continue
		}
		log.Records++
		err = errSyntax
		if b == '{' {
			err = read()
		}
		if err != nil && s.fault(log, err) {
			return
		}
	}
}

// fault counts the error in a record, and moves to the next record. It returns true if there is none.
func (s *stream) fault(log *Log, err error) (last bool) {
	switch {
	case errors.Is(err, errLong):
		log.Faults[TooLong]++
		return false
	case errors.Is(err, errForeign):
		log.Faults[Broken]++
		return false
	}
	last = s.resync() != nil
	if last && errors.Is(err, io.EOF) {
		log.Faults[HalfLast]++
	} else {
		log.Faults[Broken]++
	}
	return last
}
