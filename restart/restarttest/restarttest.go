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

// Run replays each journal that the pattern matches (see [filepath.Glob]) as a subtest, and fails at the first answer
// that differs from the one in the file, with the facts that the policy was given. (Among these are some that the
// policies of package restart do not read, and which a tracker keeps for a host's own policy only.) It is an error if
// the pattern matches nothing, or if a journal holds no decision.
func Run(t *testing.T, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{}, pattern)
}

// RunPolicy is Run with a policy that takes the place of the one that each journal names; nil leaves that one. It
// stops at the first answer that differs, so it is for journals that were written for the policy. Where the policy
// that was recorded has acted before this one, the test fails and says so, since what follows is the other's doing;
// see [Touched].
func RunPolicy(t *testing.T, policy restart.Policy, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{Policy: policy}, pattern)
}

// RunOptions is Run with options, for journals of which parts are custom. Configure is called twice for a phase of a
// journal that fails, and OnDecision not at all.
func RunOptions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	RunFiles(t, func(string) journal.Options { return o }, pattern)
}

// RunFiles is RunOptions with options for each file, whose path it is given: for journals beside which stands what they
// don't hold, such as a record of machines as it was when the phase began.
func RunFiles(t *testing.T, options func(file string) journal.Options, pattern string) {
	t.Helper()
	runFiles(t, options, pattern, whole)
}

// RunActions is RunOptions, but compares of each decision only the action, the task and the attempt: a parameter may
// change reasons and numbers as long as the same is done.
func RunActions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	runFiles(t, func(string) journal.Options { return o }, pattern, actions)
}

func runFiles(t *testing.T, options func(file string) journal.Options, pattern string, of func(answer string) string) {
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
			if fault := check(file, data, o, of); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// rewriteFile puts the present answers into the file. It leaves a file alone in which nothing changes.
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
		t.Fatalf("%s: no event in the journal asks for a decision", file)
	case foreign(file, data, o) != "":
		t.Fatal(foreign(file, data, o))
	case bytes.Equal(fresh, data):
		return
	}
	if err := os.WriteFile(file, fresh, 0o666); err != nil {
		t.Fatalf("restarttest: %v", err)
	}
	t.Logf("%s: rewritten", file)
}
