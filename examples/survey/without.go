package main

import (
	"bytes"
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

	"github.com/straggler-go/straggler/examples/internal/worlds"
)

// library is the module with the rules.
const library = "github.com/straggler-go/straggler"

// edit replaces a text of a file of the library, wherever the text stands.
type edit struct{ file, old, new string }

// rulesOfDefault lists rules of the default policy, each with the change of the source that turns it off. The library
// itself has no switches. The survey compiles itself once more with the changed files (go build -overlay).
var rulesOfDefault = map[string][]edit{
	"pair": {{"restart/cost.go", "odds := float64(w.long * w.likeness(&p))", "odds := w.long"}},
	"kill-one-of-several": {
		{"restart/cost.go", "if len(t.Attempts) <= t.Clones {", "if true {"}},
	"kill-old-for-copy":      {{"restart/rank.go", "i == r.oldest && r.furthest != r.oldest", "i == r.oldest && r.furthest < 0"}},
	"evenness":               {{"restart/tracker/even.go", "most := ev.shown >=", "most := ev.shown < 0 && ev.shown >="}},
	"stall-weight":           {{"restart/tracker/facts.go", "p.StallWeight = stallWeight", "p.StallWeight = 0 * stallWeight"}},
	"loss-bound":             {{"restart/leastcost.go", "loses >= most {", "loses >= most && loses < 0 {"}},
	"stuck":                  {{"restart/leastcost.go", "if w.stuck && d.Action", "if p.Tasks < 0 && d.Action"}},
	"bound-of-fresh":         {{"restart/cost.go", "f = min(point(&t.Fresh, j, freshPoints), longest)", "f = point(&t.Fresh, j, freshPoints)"}},
	"old-place":              {{"restart/cost.go", "w.moved = place(t.Fresh.Location) / place(w.oldest.Location)", "w.moved = 1"}},
	"longest":                {{"restart/cost.go", "longest > 0 && whole > longest {", "longest < 0 && whole > longest {"}},
	"restart-without-a-copy": {{"restart/leastcost.go", "return max(provenTrials, provenRatio*p.Trials.Lost)", "return provenTrials * provenRatio * 1e9"}},
	"idle-silent-copy":       {{"restart/cost.go", "< float64(num.Half*w.age)/place(w.oldest.Location)", "< 0"}},
	"old-before-first-end":   {{"restart/cost.go", "return t.Longest <= 0", "return t.Longest < 0"}},
	"one-open-trial":         {{"restart/leastcost.go", "p.Trials.AtRisk > 0:", "p.Trials.AtRisk < 0:"}},
	"slow-machine-win":       {{"restart/trials.go", "float64(slowPlace*place(task.Fresh.Location))", "math.Inf(1)*slowPlace"}},
	"stands-still":           {{"restart/tracker/forecast.go", "> at/stillPart", "> at"}},
	"stands-out":             {{"restart/tracker/forecast.go", "return total > bar &&", "return total < 0 &&"}},
	"part-of-a-lost-trial":   {{"restart/cost.go", "return like / (1 + like)", "return max(1, like)"}},
	"early-wins":             {{"restart/trials.go", "!x.SlowMachine && wins(task, i)", "!x.SlowMachine && wins(task, i) && i < 0"}},
	"own-age":                {{"restart/tracker/facts.go", "x.facts.fresh.Set(&x.ages.curve, oldest.Seconds()/scale)", "x.facts.fresh.Set(&x.ages.curve, 0*oldest.Seconds())"}},
	"suspects":               {{"restart/tracker/suspects.go", "return chance <= hardlyChance", "return chance < 0 && hardlyChance > 0"}},
	"beaten-machine":         {{"restart/tracker/decide.go", "x.book.now < x.fleet.beatenUntil(machine) {", "x.book.now < noTime {"}},
}

// overlay writes the changed files of the rules to a directory, and a list of them for go build. It returns the list.
func overlay(dir string, names []string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", library).Output()
	if err != nil {
		return "", fmt.Errorf("-without compiles the library, and finds no source of it: %w", err)
	}
	changed := map[string]string{} // by path
	for _, name := range names {
		changes, ok := rulesOfDefault[name]
		if !ok {
			return "", fmt.Errorf("-without: there is no rule %q; there are %s", name,
				strings.Join(slices.Sorted(maps.Keys(rulesOfDefault)), ", "))
		}
		for _, c := range changes {
			path := filepath.Join(strings.TrimSpace(string(root)), filepath.FromSlash(c.file))
			text, ok := changed[path]
			if !ok {
				data, err := os.ReadFile(path)
				if err != nil {
					return "", err
				}
				text = string(data)
			}
			if !strings.Contains(text, c.old) {
				return "", fmt.Errorf("-without: the rule %s is turned off at %q, which %s no longer has: change rulesOfDefault",
					name, c.old, c.file)
			}
			changed[path] = strings.ReplaceAll(text, c.old, c.new)
		}
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
		groups = slices.Sorted(maps.Keys(rulesOfDefault))
	}
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	figures := filepath.Join(dir, "figures.csv")
	args := []string{"-policy", "least-cost", "-phases", strconv.Itoa(o.phases), "-seeds", strconv.Itoa(o.seeds), "-progress", o.models}
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
		var cells []worlds.Cell
		for _, key := range f.keys {
			c := f.cells[key]
			c.Players = []worlds.Share{f.of[key]["default"]}
			cells = append(cells, c)
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, of := range [][]worlds.Cell{cells, only(cells, silent)} {
			v := worlds.Judge(of, 0, []worlds.Player{{Name: "default"}})
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
