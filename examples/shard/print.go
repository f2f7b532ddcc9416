package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// calls are the arguments of go test, one call after the other.
func (s *shard) calls(flags []string) (calls [][]string) {
	whole := append([]string{"test"}, flags...)
	fixed := len(whole)
	for _, p := range s.parts {
		if p.whole {
			whole = append(whole, p.pkg)
		} else {
			calls = append(calls, append(append([]string{"test"}, flags...), p.pattern(), p.pkg))
		}
	}
	if len(whole) > fixed {
		calls = append(calls, whole)
	}
	return calls
}

// pattern picks the part's tests, each with all tests within it. Of a package that is cut one part skips what the
// others run, so that what nobody knows of runs there.
func (p *part) pattern() string {
	flag, tests := "-run", p.tests
	if p.rest {
		flag, tests = "-skip", p.others
	}
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t.name)
	}
	slices.Sort(names)
	return flag + "=^(" + strings.Join(names, "|") + ")$"
}

// script is a line of shell that runs a shard, its calls beside each other, and all of it even if a part fails.
func (s *shard) script(flags []string) string {
	begin, end := "", ""
	calls := s.calls(flags)
	for i, call := range calls {
		words := []string{"go"}
		for _, word := range call {
			words = append(words, quote(word))
		}
		if len(calls) == 1 {
			return strings.Join(words, " ")
		}
		begin += fmt.Sprintf("%s & p%d=$!; ", strings.Join(words, " "), i)
		end += fmt.Sprintf("wait $p%d || failed=1; ", i)
	}
	if len(calls) == 0 {
		return "true"
	}
	return "failed=0; " + begin + end + "exit $failed"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// quote makes a word of shell.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func printLines(out io.Writer, r *report) error {
	for i := range r.shards {
		fmt.Fprintln(out, r.shards[i].script(r.flags))
	}
	return nil
}

// row is a shard for machines to read.
type row struct {
	Shard   string     `json:"shard"`
	Machine string     `json:"machine"`
	Seconds float64    `json:"seconds"`
	Run     string     `json:"run"`
	Calls   [][]string `json:"calls,omitempty"`
}

func (r *report) rows() (rows []row) {
	for i := range r.shards {
		s := &r.shards[i]
		number := fmt.Sprintf("%d/%d", i+1, len(r.shards))
		rows = append(rows, row{Shard: number, Machine: s.name, Seconds: rounded(s.end), Run: s.script(r.flags)})
	}
	return rows
}

func rounded(seconds float64) float64 { return float64(int64(seconds*10+.5)) / 10 }

// printMatrix prints what a workflow takes by fromJSON as its matrix.
func printMatrix(out io.Writer, r *report) error {
	return json.NewEncoder(out).Encode(map[string][]row{"include": r.rows()})
}

func printJSON(out io.Writer, r *report) error {
	rows := r.rows()
	for i := range rows {
		rows[i].Calls = r.shards[i].calls(r.flags)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Seconds  float64 `json:"seconds"`
		Earliest float64 `json:"earliest"`
		Floor    float64 `json:"floor"`
		Package  string  `json:"floor_package"`
		Test     string  `json:"floor_test,omitempty"`
		Enough   int     `json:"machines_enough,omitempty"`
		Shards   []row   `json:"shards"`
	}{rounded(r.seconds), rounded(r.earliest), rounded(r.floor), r.longest.pkg, r.longest.test, r.enough, rows})
}

// notable is from which factor on a slow machine is named.
const notable = 1.1

func printText(out io.Writer, r *report) error {
	guessed := 0
	for _, s := range r.suites {
		if !s.known && s.fixed > 0 {
			guessed++
		}
	}
	switch {
	case len(r.runs) == 0:
		fmt.Fprintln(out, "No history: packages are taken to take as long as they have lines of tests. "+
			"To learn: go test -json ./... | shard record")
	case guessed > 0:
		fmt.Fprintf(out, "New, and so guessed: %s.\n", count(guessed, "package"))
	}
	for i := range r.shards {
		s := &r.shards[i]
		fmt.Fprintf(out, "shard %d/%d  %-8s %s  %s\n", i+1, len(r.shards), duration(s.end), s.name, s.contents())
	}
	for i, s := range r.shards {
		if s.factor > notable && !slices.ContainsFunc(r.shards[:i], func(q shard) bool { return q.name == s.name }) {
			fmt.Fprintf(out, "What runs on %s takes %.2g times as long as usual.\n", s.name, s.factor)
		}
	}
	fmt.Fprintf(out, "All are through after %s, one machine after %s; these machines can't be before %s.\n",
		duration(r.seconds), duration(r.one), duration(r.earliest))
	fmt.Fprintln(out, r.sentence())
	if off := r.off(); off != "" {
		fmt.Fprintln(out, off)
	}
	return nil
}

func (s *shard) contents() string {
	whole, pieces := 0, []string{}
	for _, p := range s.parts {
		if p.whole {
			whole++
		} else {
			all := count(len(p.suite.tests), "test")
			pieces = append(pieces, fmt.Sprintf("%d of %s of %s", len(p.tests), all, p.pkg))
		}
	}
	if whole > 0 || len(pieces) == 0 {
		pieces = append(pieces, count(whole, "package"))
	}
	return strings.Join(pieces, ", ")
}

// sentence says how many machines are enough, and why.
func (r *report) sentence() string {
	what := r.longest.pkg
	if r.longest.test != "" {
		what = r.longest.test + " of " + what
	}
	why := fmt.Sprintf("%s alone takes %s", what, duration(r.floor))
	for _, s := range r.suites {
		if s.pkg == r.longest.pkg && r.longest.test == "" && len(s.tests) < 2 && s.known {
			why += ", and the times of its tests are not known"
		}
	}
	switch r.enough {
	case 0:
		return fmt.Sprintf("Even %d machines gain something: %s.", mostMachines, why)
	case 1:
		return fmt.Sprintf("One machine is enough: %s.", why)
	}
	return fmt.Sprintf("%s machines are enough: %s.", word(r.enough), why)
}

func word(n int) string {
	words := []string{"Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"}
	if n >= 2 && n-2 < len(words) {
		return words[n-2]
	}
	return strconv.Itoa(n)
}

// off says how far off the last run was: its slowest machine, against what was said to be the slowest.
func (m *model) off() string {
	order := m.order()
	if len(order) == 0 {
		return ""
	}
	last := whole(order[len(order)-1])
	said, wall := 0., 0.
	for _, id := range order {
		if r := m.runs[id]; whole(id) == last {
			said, wall = max(said, r.said), max(wall, r.wall)
		}
	}
	if said == 0 || wall == 0 {
		return ""
	}
	off := 100 * (wall/said - 1)
	return fmt.Sprintf("The last run took %s where %s was said (%+.0f%%).", duration(wall), duration(said), off)
}
