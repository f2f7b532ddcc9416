package straggler_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// cluster is a stand-in for the host of the README's example.
type cluster struct{}

func (cluster) Launch(id int, avoid restart.MachineSet) { fmt.Println("launch a copy of", id) }
func (cluster) Kill(id, attempt int)                    { fmt.Println("kill attempt", attempt, "of", id) }
func (cluster) Queue(id int, avoid restart.MachineSet) {
	fmt.Println("queue", id, "again, not on 7:", avoid.Has(7))
}

type logger struct{}

func (logger) Info(_, _ string, id int, _ string, d restart.Decision) {
	fmt.Println("task", id, "-", d)
}

// The example of the README prints the lines that the README shows.
func Example() {
	const id = 325
	var host cluster
	var log logger
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 10 {
		times.Finish(estimate.NoSample, estimate.Run{Age: 55 * time.Second, Work: 64 << 20})
	}

	// For each progress report: the facts go in, and an action with its reason comes out. The default policy decides.
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 40 * time.Second, Remaining: 110 * time.Second}},
		Fresh:    estimate.Fresh{UnitTime: times, Work: 64 << 20}, // how long a new attempt would take: a distribution
	}
	phase := restart.Phase{Interval: 10 * time.Second, Waiting: 12}

	d := restart.Decide(task, phase)
	switch d.Action {
	case restart.Keep:
	case restart.Copy:
		host.Launch(id, d.Avoid)
	case restart.Restart:
		host.Kill(id, d.Attempt)
		host.Queue(id, d.Avoid)
	case restart.Kill:
		host.Kill(id, d.Attempt) // one of several attempts, which is not needed
	}
	log.Info("straggler", "task", id, "decision", d) // restart fresh-sooner attempt=0 remaining=110s fresh=55s slot-seconds=165 threshold=82.5 gain=55s avoid=7

	fmt.Println(d.Sentence())
	// Output:
	// kill attempt 0 of 325
	// queue 325 again, not on 7: true
	// task 325 - restart fresh-sooner attempt=0 remaining=110s fresh=55s slot-seconds=165 threshold=82.5 gain=55s avoid=7
	// restarted: it still needs 110 s, and a new attempt takes 55 s; to let it run costs 165 s of slot time, and the cheapest change 82.5 s
}

// The README quotes the example above, line by line.
func TestReadmeExampleIsCompiled(t *testing.T) {
	code, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(readme), "```go\nimport (")
	require.True(t, found, "the README has the example")
	block, _, _ = strings.Cut(block, "```")
	imports, body, found := strings.Cut(block, ")\n")
	require.True(t, found)
	for _, part := range []string{imports, body} {
		assert.Contains(t, unindented(string(code)), unindented(part))
	}
	_, says, found := strings.Cut(body, "d) // ")
	require.True(t, found)
	assert.Contains(t, string(code), "// task 325 - "+says, "the comment in the README is the line that the example prints")
	assert.LessOrEqual(t, strings.Count(block, "\n"), 25, "the example fits on a screen")
	_, sentence, found := strings.Cut(string(readme), "`d.Sentence()` says it in words:\n\n> ")
	require.True(t, found)
	sentence, _, _ = strings.Cut(sentence, "\n\n")
	assert.Contains(t, string(code), "// "+strings.ReplaceAll(sentence, "\n> ", " "))
}

// unindented leaves out indentation and blank lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}
