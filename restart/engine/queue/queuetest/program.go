package queuetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Program builds the program in testdata/program, as it stands, and runs it with the argument. It must print ANNA and
// BOB. Its lines between the comments "from here" and "to here" must be at most lines. If it has no
// such comments, its lines with the comment "// +" are counted.
func Program(t *testing.T, lines int, argument string) {
	t.Helper()
	file := filepath.Join("testdata", "program", "main.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	formatted, err := exec.Command("gofmt", "-l", file).CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(formatted), "not gofmt-ed")
	_, part, marked := strings.Cut(string(text), "// from here\n")
	part, _, _ = strings.Cut(part, "// to here")
	count := 0
	for line := range strings.Lines(part) {
		if line = strings.TrimSpace(line); line != "" {
			count++
		}
	}
	if !marked {
		count = strings.Count(string(text), "// +\n")
	}
	assert.LessOrEqual(t, count, lines, "lines of the program")
	binary := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("go", "build", "-o", binary, "./"+filepath.Dir(file)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(binary, argument).Output()
	require.NoError(t, err)
	assert.Equal(t, "ANNA\nBOB\n", string(out))
}
