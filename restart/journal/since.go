package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

const wordSince = "since"

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

// Resume feeds a tracker with the events of a part of a journal: those that were recorded after the snapshot from which
// it was restored. An error names the line; the events before it have been told. It is an error if the part holds a
// phase.
func Resume(t *tracker.Tracker, data []byte) error {
	for l, err := range lines(data) {
		switch {
		case err != nil:
			return err
		case l.class == phaseLine || l.class == workLine:
			return fmt.Errorf("journal: line %d: %w", l.number, errors.New("got a phase, want events alone"))
		case l.class == eventLine:
			t.Apply(l.event)
		}
	}
	return nil
}
