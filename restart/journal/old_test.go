package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/journal"
)

// A journal from before the first release says duplicate for copy. The error says how to go on, and Replay reads the
// journal that follows this advice.
func TestAJournalWithOldWordsIsRefusedWithAdvice(t *testing.T) {
	const old = `phase tasks=2 slots=4 machines=3 interval=10s policy=mantri
eligible task=1 duplicate=no restart=no
0s start task=0 machine=2
2s next machine=1
    duplicate idle-slot task=0 attempt=1 copy=0 remaining=9s
`
	const advice = `; journals before v0.1.0 have "duplicate" for "copy": write the new word in the events, and remove the ` +
		`indented lines, which Replay writes again`
	_, err := journal.Replay([]byte(old), journal.Options{})
	assert.EqualError(t, err,
		`journal: line 2: eligible has no field "duplicate", want one of task, copy, restart, each with = and a value`+advice)
	now := strings.Replace(old, "duplicate=no", "copy=no", 1)
	_, err = journal.Replay([]byte(now), journal.Options{})
	require.ErrorContains(t, err, "journal: line 5: an indented line is an answer")
	require.ErrorContains(t, err, advice)
	_, err = journal.Replay([]byte(now[:strings.Index(now, "    ")]), journal.Options{})
	require.NoError(t, err)
	_, err = journal.Replay([]byte(strings.Replace(old, "duplicate=no", "twice=no", 1)), journal.Options{})
	assert.NotContains(t, err.Error(), "v0.1.0")
	_, err = journal.Replay([]byte("phase tasks=2 interval=10s policy=guarded\n"), journal.Options{})
	assert.ErrorContains(t, err, `have "guarded" for "least-cost"`)
}
