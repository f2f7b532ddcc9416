package journal

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/tracker"
)

// The page lists each kind of event, with its required key.
func TestPageListsEachKind(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for k := tracker.Started; int(k) <= tracker.EventKinds; k++ {
		word, _, _ := strings.Cut(k.String(), " ")
		must, may := k.Keys()
		switch {
		case k == tracker.Failed || k == tracker.Killed || k == tracker.Restarted:
			assert.Contains(t, string(doc), "likewise fail, kill and restart")
		case k == tracker.SlotsSet:
			assert.Contains(t, string(doc), "//\tslots N ")
		case len(must) == 0 && len(may) == 0:
			assert.Contains(t, string(doc), "TIME "+word+" ")
		case len(must) == 0 && k.Timed():
			assert.Contains(t, string(doc), "TIME "+word+" "+may[0]+"=")
		case len(must) == 0:
			assert.Contains(t, string(doc), "//\t"+word+" "+may[0]+"=")
		default:
			assert.Contains(t, string(doc), word+" "+must[0]+"=", "%v", k)
		}
	}
}

// testdata has one line of each kind, as the first version wrote it. Every later version reads it and writes
// the same.
func TestLinesOfTheFirstVersionReadBack(t *testing.T) {
	text, err := os.ReadFile("testdata/lines.journal")
	require.NoError(t, err)
	phases, err := Parse(text)
	require.NoError(t, err)
	require.Len(t, phases, 1)
	seen := map[tracker.EventKind]bool{}
	var again []byte
	for _, e := range phases[0].Events {
		seen[e.Kind] = true
		again = append(AppendEvent(again, time.Unix(1e9, 0), e), '\n')
	}
	assert.Len(t, seen, tracker.EventKinds, "a new kind needs a line in testdata")
	_, lines, _ := strings.Cut(string(text), "since 2001-09-09T01:46:40Z\n")
	assert.Equal(t, lines, string(again))
}
