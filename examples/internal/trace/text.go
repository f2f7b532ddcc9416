package trace

import (
	"bytes"
)

// eachLine calls read for each line of a log with one record a line. read returns false if a line is not a whole
// record of the format. Two JSON objects on one line, after a lost line break, are two records.
func (b *builder) eachLine(l *lineReader, read func(line []byte) bool) {
	for {
		line, end := l.next()
		switch {
		case end == none:
			return
		case end == tooLong:
			b.log.Records++
			b.log.Faults[TooLong]++
		case end == unneeded:
			b.log.Records++
			kind, _ := kindAtStart(line)
			b.pass(kind)
		default:
			b.oneLine(bytes.Trim(line, b.blank), end, read)
		}
	}
}

func (b *builder) oneLine(line []byte, end lineEnd, read func(line []byte) bool) {
	for len(line) > 0 {
		b.log.Records++
		if read(line) {
			return
		}
		n := skipValue(line, 0)
		if line[0] != '{' || n < 0 || n == len(line) {
			switch {
			case end == last:
				b.log.Faults[HalfLast]++
			case b.wrongWidth:
				b.log.Faults[WrongWidth]++
			default:
				b.log.Faults[Broken]++
			}
			return
		}
		if !read(line[:n]) {
			b.log.Faults[Broken]++
		}
		line = bytes.TrimLeft(line[n:], ", \t")
	}
}
