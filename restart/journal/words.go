package journal

import (
	"fmt"
	"time"
)

// This file contains words and functions that several kinds of lines use.

// start returns the start of a journal that has no line with the word "since": the Unix epoch.
func start() time.Time { return time.Unix(0, 0) }

// The first words of lines that are not events.
const (
	wordPhase = "phase"
	wordWork  = "work"
	wordSince = "since"
)

// unknownMachine is the number of a machine that is not known, or of an event without a machine.
const unknownMachine = -1

// appendSince appends the line with the start of the journal. If the year is not in the range 0 to 9999, it appends
// nothing, because RFC 3339 has no text for such a year.
func appendSince(dst []byte, start time.Time) []byte {
	start = start.UTC()
	if year := start.Year(); year < 0 || year > 9999 {
		return dst
	}
	return append(start.AppendFormat(append(dst, wordSince+" "...), time.RFC3339Nano), '\n')
}

// parseSince reads the start of a journal from the words that follow the word "since".
func parseSince(words []string) (time.Time, error) {
	if len(words) != 1 {
		return time.Time{}, fmt.Errorf("since wants one word after it, got %d", len(words))
	}
	start, err := time.Parse(time.RFC3339Nano, words[0])
	if err != nil {
		return time.Time{}, fmt.Errorf("since is %.40q, want a time such as 2010-10-04T09:00:00Z", words[0])
	}
	return start, nil
}
