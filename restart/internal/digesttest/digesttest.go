// Package digesttest checks that a change keeps every answer of the library. A test plays many cases: journals, random
// worlds, games of a scheduler that crashes. A case writes all answers and actions as text. A committed file, the digest,
// has a line for each case: the name of the case, and hashes of its text. A line that differs names the case whose
// answers have changed.
//
// An ordinary run plays some of the cases, and a run with STRAGGLER_LIVES plays all. These commands rewrite the digest,
// and print the text of a case, to compare it between two worktrees:
//
//	go test ./restart/engine -run Digest -digest.rewrite
//	go test ./restart/engine -run Digest -digest.print crash/017 -v
//
// The functions [Decision], [Answer] and so on write a fixed list of fields by hand. So a field that is added later
// changes no digest. If a field moves, change the function that writes it, and keep its name in the text.
package digesttest

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var (
	rewrite = flag.Bool("digest.rewrite", false, "write the digest of the present answers")
	printed = flag.String("digest.print", "", "print the text of the case with this name")
)

// Case is one case of a digest.
type Case struct {
	Name string
	// Play writes the answers and actions of the case. A case of a phase also writes the events that the phase's
	// tracker gets, with their answers. The two texts have separate hashes, because a host sees only the answers.
	Play func(t *testing.T, answers, events *Text)
}

// mostNames is the largest number of changed cases that a failed test names.
const mostNames = 40

// Run plays the cases, and compares their hashes with the lines of the file. If STRAGGLER_LIVES is not set, Run plays
// only the first of every so many cases.
func Run(t *testing.T, file string, every int, cases []Case) {
	t.Helper()
	if *printed != "" {
		show(t, cases)
		return
	}
	all := *rewrite || os.Getenv("STRAGGLER_LIVES") != ""
	if all {
		every = 1
	}
	data, err := os.ReadFile(file)
	if err != nil && !*rewrite {
		t.Fatalf("digest: %v", err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		want[strings.TrimSuffix(line, "\n")] = true
	}
	if len(want) != len(cases) && !*rewrite {
		t.Fatalf("digest: %s has %d lines, want one for each of %d cases; -digest.rewrite writes them", file, len(want), len(cases))
	}
	var fresh bytes.Buffer
	var changed []string
	for i := 0; i < len(cases); i += every {
		line := play(t, &cases[i])
		if !want[line] {
			changed = append(changed, cases[i].Name)
		}
		fmt.Fprintln(&fresh, line)
	}
	switch {
	case *rewrite:
		if err := os.WriteFile(file, fresh.Bytes(), 0o666); err != nil {
			t.Fatalf("digest: %v", err)
		}
		t.Logf("%s: %d of %d cases have changed: %s", file, len(changed), len(cases), list(changed))
	case len(changed) > 0:
		t.Errorf("%s: %d of %d played cases give other answers. Compare what -digest.print NAME -v prints here and in a worktree "+
			"of an older commit: %s", file, len(changed), (len(cases)+every-1)/every, list(changed))
	}
}

// play plays a case, and returns its line of the digest.
func play(t *testing.T, c *Case) string {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("digest: the case %s has failed", c.Name)
		}
	}()
	var answers, events Text
	c.Play(t, &answers, &events)
	line := c.Name + " " + hash(answers.b)
	if len(events.b) > 0 {
		line += " " + hash(events.b)
	}
	return line
}

// hash returns the first 64 bits of the SHA-256 of a text.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%x", sum[:8])
}

// list joins names. It cuts off a list that is too long.
func list(names []string) string {
	if len(names) > mostNames {
		return strings.Join(names[:mostNames], " ") + " ..."
	}
	return strings.Join(names, " ")
}

// show prints the text of the case that the flag names.
func show(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if c.Name == *printed {
			var answers, events Text
			c.Play(t, &answers, &events)
			fmt.Printf("%s%s", answers.b, events.b)
			return
		}
	}
	t.Skipf("the digest has no case %q", *printed)
}
