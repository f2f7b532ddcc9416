package trace

import (
	"bytes"
	"fmt"
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

// counted writes a number with a noun, such as "1 package" or "2 packages".
func counted(n int, what string) string { return fmt.Sprintf("%d %s%s", n, what, plural(n, "", "s")) }

// plural returns one if n is 1, and more otherwise.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
