package restart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The journals of testdata are worked examples of the policies. The journals of testdata/default are examples of the
// default; read them. After a change that is meant to change decisions, rewrite the journals with
//
//	go test ./restart -run TestFixtures -restart.rewrite
//
// and commit only differences that you can explain.
func TestFixtures(t *testing.T) {
	restarttest.Run(t, "testdata/*.txt")
	restarttest.Run(t, "testdata/default/*.txt")
}

// Each of the twelve journals of the default explains an answer: a comment has the sentence of the answer. The page
// of the package names the journal and shows this answer.
func TestEachJournalOfTheDefaultExplainsItsAnswer(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/default/*.txt")
	require.NoError(t, err)
	assert.Len(t, files, 12)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		phases, err := journal.Parse(text)
		require.NoError(t, err)
		phase, err := tracker.New(phases[0].Config)
		require.NoError(t, err)
		comments := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n#", "")), " ")
		explained := ""
		for _, e := range phases[0].Events {
			if a := phase.Apply(e); a.Reason != restart.NoReason && strings.Contains(comments, a.Sentence()) {
				d := restart.Decision{Action: a.Action, Reason: a.Reason, Attempt: a.Attempt, Comparison: a.Comparison}
				explained = d.String()
			}
		}
		require.NotEmpty(t, explained, "%s has the sentence of no answer in a comment", file)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		assert.Contains(t, string(page), fmt.Sprintf("%-16s%s\n", name, explained))
	}
}

// The lines of docs/why.md are lines that the example prints.
func TestWhyQuotesTheExample(t *testing.T) {
	page, err := os.ReadFile("../docs/why.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_why_was_my_task_killed_test.go")
	require.NoError(t, err)
	quoted := 0
	for line := range strings.Lines(string(page)) {
		if text, is := strings.CutPrefix(line, "    "); is {
			assert.Contains(t, string(example), "\t// "+strings.TrimSpace(text))
			quoted++
		}
	}
	assert.Equal(t, 12, quoted)
}
