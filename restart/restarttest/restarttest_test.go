package restarttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// TestHost is a test in the test suite of a program that uses this package. The tests below run this test
// binary again with a pattern of files. Without a pattern it passes on a valid journal.
func TestHost(t *testing.T) {
	pattern := os.Getenv("RESTARTTEST_PATTERN")
	if pattern == "" {
		pattern = "testdata/pass/*.txt"
	}
	switch os.Getenv("RESTARTTEST_POLICY") {
	case "never":
		Run(t, pattern, Policy(restart.Never{}))
	case "configure":
		Run(t, pattern, Options(journal.Options{Configure: func(_ int, c *tracker.Config) { c.Policy = restart.Never{} }}))
	default:
		Run(t, pattern)
	}
}

// run runs TestHost in a new process. The results are the output, and whether the test passed.
func run(t *testing.T, pattern, policy string, flags ...string) (string, bool) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(binary, append([]string{"-test.run=^TestHost$", "-test.v"}, flags...)...)
	command.Env = append(os.Environ(), "RESTARTTEST_PATTERN="+pattern, "RESTARTTEST_POLICY="+policy)
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

func TestRunFailsAtTheFirstDifference(t *testing.T) {
	sound := read(t, "testdata/pass/dryad.txt")
	broken := strings.Replace(sound, "    copy beyond-peers", "    keep not-slow", 1)
	broken = strings.Replace(broken, "    task=3 copy beyond-peers", "    keep nothing-to-do", 1)
	file := write(t, "broken.txt", broken)

	out, ok := run(t, file, "")
	assert.False(t, ok)
	assert.Contains(t, out, "--- FAIL: TestHost/broken.txt")
	assert.Contains(t, out, file+`:11: the answer differs
          event: 20s report task=3 done=0.5
          got:   copy beyond-peers run-seconds=20 threshold=10 gain=10s avoid=3
          want:  keep not-slow run-seconds=20 threshold=10 gain=10s avoid=3
          the policy answered copy beyond-peers run-seconds=20 threshold=10 gain=10s avoid=3
            attempt 0: machine=3 elapsed=20s remaining=20s score=0.5 done=0.5
            task:   work=1 fresh=`)
	assert.Contains(t, out, `
            phase:  interval=10s tasks=4 finished=2 waiting=0 slots=4 free=2 copies=0 machines=4
            peers:  durations 10/10/10, unit times 10/10/10, progress rates 0.025/0.1/0.1, mean score 0.625, throughput 0.1
`)
	assert.NotContains(t, out, "nothing-to-do", "only the first difference is shown")
	assert.Equal(t, broken, read(t, file), "without the flag no file is rewritten")
}

func TestRunHasASubtestForEachFile(t *testing.T) {
	out, ok := run(t, "testdata/pass/*.txt", "")
	assert.True(t, ok, out)
	assert.Contains(t, out, "--- PASS: TestHost/dryad.txt", "each file must have a subtest")
}

// The policy is replaced, in either way, and the answers of the new policy are compared.
func TestPolicyReplacesThePolicy(t *testing.T) {
	for _, way := range []string{"never", "configure"} {
		out, ok := run(t, "testdata/pass/*.txt", way)
		assert.False(t, ok)
		assert.Contains(t, out, "got:   keep disabled", way)
	}
	file := write(t, "own.txt", "phase tasks=1 slots=1 interval=1s policy=custom\n0s start task=0\n0s decide task=0\n    keep disabled\n")
	out, ok := run(t, file, "never")
	assert.True(t, ok, out)
	out, ok = run(t, file, "")
	assert.False(t, ok)
	assert.Contains(t, out, file+": journal: line 1: the policy is custom, want it in Options.Policy")
}

func TestNothingToRunIsAnError(t *testing.T) {
	for _, flags := range [][]string{nil, {"-restart.rewrite"}} {
		out, ok := run(t, "testdata/none/*.txt", "", flags...)
		assert.False(t, ok)
		assert.Contains(t, out, `restarttest: no file matches "testdata/none/*.txt"`)

		out, ok = run(t, "[", "", flags...)
		assert.False(t, ok)
		assert.Contains(t, out, `restarttest: pattern "[": syntax error in pattern`)

		out, ok = run(t, write(t, "silent.txt", "phase tasks=1 interval=1s\n0s start task=0 # and what then?\n0s sweep\n"), "", flags...)
		assert.False(t, ok)
		assert.Regexp(t, "holds no decision, want at least one; -restart.rewrite writes the answers|no event of the journal asks for a decision", out)

		out, ok = run(t, write(t, "rubbish.txt", "PK\x03\x04\x00"), "", flags...)
		assert.False(t, ok)
		assert.Contains(t, out, "rubbish.txt: journal: line 1: got \"PK")
	}
}

// Each pair of files in testdata/rewrite shows a file before and after the rewrite.
func TestRewriteReplacesAnswers(t *testing.T) {
	pairs, err := filepath.Glob("testdata/rewrite/*.before.txt")
	require.NoError(t, err)
	require.NotEmpty(t, pairs)
	for _, before := range pairs {
		after := strings.Replace(before, ".before.", ".after.", 1)
		file := write(t, filepath.Base(before), read(t, before))
		out, ok := run(t, file, "", "-restart.rewrite")
		require.True(t, ok, out)
		assert.Contains(t, out, "rewritten")
		assert.Equal(t, read(t, after), read(t, file))

		out, ok = run(t, file, "")
		assert.True(t, ok, "a rewritten file must pass: %s", out)
		out, ok = run(t, file, "", "-restart.rewrite")
		assert.True(t, ok, out)
		assert.NotContains(t, out, "rewritten", "a second rewrite must change nothing")
	}
}

// A file that can't be replayed stays as it is.
func TestRewriteKeepsInvalidFiles(t *testing.T) {
	text := "phase tasks=1 slots=1 interval=1s\n0s decide task=0\n    keep not-slow\n0s fly task=0\n"
	file := write(t, "broken.txt", text)
	out, ok := run(t, file, "", "-restart.rewrite")
	assert.False(t, ok)
	assert.Contains(t, out, `line 4: got "fly"`)
	assert.Equal(t, text, read(t, file))
}

// Each file has options of its own.
func TestEachFileHasItsOptions(t *testing.T) {
	var files []string
	Run(t, "testdata/pass/*.txt", OptionsFor(func(file string) journal.Options {
		files = append(files, file)
		return journal.Options{}
	}))
	assert.Equal(t, []string{"testdata/pass/dryad.txt"}, files)
}
