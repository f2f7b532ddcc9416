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

// Option is a choice of [Run].
type Option func(*choices)

// choices are the choices of one Run.
type choices struct {
	policy   restart.Policy
	options  func(file string) journal.Options
	compared func(answer string) string // the part of an answer that must be equal
}

// Policy replaces the policy of each journal. Nil replaces nothing. The test stops at the first answer that
// differs, so use journals that were written for the policy. If the recorded policy has acted before this policy
// did, the test fails and says so, because the later events follow from the recorded policy's action; see
// [Touched].
func Policy(p restart.Policy) Option { return func(c *choices) { c.policy = p } }

// Options sets the options of the replay, for journals with custom values. Configure is called a second time for
// the phases of a journal that fails. OnDecision and OnAnswer are not called.
func Options(o journal.Options) Option {
	return OptionsFor(func(string) journal.Options { return o })
}

// OptionsFor is Options with options for each file, whose path is the argument. Use it if values that a journal
// can't hold stand in other files, such as the record of machines from the beginning of the phase.
func OptionsFor(options func(file string) journal.Options) Option {
	return func(c *choices) { c.options = options }
}

// OnlyActions compares only the action, the task and the attempt of a decision. So a new value of a parameter may
// change reasons and numbers as long as the actions are equal.
func OnlyActions() Option { return func(c *choices) { c.compared = actions } }

// Run replays each journal that the pattern matches (see [filepath.Glob]) as a subtest. The test fails at the
// first answer that differs from the file, and shows the facts that the policy got. A tracker keeps some facts
// only for a custom policy. For other policies these facts are shown as unknown. The test also fails if the
// pattern matches nothing, or if a journal holds no decision. Run costs one replay of each journal, and a second
// one to show a difference.
func Run(t *testing.T, pattern string, options ...Option) {
	t.Helper()
	c := choices{options: func(string) journal.Options { return journal.Options{} }, compared: whole}
	for _, option := range options {
		option(&c)
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("restarttest: pattern %q: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("restarttest: no file matches %q", pattern)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			o := c.options(file)
			if c.policy != nil {
				o.Policy = c.policy
			}
			if *rewrite {
				rewriteFile(t, file, o)
				return
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("restarttest: %v", err)
			}
			if fault := check(file, data, o, c.compared); fault != "" {
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
	o.OnDecision, o.OnAnswer = nil, nil
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
