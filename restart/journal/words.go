package journal

import (
	"fmt"
	"time"
)

// This file holds the words and the writers that several kinds of lines share.

// start is the start of a journal without a since line: the Unix epoch.
func start() time.Time { return time.Unix(0, 0) }

// The first words of the lines of a phase, which are no events.
const (
	wordPhase = "phase"
	wordWork  = "work"
	wordSince = "since"
)

// unknownMachine is the number of a machine that is not known or does not matter.
const unknownMachine = -1

// appendSince writes the start of a journal. Nothing is written for a year outside 0 to 9999, which RFC 3339
// can't write.
func appendSince(dst []byte, start time.Time) []byte {
	start = start.UTC()
	if year := start.Year(); year < 0 || year > 9999 {
		return dst
	}
	return append(start.AppendFormat(append(dst, wordSince+" "...), time.RFC3339Nano), '\n')
}

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
