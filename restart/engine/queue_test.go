package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// answered is an answer of the default policy to an event of a journal.
type answered struct {
	at    time.Duration
	event tracker.Event
	tracker.Answer
}

func (a answered) String() string { return fmt.Sprintf("%v %v: %v", a.at, a.event.Kind, a.Answer) }

// replayed applies the events of a journal to a tracker with the present default policy, and returns the tracker's
// answers. The answers of a sweep are separate elements. The journal was recorded with an earlier default policy. So
// the kills and the trials of that policy are applied, and the decisions of the present policy are not carried out.
func replayed(t *testing.T, file string) (all []answered) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "queue", file))
	require.NoError(t, err)
	phases, err := journal.Parse(data)
	require.NoError(t, err)
	require.Len(t, phases, 1)
	require.Nil(t, phases[0].Config.Policy, "the journal names no policy, so the default decides")
	phase, err := tracker.New(phases[0].Config)
	require.NoError(t, err)
	start := phases[0].Events[0].Time
	for _, e := range phases[0].Events {
		a, at := phase.Apply(e), e.Time.Sub(start)
		require.False(t, a.Ignored, "%v %v", at, e.Kind)
		for _, found := range a.Found {
			all = append(all, answered{at, e, found})
		}
		if a.Found = nil; e.Kind != tracker.Swept {
			all = append(all, answered{at, e, a})
		}
	}
	require.Equal(t, 160, phase.Ledger().Finished)
	return all
}

// A task that is long by itself takes as long once more, so a restart is in vain. An earlier default restarted
// such tasks up to three times within a second, because its trials against hung attempts and the slow machine
// had been won.
func TestLongTasksAreNotRestarted(t *testing.T) {
	for _, file := range []string{"mixed-progress-tail.txt", "mixed-29-restarts.txt"} {
		for _, a := range replayed(t, file) {
			assert.False(t, a.Action == restart.Restart && a.Task%12 == 5, "%s: %v", file, a)
		}
	}
}

// A hung task gets its copy on a slow machine, or where the task has run before, if no other machine is free.
func TestHungTaskGetsACopyThoughOnlyTheSlowMachineIsNew(t *testing.T) {
	const task, from, till = 101, 13 * time.Second, 16200 * time.Millisecond
	offers, copies := 0, 0
	var asked []string
	for _, a := range replayed(t, "mixed-progress-tail.txt") {
		if a.at < from || a.at > till {
			continue
		}
		if a.event.Kind == tracker.Offered {
			offers++
			if a.Task == task && a.Action == restart.Copy {
				copies++
			}
		}
		if a.Task == task || a.event.Kind == tracker.Asked && a.event.Task == task {
			asked = append(asked, a.String())
		}
	}
	assert.Greater(t, offers, 15)
	assert.Positive(t, copies, "no copy in %d offers of a machine; answers about the task: %s", offers, strings.Join(asked, "\n"))
}
