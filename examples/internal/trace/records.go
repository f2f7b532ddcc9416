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

// resync moves to the next object that begins a record, from where the last value began.
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

// each hands each of the records that follow to read, which says whether it was of the kind.
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

// records calls read, which must take one record, at each of those that follow, up to the end of the stream, or of the
// array that the stream was unwrapped to. They may be the elements of an array.
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

// fault counts what was wrong with a record and moves to the next one. It reports whether there is none.
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
