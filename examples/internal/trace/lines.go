package trace

import (
	"bytes"
	"io"
)

// The limits of what is held in memory of one line, or of one task of a Rumen trace.
const (
	firstBuffer = 128 << 10
	maxRecord   = 32 << 20
)

// lineReader splits a stream into lines. Its buffer grows up to a limit, as the longest needed line requires.
type lineReader struct {
	source     io.Reader
	buf        []byte
	start, end int // the part of the buffer that was read and not yet returned
	limit      int
	err        error // the error of the source; io.EOF at a regular end
	// unwanted reports, from the beginning of a line of at least firstBuffer bytes, whether the rest of the line can
	// be skipped; nil: never.
	unwanted func(beginning []byte) bool
}

type lineEnd uint8

const (
	whole    lineEnd = iota // the line ends with a line break
	last                    // the line ends with the stream
	unneeded                // only the beginning is returned, of a line that is unwanted
	tooLong                 // nothing is returned, because the line is over the limit
	none                    // there are no more lines
)

func newLineReader(source io.Reader, limit int, unwanted func([]byte) bool) *lineReader {
	return &lineReader{source: source, buf: make([]byte, min(firstBuffer, limit)), limit: limit, unwanted: unwanted}
}

// next returns the next line without its line break. The line is valid until the next call.
func (l *lineReader) next() ([]byte, lineEnd) {
	searched := l.start
	for {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : searched+i]
			l.start = searched + i + 1
			return line, l.unless(line, whole)
		}
		if l.err != nil {
			line := l.buf[l.start:l.end]
			l.start = l.end
			if len(line) == 0 {
				return nil, none
			}
			return line, l.unless(line, last)
		}
		searched = l.end
		if l.end == len(l.buf) {
			switch {
			case l.start > 0:
				searched -= l.start
				l.compact()
			case l.unless(l.buf, whole) == unneeded:
				return l.discard(unneeded)
			case len(l.buf) >= l.limit:
				return l.discard(tooLong)
			default:
				l.buf = append(l.buf, make([]byte, min(len(l.buf), l.limit-len(l.buf)))...)
			}
		}
		l.fill()
	}
}

// unless returns unneeded for an unwanted line that is longer than the first buffer, and otherwise end. So the result
// does not depend on the size to which earlier lines have made the buffer grow.
func (l *lineReader) unless(line []byte, end lineEnd) lineEnd {
	if len(line) >= firstBuffer && l.unwanted != nil && l.unwanted(line) {
		return unneeded
	}
	return end
}

func (l *lineReader) compact() {
	l.end = copy(l.buf, l.buf[l.start:l.end])
	l.start = 0
}

func (l *lineReader) fill() {
	n, err := l.source.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}

// discard reads up to the end of a line that fills the buffer. It returns the beginning of the line.
func (l *lineReader) discard(how lineEnd) ([]byte, lineEnd) {
	const kept = 4 << 10
	beginning := l.buf[:min(kept, len(l.buf)/2)]
	for l.err == nil {
		l.end = len(beginning)
		l.fill()
		if i := bytes.IndexByte(l.buf[len(beginning):l.end], '\n'); i >= 0 {
			l.start = len(beginning) + i + 1
			return beginning, how
		}
	}
	l.start = l.end
	return beginning, how
}
