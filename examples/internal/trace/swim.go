package trace

import (
	"bytes"
	"strconv"
)

// Arrival is a job of which a log tells when it came and how large it was, and nothing of its tasks.
type Arrival struct {
	Job       string
	Submitted Opt // milliseconds since the log's epoch
	// Input, Shuffle and Output count the bytes that maps read, that went from maps to reduces, and that reduces wrote.
	Input, Shuffle, Output Opt
}

// isSwim says whether a line is one of SWIM's: a job, when it was submitted, the time since the one before, in seconds,
// and three sizes, separated by tabs.
func isSwim(line []byte) bool {
	fields := bytes.Split(bytes.TrimRight(line, "\r\n"), []byte("\t"))
	if len(fields) != 6 {
		return false
	}
	for _, f := range fields[1:] {
		if n, err := strconv.ParseInt(string(f), 10, 64); err != nil || n < 0 {
			return false
		}
	}
	return true
}

func readSwim(l *lineReader) *builder {
	b := newBuilder(Swim)
	b.eachLine(l, func(line []byte) bool {
		if !isSwim(line) {
			return false
		}
		fields := bytes.Split(line, []byte("\t"))
		number := func(at int) int64 {
			n, _ := strconv.ParseInt(string(fields[at]), 10, 64) // isSwim has read it
			return n
		}
		submitted := number(1)
		b.log.Arrivals = append(b.log.Arrivals, Arrival{
			Job: nameOf(fields[0]), Submitted: momentFrom(submitted*1000, submitted < maxTime/1000, &b.log.Faults),
			Input: Known(min(number(3), maxBytes)), Shuffle: Known(min(number(4), maxBytes)),
			Output: Known(min(number(5), maxBytes)),
		})
		return true
	})
	b.hint("the log has only arrival times and sizes of jobs, so the tasks of the jobs are generated")
	return b
}
