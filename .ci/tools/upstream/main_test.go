package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const table = "| test | subtests | outcome |\n|---|---:|---|\n| `TestA` | | passes |\n| `TestB` | 1 | passes |\n" +
	"| `TestB/that is (no)` | | skipped: why |\n| `TestC` | | skipped: why |\n"

func read(t *testing.T, text string) rows {
	t.Helper()
	name := filepath.Join(t.TempDir(), "table.md")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readTable(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The table is compared with what upstream has, and with what came out.
func TestCompare(t *testing.T) {
	names := []string{"TestA", "TestB", "TestC"}
	passed := outcomes{"TestA": "pass", "TestB": "pass", "TestB/x": "pass"}
	more := outcomes{"TestA": "pass", "TestB": "pass", "TestB/x": "pass", "TestB/y": "pass"}
	for what, c := range map[string]struct {
		table string
		names []string
		is    outcomes
		fine  bool
	}{
		"as it came out":        {table, names, passed, true},
		"a test fails":          {table, names, outcomes{"TestA": "fail", "TestB": "pass", "TestB/x": "pass"}, false},
		"a test did not run":    {table, names, outcomes{"TestB": "pass", "TestB/x": "pass"}, false},
		"a subtest is new":      {table, names, more, false},
		"a test is new":         {table, append(names, "TestD"), passed, false},
		"upstream has it not":   {table, names[:2], passed, false},
		"subtests are not said": {strings.Replace(table, "| 1 |", "| |", 1), names, passed, false},
	} {
		if err := read(t, c.table).compare(c.names, c.is); (err == nil) != c.fine {
			t.Errorf("%s: %v", what, err)
		}
	}
	if is, want := read(t, table).skipped(), `^TestB$/^that_is_\(no\)$|^TestC$`; is != want {
		t.Errorf("skips %s, want %s", is, want)
	}
}

// Functions that need what the fake does not declare are left out, with all that call them.
func TestAdapt(t *testing.T) {
	source := `package job
import (
	"testing"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/features"
)
func setup() {}
func gang() { controller.Make() }
func TestGang(t *testing.T) { gang() }
func TestOther(t *testing.T) { setup(); _ = features.On }
`
	is, tests, err := adapt([]byte(source), []byte("package jobs\nconst featuresOn = 1\nfunc setup() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(tests, " ") != "TestGang TestOther" {
		t.Error(tests)
	}
	for text, want := range map[string]bool{
		"func TestOther": true, "_ = featuresOn": true, "\"testing\"": true, "package jobs": true,
		"func TestGang": false, "func gang": false, "func setup": false, "k8s.io": false,
	} {
		if strings.Contains(string(is), text) != want {
			t.Errorf("%q: want %v in\n%s", text, want, is)
		}
	}
}
