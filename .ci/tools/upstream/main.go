// Command upstream runs Kubernetes' own integration tests of Jobs against the controller of restart/engine/kubernetes, and
// compares how they come out with a table.
//
//	upstream [-all] [-run REGEXP] VERSION TABLE FAKE DIRECTORY
//
// It fetches k8s.io/kubernetes at the version, adapts test/integration/job/job_test.go, and compiles it into the controller's
// package, which is in the directory, with the API server of the file FAKE. Nothing is written to the checkout: the go command
// is given an overlay. With -all the skipped tests run, too. With -run only some tests run, and the table is not compared.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const suite = "test/integration/job/job_test.go"

func main() {
	all := flag.Bool("all", false, "run the skipped tests, too")
	some := flag.String("run", "", "run these tests alone, and compare nothing")
	flag.Parse()
	if flag.NArg() != 4 {
		fmt.Fprintln(os.Stderr, "usage: upstream [-all] [-run REGEXP] VERSION TABLE FAKE DIRECTORY")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), flag.Arg(2), flag.Arg(3), *some, *all); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

func run(version, table, fake, dir, some string, all bool) error {
	rows, err := readTable(table)
	if err != nil {
		return err
	}
	from, err := fetch(version)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "upstream")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	names, err := prepare(filepath.Join(from, suite), fake, dir, tmp)
	if err != nil {
		return err
	}
	args := []string{"test", "-json", "-overlay", filepath.Join(tmp, "overlay.json"), "-timeout", "40m", "-count", "1"}
	if some != "" {
		args = append(args, "-run", some)
	}
	if skip := rows.skipped(); skip != "" && !all {
		args = append(args, "-skip", skip)
	}
	outcomes, err := test(dir, args)
	if err != nil {
		return err
	}
	if some != "" || all {
		return outcomes.print()
	}
	return rows.compare(names, outcomes)
}

// fetch has the go command fetch Kubernetes, and returns where its source lies.
func fetch(version string) (dir string, err error) {
	c := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	c.Env = append(os.Environ(), "GOWORK=off", "GO111MODULE=on")
	c.Dir = os.TempDir()
	out, err := c.Output()
	var is struct{ Dir, Error string }
	if wrong := json.Unmarshal(out, &is); wrong == nil && is.Error != "" {
		return "", errors.New(is.Error)
	}
	return is.Dir, err
}

// prepare writes the overlay, and returns the names of the tests that upstream has.
func prepare(suite, fake, dir, tmp string) (tests []string, err error) {
	source, err := os.ReadFile(suite)
	if err != nil {
		return nil, err
	}
	stand, err := os.ReadFile(fake)
	if err != nil {
		return nil, err
	}
	adapted, tests, err := adapt(source, stand)
	if err != nil {
		return nil, err
	}
	failure, err := os.ReadFile(filepath.Join(dir, "failure.go"))
	if err != nil {
		return nil, err
	}
	const fixed, varied = "const (\n\tfirstBackoff", "var (\n\tfirstBackoff"
	if !bytes.Contains(failure, []byte(fixed)) {
		return nil, errors.New("failure.go has no constant firstBackoff, which the tests have to shorten")
	}
	failure = bytes.Replace(failure, []byte(fixed), []byte(varied), 1)
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	overlay := map[string]string{}
	own, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range own {
		if filepath.Base(name) != "police_test.go" { // what the API server refuses of a status
			overlay[name] = ""
		}
	}
	for name, text := range map[string][]byte{"upstream_test.go": adapted, "upstream_fake_test.go": stand, "failure.go": failure} {
		is := filepath.Join(tmp, name)
		if err := os.WriteFile(is, text, 0o600); err != nil {
			return nil, err
		}
		overlay[filepath.Join(dir, name)] = is
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	return tests, os.WriteFile(filepath.Join(tmp, "overlay.json"), text, 0o600)
}

// outcomes are how tests came out: pass, fail or skip, by their names.
type outcomes map[string]string

// test runs the go command, and prints what a test has said that failed.
func test(dir string, args []string) (outcomes, error) {
	c := exec.Command("go", append(args, ".")...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	is, said := outcomes{}, map[string]*strings.Builder{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text())
			continue
		}
		switch e.Action {
		case "output":
			if said[e.Test] == nil {
				said[e.Test] = &strings.Builder{}
			}
			said[e.Test].WriteString(e.Output)
		case "build-output":
			fmt.Print(e.Output)
		case "pass", "fail", "skip":
			if e.Test != "" {
				is[e.Test] = e.Action
				fmt.Printf("%s %s (%.1f s)\n", e.Action, e.Test, e.Elapsed)
			}
			if e.Action == "fail" && said[e.Test] != nil {
				fmt.Print(said[e.Test])
			}
			delete(said, e.Test)
		}
	}
	err = c.Wait()
	if len(is) > 0 { // a test that fails is for the table to judge
		for name, text := range said {
			if name != "" && is[name] == "" { // it never ended
				fmt.Print(text)
				return nil, errors.New(name + " did not end")
			}
		}
		err = nil
	}
	return is, errors.Join(err, lines.Err())
}

