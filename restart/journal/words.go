package journal

import (
	"fmt"
	"time"
)

// What every kind of line is written with.

// start is the instant at which a journal starts that does not say it.
func start() time.Time { return time.Unix(0, 0) }

// The words with which the lines of a phase begin, which are no events.
const (
	wordPhase = "phase"
	wordWork  = "work"
	wordSince = "since"
)

// unknownMachine stands for a machine that is not known or does not matter.
const unknownMachine = -1

// appendSince writes the instant at which a journal starts. One that has no text is left out.
func appendSince(dst []byte, start time.Time) []byte {
	start = start.UTC()
	if year := start.Year(); year < 0 || year > 9999 {
		return dst
	}
	return append(start.AppendFormat(append(dst, wordSince+" "...), time.RFC3339Nano), '\n')
}

func parseSince(words []string) (time.Time, error) {
	if len(words) != 1 {
		return time.Time{}, fmt.Errorf("since wants one word behind it, got %d", len(words))
	}
	start, err := time.Parse(time.RFC3339Nano, words[0])
	if err != nil {
		return time.Time{}, fmt.Errorf("since is %.40q, want a time such as 2010-10-04T09:00:00Z", words[0])
	}
	return start, nil
}
