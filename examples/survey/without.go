package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/straggler-go/straggler/examples/internal/worlds"
)

// library is the module with the rules.
const library = "github.com/straggler-go/straggler"

// edit replaces a text of a file of the library, wherever the text stands.
type edit struct{ File, Old, New string }

//go:embed rules.json
var rulesText []byte

// rulesOfDefault lists rules of the default policy, each with the change of the source that turns it off. The library
// itself has no switches. The survey compiles itself once more with the changed files (go build -overlay).
var rulesOfDefault = sync.OnceValue(func() (rules map[string]edit) {
	if err := json.Unmarshal(rulesText, &rules); err != nil {
		panic(err)
	}
	return rules
})

// overlay writes the changed files of the rules to a directory, and a list of them for go build. It returns the list.
func overlay(dir string, names []string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", library).Output()
	if err != nil {
		return "", fmt.Errorf("-without compiles the library, and finds no source of it: %w", err)
	}
	changed := map[string]string{} // by path
	for _, name := range names {
		c, ok := rulesOfDefault()[name]
		if !ok {
			return "", fmt.Errorf("-without: there is no rule %q; there are %s", name,
				strings.Join(slices.Sorted(maps.Keys(rulesOfDefault())), ", "))
		}
		path := filepath.Join(strings.TrimSpace(string(root)), filepath.FromSlash(c.File))
		text, ok := changed[path]
		if !ok {
			data, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(data)
		}
		if !strings.Contains(text, c.Old) {
			return "", fmt.Errorf("-without: the rule %s is turned off at %q, which %s no longer has: change rules.json",
				name, c.Old, c.File)
		}
		changed[path] = strings.ReplaceAll(text, c.Old, c.New)
	}
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(changed)) {
		list.Replace[path] = filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(list.Replace[path], []byte(changed[path]), 0o600); err != nil {
			return "", err
		}
	}
	data, _ := json.Marshal(list) // strings always marshal
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// surveyWithout compiles the survey without the rules, runs it with the arguments, and returns its output.
func surveyWithout(dir string, names []string, args ...string) (string, error) {
	list, err := overlay(dir, names)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "survey")
	build := exec.Command("go", "build", "-overlay", list, "-o", program, library+"/examples/survey")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("without %s: %w\n%s", strings.Join(names, " and "), err, out)
	}
	out, err := exec.Command(program, args...).Output()
	return string(out), err
}

// without writes a table of rules of the default policy: what changes if the survey of worlds, or of logs, runs without
// a rule. Rules are separated by commas. Rules joined by + are left out together; "all" stands for each rule alone.
func (o options) without(w io.Writer) error {
	groups := strings.Split(o.leaves, ",")
	if o.leaves == "all" {
		groups = slices.Sorted(maps.Keys(rulesOfDefault()))
	}
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	figures := filepath.Join(dir, "figures.csv")
	args := []string{"-policies", "least-cost", "-phases", strconv.Itoa(o.phases), "-seeds", strconv.Itoa(o.seeds), "-progress", o.models}
	args = append(args, o.logs...)
	if o.worlds {
		args = []string{"-worlds", "-list", o.small.list, "-set", o.small.set, "-seeds", strconv.Itoa(o.seeds), "-noise",
			strconv.FormatFloat(o.small.noise, 'g', -1, 64), "-cells", o.small.cells, "-policies", "default", "-csv", figures}
	}
	var whole bytes.Buffer
	if err := run(args, &whole); err != nil {
		return err
	}
	row := func(name, output string) error {
		if !o.worlds {
			_, err := fmt.Fprintf(w, "| %s %s\n", name, meanOf(output))
			return err
		}
		f, err := readFigures(figures)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, of := range [][]worlds.Cell{f.cells, only(f.cells, silent)} {
			v := worlds.Judge(of, 0, f.players)
			fmt.Fprintf(w, " %d | %.2f/%.2f | %.1f/%.1f | %d |", v.Cells, v.Mean.Time, v.Mean.Slots, v.Excess.Time, v.Excess.Slots, v.Harm)
		}
		_, err = fmt.Fprintln(w)
		return err
	}
	if o.worlds {
		fmt.Fprint(w, "\n| without | cells | mean | excess | harm | silent cells | mean | excess | harm |\n|---|---|---|---|---|---|---|---|---|\n")
	} else {
		models := strings.Split(o.models, ",")
		fmt.Fprintf(w, "\n| without | %s |\n|---|%s\n", strings.Join(models, " | "), strings.Repeat("---|", len(models)))
	}
	if err := row("no rule", whole.String()); err != nil {
		return err
	}
	for _, group := range groups {
		output, err := surveyWithout(dir, strings.Split(group, "+"), args...)
		if err != nil {
			return err
		}
		if err := row(group, output); err != nil {
			return err
		}
	}
	return nil
}

// meanOf returns the cells of the row of means in the first table of a survey of logs.
func meanOf(output string) string {
	_, rest, _ := strings.Cut(output, "| *mean* ")
	row, _, _ := strings.Cut(rest, "\n")
	return row
}
