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

// rewrite is the flag with which tests write the present answers into the journals.
var rewrite = flag.Bool("restart.rewrite", false, "rewrite the answers in the journals that restarttest runs")

// Run replays each journal whose path matches the pattern (see [filepath.Glob]) as a subtest. The test fails at the
// first answer that differs from the file. The failure shows the facts that the policy received. A tracker keeps some
// facts only for a custom policy; for other policies these facts are shown as unknown. The test also fails if no file
// matches the pattern, or if a journal contains no decision. Run replays each journal once, and a second time if an
// answer differs.
func Run(t *testing.T, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{}, pattern)
}

// RunPolicy does the same as Run, but uses the given policy in place of the policy of each journal. With a nil
// policy, the policy of the journal is used. The test stops at the first answer that differs, so use journals that
// were written for the given policy. The test also fails if the recorded policy has acted on a task before the given
// policy did, because the later events are an effect of that action; see [Touched].
func RunPolicy(t *testing.T, policy restart.Policy, pattern string) {
	t.Helper()
	RunOptions(t, journal.Options{Policy: policy}, pattern)
}

// RunOptions does the same as Run, with options for journals that have custom values. If a journal fails, Configure
// is called a second time for the phases of the journal. OnDecision is not called.
func RunOptions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	RunFiles(t, func(string) journal.Options { return o }, pattern)
}

// RunFiles does the same as RunOptions, with options for each file. The argument of the function options is the path
// of the file. Use it if other files contain values that a journal cannot contain, such as the record of machines
// from the beginning of the phase.
func RunFiles(t *testing.T, options func(file string) journal.Options, pattern string) {
	t.Helper()
	runFiles(t, options, pattern, whole)
}

// RunActions does the same as RunOptions, but compares only the action, the task and the attempt of each decision. So
// after a change of a parameter, reasons and numbers may differ as long as the actions are equal.
func RunActions(t *testing.T, o journal.Options, pattern string) {
	t.Helper()
	runFiles(t, func(string) journal.Options { return o }, pattern, actions)
}

// runFiles runs a subtest for each file. The function compared returns the part of an answer that is compared.
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

// rewriteFile replaces the answers in the file by the present answers. If no answer has changed, the file is not
// written.
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
