package restarttest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
)

var rewrite = flag.Bool("restart.rewrite", false, "rewrite the answers in the journals that restarttest runs")

// Run replays each journal that the pattern matches (see [filepath.Glob]) as a subtest. The test fails at the
// first answer that differs from the file, and shows the facts that the policy got. A tracker keeps some facts
// only for a custom policy. For other policies these facts are shown as unknown. The test also fails if the
// pattern matches nothing, or if a journal holds no decision. It costs one replay of each journal, and a second
// one to show a difference.
func Run(t *testing.T, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{}, pattern)
}

// RunPolicy is Run with a policy that replaces the policy of each journal. A nil policy replaces nothing. The
// test stops at the first answer that differs, so use journals that were written for the policy. If the
// recorded policy has acted before this policy did, the test fails and says so, because the later events follow
// from the recorded policy's action; see [Touched].
func RunPolicy(t *testing.T, policy restart.Policy, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{Policy: policy}, pattern)
}

// RunOptions is Run with options, for journals with custom values. Configure is called a second time for the
// phases of a journal that fails. OnDecision is not called.
func RunOptions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	RunFiles(t, func(string) journal.Options { return o }, pattern)
}

// RunFiles is RunOptions with options for each file, whose path is the argument. Use it if values that a
// journal can't hold stand in other files, such as the record of machines from the beginning of the phase.
func RunFiles(t *testing.T, options func(file string) journal.Options, pattern string) {
	t.Helper()
	runFiles(t, options, pattern, whole)
}

// RunActions is RunOptions, but it compares only the action, the task and the attempt of a decision. So a new
// value of a parameter may change reasons and numbers as long as the actions are equal.
func RunActions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	runFiles(t, func(string) journal.Options { return o }, pattern, actions)
}

func runFiles(t *testing.T, options func(file string) journal.Options, pattern string, compared func(answer string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("restarttest: pattern %q: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("restarttest: no file matches %q", pattern)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			o := options(file)
			if *rewrite {
				rewriteFile(t, file, o)
				return
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("restarttest: %v", err)
			}
			if fault := check(file, data, o, compared); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// rewriteFile writes the present answers into the file. It does not write a file in which nothing changes.
func rewriteFile(t *testing.T, file string, o journal.Options) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("restarttest: %v", err)
	}
	o.OnDecision = nil
	fresh, err := journal.Replay(data, o)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", file, err)
	case !decides(fresh):
		t.Fatalf("%s: no event of the journal asks for a decision, want at least one", file)
	case actedByOther(file, data, o) != "":
		t.Fatal(actedByOther(file, data, o))
	case bytes.Equal(fresh, data):
		return
	}
	if err := os.WriteFile(file, fresh, 0o666); err != nil {
		t.Fatalf("restarttest: %v", err)
	}
	t.Logf("%s: rewritten", file)
}
