package trace

import (
	"fmt"
	"strings"
)

// Fault is one thing that can be wrong with a log. None stops the reading.
type Fault uint8

// The faults. Of the first group something was dropped, of the second a value became unknown, or was guessed, and the
// rest was kept.
const (
	Broken     Fault = iota // a line or object that is not JSON, or not a record of this format
	HalfLast                // the last line or object stops before its end
	TooLong                 // a line or value beyond the length limit
	CutStream               // the compressed stream stops or breaks before its end
	MissingLog              // a file of a rolling log is not there
	BadLog                  // a file of a rolling log can't be read
	NoTask                  // an attempt without a usable phase or task index
	Repeated                // a start or an end of an attempt that had one already
	Housework               // a setup or cleanup attempt: it belongs to no phase

	NoStart      // an attempt without a start time
	NoFinish     // an attempt that ended, without a finish time
	BadTime      // a time that is negative or after the year 2248
	FinishFirst  // an attempt or a phase that finishes before it starts; the finish becomes unknown
	UnknownState // an attempt with a result that is not known; taken as unfinished
	NoZone       // a time without a time zone; taken for UTC
	SameNumber   // an attempt with the number of another one of its task
	faultCount
)

var faultTexts = [faultCount]string{
	Broken:       "broken or foreign lines or objects, dropped",
	HalfLast:     "last lines or objects that stop halfway, dropped",
	TooLong:      "over-long lines or values, dropped",
	CutStream:    "compressed streams cut short or broken, read up to there",
	MissingLog:   "files missing from the rolling log",
	BadLog:       "files of the rolling log that can't be read, left out",
	NoTask:       "attempts without a usable task index, dropped",
	Repeated:     "repeated starts or ends of an attempt, dropped",
	Housework:    "setup and cleanup attempts, left out",
	NoStart:      "attempts without a start time, kept",
	NoFinish:     "ended attempts without a finish time, kept",
	BadTime:      "impossible times, taken as unknown",
	FinishFirst:  "attempts or phases that finish before they start, finish taken as unknown",
	UnknownState: "attempts with an unknown result, taken as unfinished",
	NoZone:       "times without a time zone, taken for UTC",
	SameNumber:   "attempts with the number of another one of their task, kept",
}

func (f Fault) String() string { return name(faultTexts[:], int(f), "Fault") }

// Faults counts faults by kind: faults[trace.NoStart].
type Faults [faultCount]int

// Total is the number of faults of all kinds.
func (f *Faults) Total() (n int) {
	for _, count := range f {
		n += count
	}
	return n
}

// String lists on one line the kinds that occurred, each with its count, or says "no faults".
func (f Faults) String() string {
	var parts []string
	for i, count := range f {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", Fault(i), count))
		}
	}
	if parts == nil {
		return "no faults"
	}
	return strings.Join(parts, "; ")
}

func (f *Faults) add(other *Faults) {
	for i, count := range other {
		f[i] += count
	}
}