// print says how many tests came out how.
func (o outcomes) print() error {
	count := map[string]int{}
	for _, how := range o {
		count[how]++
	}
	fmt.Printf("%d tests and subtests pass, %d fail\n", count["pass"], count["fail"])
	if count["fail"] > 0 {
		return errors.New("a test fails")
	}
	return nil
}

// subtests counts the subtests of a test that pass.
func (o outcomes) subtests(test string) (n int) {
	for name, how := range o {
		if strings.HasPrefix(name, test+"/") && how == "pass" {
			n++
		}
	}
	return n
}

// row is a line of the table.
type row struct {
	test     string // as the go command names it
	subtests string // that pass, if it has any
	skipped  bool
}

type rows []row

// readTable reads the lines "| `test` | subtests | passes |" and "| `test` | | skipped: reason |".
func readTable(name string) (is rows, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`Test") {
			continue
		}
		how := strings.TrimSpace(cells[3])
		r := row{
			test:     strings.ReplaceAll(strings.Trim(cells[1], " `"), " ", "_"),
			subtests: strings.TrimSpace(cells[2]), skipped: strings.HasPrefix(how, "skipped: "),
		}
		if !r.skipped && how != "passes" {
			return nil, fmt.Errorf("%s: %q, want passes, or skipped: and why", r.test, how)
		}
		is = append(is, r)
	}
	if len(is) == 0 {
		return nil, fmt.Errorf("%s has no table of tests", name)
	}
	return is, nil
}

// skipped is the pattern of the tests that are skipped.
func (r rows) skipped() string {
	var all []string
	for _, row := range r {
		if row.skipped {
			parts := strings.Split(row.test, "/")
			for i := range parts {
				parts[i] = "^" + quote(parts[i]) + "$"
			}
			all = append(all, strings.Join(parts, "/"))
		}
	}
	return strings.Join(all, "|")
}

// compare holds the table against what upstream has and what has come out.
func (r rows) compare(names []string, is outcomes) error {
	var wrong []string
	known := map[string]bool{}
	for _, row := range r {
		known[row.test] = true
		top, _, isSubtest := strings.Cut(row.test, "/")
		switch passed := is.subtests(row.test); {
		case !slices.Contains(names, top):
			wrong = append(wrong, row.test+" is in the table, and upstream has no such test")
		case row.skipped || isSubtest:
		case is[row.test] != "pass":
			wrong = append(wrong, row.test+" passes by the table, and it is: "+is[row.test])
		case row.subtests != "" && row.subtests != fmt.Sprint(passed), row.subtests == "" && passed > 0:
			wrong = append(wrong, fmt.Sprintf("%s has %q subtests that pass by the table, and they are %d",
				row.test, row.subtests, passed))
		}
	}
	for _, name := range names {
		if !known[name] {
			wrong = append(wrong, name+" is not in the table")
		}
	}
	for _, text := range wrong {
		fmt.Println(text)
	}
	if len(wrong) > 0 {
		return errors.New("the table is not what came out")
	}
	return is.print()
}
