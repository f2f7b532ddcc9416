package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The source has the text that turns each rule off.
func TestEachRuleHasItsText(t *testing.T) {
	for name := range rulesOfDefault() {
		_, err := overlay(t.TempDir(), []string{name})
		require.NoError(t, err)
	}
}

// compiles skips a test that compiles the library, which takes half a minute, unless STRAGGLER_LIVES is set.
func compiles(t *testing.T) {
	if os.Getenv("STRAGGLER_LIVES") == "" {
		t.Skip("compiles the library without a rule: STRAGGLER_LIVES is not set")
	}
}

// The source compiles without all rules together.
func TestWithoutAllRules(t *testing.T) {
	compiles(t)
	names := slices.Sorted(maps.Keys(rulesOfDefault()))
	out, err := surveyWithout(t.TempDir(), names, "-worlds", "-cells", "^healthy/1w none", "-seeds", "1", "-policies", "default")
	require.NoError(t, err)
	assert.Contains(t, out, "\n| healthy/1w | none |")
}

// A table has a row for the whole default, and for each rule that is left out.
func TestWithout(t *testing.T) {
	compiles(t)
	var b bytes.Buffer
	require.NoError(t, run([]string{"-without", "pair", "-worlds", "-seeds", "2", "-cells", "^(5|15) % attempts 8x/3w stalls"}, &b))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 4)
	assert.True(t, strings.HasPrefix(lines[2], "| no rule | 2 | "), lines[2])
	assert.True(t, strings.HasPrefix(lines[3], "| pair | 2 | "), lines[3])
	assert.NotEqual(t, strings.TrimPrefix(lines[2], "| no rule"), strings.TrimPrefix(lines[3], "| pair"))

	b.Reset()
	require.NoError(t, run([]string{"-without", "pair", "-seeds", "1", "-phases", "6", "-progress", "linear,none"}, &b))
	lines = strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, "| without | linear | none |", lines[0])
	assert.Equal(t, 4, strings.Count(lines[3], "|"), lines[3])

	assert.ErrorContains(t, run([]string{"-without", "luck", "-worlds", "-cells", "^healthy/1w none", "-seeds", "1"}, io.Discard),
		`there is no rule "luck"; there are `)
	assert.ErrorContains(t, run([]string{"-without", "pair", "-calibration"}, io.Discard), "-without")
}
