// Package fixturetest runs worked examples: text files for readers that are tests as well.
//
//	# Comments say what happens and why.
//	offer at=4s level=1
//	    wait delayed level=1 allowed=0 next-level-in=11s
//
// A line without indentation is a command with arguments. The indented lines after it are the answer. Run the tests
// with -rewrite to write the answers again, and commit only answers that you understand.
package fixturetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the answers of the fixtures anew")

const indent = "    "

// Host executes the commands of one file.
type Host func(command string, args *Args) string

// Run creates a new host for each file that matches the pattern, and runs the commands of the file. Run compares
// the answers with the answers in the file.
func Run(t *testing.T, pattern string, start func(t *testing.T) Host) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, "no file matches %s", pattern)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := play(t, string(text), start(t))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			assert.Equal(t, string(text), got, "run with -rewrite if the change is meant")
		})
	}
}

// play returns the text with the host's answers in place of the present answers.
func play(t *testing.T, text string, host Host) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, indent) {
			continue // an answer
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		args := parse(t, line)
		answer := host(args.command, args)
		args.checkAllRead()
		for answered := range strings.Lines(answer) {
			out.WriteString(strings.TrimRight(indent+strings.TrimRight(answered, "\n"), " ") + "\n")
		}
	}
	return out.String()
}
