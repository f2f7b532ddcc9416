package trace

import "bytes"

// eachLine hands the lines of a log that has a record on each to read, which says whether a line was a whole record of
// the kind. Two JSON objects on one line, as a lost line break leaves them, are two records.
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
			if end == last {
				b.log.Faults[HalfLast]++
			} else {
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
