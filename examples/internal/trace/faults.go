package trace

import (
	"fmt"
	"strings"
)

// Fault is a kind of error in a log, such as an attempt without a start time. A fault never stops the reading of a log.
type Fault uint8

// The kinds of faults. For the first group, up to Housework, a part of the log was dropped. For the second group, a
// value of an attempt or phase became unknown or was guessed, and the rest of the attempt or phase was kept.
const (
	Broken     Fault = iota // a line or object that is not JSON, or not a record of this format
	WrongWidth              // a row of a table with more or fewer values than the first line has columns
	HalfLast                // the last line or object stops before its end
	TooLong                 // a line or value beyond the length limit
	CutStream               // the compressed stream stops or breaks before its end
	MissingLog              // a file of a rolling log is missing
	BadLog                  // a file of a rolling log cannot be read
	NoTask                  // an attempt without a usable phase or task index
	Repeated                // a second start or a second end of an attempt, or the same attempt again
	Housework               // a setup or cleanup attempt of Hadoop, which belongs to no phase

	NoStart      // an attempt without a start time
	NoFinish     // an attempt that has ended, but has no finish time
	BadTime      // a time that is negative, after the year 2248, or cannot be read
	DecimalComma // a time with a decimal comma, which is read as no time
	FinishFirst  // an attempt or a phase that finishes before it starts; the finish becomes unknown
	UnknownState // an attempt with an unknown word for its state; treated as unfinished
	NoZone       // a time without a time zone; read as UTC
	SameNumber   // an attempt with the number of another attempt of its task
	faultCount
)

var faultTexts = [faultCount]string{
	Broken:       "broken or foreign lines or objects, dropped",
	WrongWidth:   "rows with more or fewer values than the first line has columns, dropped",
	HalfLast:     "last lines or objects that stop halfway, dropped",
	TooLong:      "lines or values over the length limit, dropped",
	CutStream:    "compressed streams that stop early or are broken, read up to this point",
	MissingLog:   "files missing from the rolling log",
	BadLog:       "files of the rolling log that cannot be read, left out",
	NoTask:       "attempts without a valid phase or task, dropped",
	Repeated:     "repeated starts or ends of an attempt, dropped",
	Housework:    "setup and cleanup attempts, left out",
	NoStart:      "attempts without a start time, kept",
	NoFinish:     "ended attempts without a finish time, kept",
	BadTime:      "impossible times, treated as unknown",
	DecimalComma: "times with a decimal comma instead of a point, treated as unknown",
	FinishFirst:  "attempts or phases that finish before they start, finish treated as unknown",
	UnknownState: "attempts with an unknown result, treated as unfinished",
	NoZone:       "times without a time zone, read as UTC",
	SameNumber:   "attempts with the number of another attempt of the same task, kept",
}

func (f Fault) String() string { return name(faultTexts[:], int(f), "Fault") }

// Faults has the number of faults of each kind, such as faults[trace.NoStart].
type Faults [faultCount]int

// Total returns the number of faults of all kinds.
func (f *Faults) Total() (n int) {
	for _, count := range f {
		n += count
	}
	return n
}

// String returns one line with the count of each kind that occurred, or "no faulty lines".
func (f Faults) String() string {
	var parts []string
	for i, count := range f {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", Fault(i), count))
		}
	}
	if parts == nil {
		return "no faulty lines"
	}
	return strings.Join(parts, "; ")
}

func (f *Faults) add(other *Faults) {
	for i, count := range other {
		f[i] += count
	}
}
