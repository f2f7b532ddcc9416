package trace

import (
	"bytes"
	"strconv"
)

// Arrival is a job in a log that has only its arrival and its sizes, and no tasks.
type Arrival struct {
	Job       string
	Submitted Opt // milliseconds since the log's epoch
	// Input is the number of bytes that maps read, Shuffle of bytes from maps to reduces, and Output of bytes that
	// reduces wrote.
	Input, Shuffle, Output Opt
}

// isSwim reports whether a line is in SWIM's format: a job, its time of submission, the time since the job before in
// seconds, and three sizes, separated by tabs.
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
			n, _ := strconv.ParseInt(string(fields[at]), 10, 64) // isSwim has checked the number
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
