package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
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

// parsePairs reads key=value words in any order.
func parsePairs(kind tracker.Kind, fields []wire.Field, required int, words []string) error {
	var seen [8]bool
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		i := wire.Find(fields, key)
		switch {
		case (!ok || i < 0) && len(fields) == 0:
			return fmt.Errorf("%s has no fields, got %.40q", kind, word)
		case !ok || i < 0:
			return fmt.Errorf("%s has no field %.40q, want one of %s, each with = and a value", kind, word, wire.Keys(fields))
		case seen[i]:
			return fmt.Errorf("%s: %s is given twice", kind, key)
		}
		seen[i] = true
		if err := fields[i].Parse(value); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for i := range required {
		if !seen[i] {
			return fmt.Errorf("%s wants %s=", kind, fields[i].Key)
		}
	}
	return nil
}

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
