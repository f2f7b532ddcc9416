package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The adapter and the decision on the page are those of the example, which runs.
func TestPageQuotesWhatRuns(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_a_toy_engine_test.go")
	require.NoError(t, err)
	_, quoted, found := strings.Cut(string(page), "```go\n")
	require.True(t, found)
	quoted, _, _ = strings.Cut(quoted, "```")
	assert.Contains(t, string(example), quoted)
	_, quoted, found = strings.Cut(string(page), "compared:\n\n```\n")
	require.True(t, found)
	quoted, _, _ = strings.Cut(quoted, "\n```")
	assert.Contains(t, string(example), quoted)
}
