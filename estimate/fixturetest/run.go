// Package fixturetest runs worked examples of any room. A worked example is a text file that people can read, and that
// is a test as well. Use it to keep a case of production as a unit test, for a room without journals. For the events of
// a tracker, use package restarttest.
//
//	# Comments say what happens and why.
//	offer at=4s level=1
//	    wait delayed level=1 allowed=0 next-level-in=11s
//
// A line without indentation is a command with arguments. The indented lines after it are the answer. A test gives a
// function that carries out the commands:
//
//	func TestFixtures(t *testing.T) {
//		fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
//			job := policy.Start(time.Unix(0, 0))
//			return func(command string, args *fixturetest.Args) string {
//				switch command {
//				case "offer":
//					return job.Offer(time.Unix(0, 0).Add(args.Duration("at")), args.Int("level")).String()
//				}
//				return args.Fail()
//			}
//		})
//	}
//
// If the tests run with the flag -rewrite, they write the present answers into the files. Commit only answers that you
// understand.
package fixturetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the answers of the fixtures anew")

const indent = "    "

// Host executes the commands of one file, and returns the answer to each command.
type Host func(command string, args *Args) string

// Run reads each file that matches the pattern, creates a new host for the file, and executes its commands. The
// test fails if the answers of the host differ from the answers in the file.
func Run(t *testing.T, pattern string, start func(t *testing.T) Host) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text), start(t))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("run with -rewrite if the change is meant; %s is now:\n%s", file, got)
			}
		})
	}
}

// play returns the text of a file in which the answers of the host replace the present answers.
func play(t *testing.T, text string, host Host) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, indent) {
			continue // this line is an answer
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
