package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/words"
)

// calls returns the arguments of each call of the go command that the shard needs.
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

// pattern returns the flag of go test that selects the tests of the part, with their subtests. If a package is cut,
// one of its parts uses -skip with the tests of the other parts. So a test that the history does not know runs in
// this part.
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

// script returns a line of shell that runs the shard. Its calls run side by side, and a failed call does not stop the
// others.
func (s *shard) script(flags []string) string {
	begin, end := "", ""
	calls := s.calls(flags)
	for i, call := range calls {
		line := []string{"go"}
		for _, word := range call {
			line = append(line, quote(word))
		}
		if len(calls) == 1 {
			return strings.Join(line, " ")
		}
		begin += fmt.Sprintf("%s & p%d=$!; ", strings.Join(line, " "), i)
		end += fmt.Sprintf("wait $p%d || failed=1; ", i)
	}
	if len(calls) == 0 {
		return "true"
	}
	return "failed=0; " + begin + end + "exit $failed"
}

// plain matches the words that a shell reads unchanged without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// quote returns the word in the quotes that a shell needs.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// printLines prints a line of shell for each shard.
func printLines(out io.Writer, r *report) error {
	for i := range r.shards {
		fmt.Fprintln(out, r.shards[i].script(r.flags))
	}
	return nil
}

// row is a shard in the JSON output.
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

// rounded returns the seconds, rounded to tenths.
func rounded(seconds float64) float64 { return float64(int64(seconds*10+.5)) / 10 }

// printMatrix prints the plan as JSON for the matrix of a GitHub workflow, to be read with fromJSON.
func printMatrix(out io.Writer, r *report) error {
	return json.NewEncoder(out).Encode(map[string][]row{"include": r.rows()})
}

// printJSON prints the whole plan as JSON.
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
		Enough   int     `json:"machines_enough"`
		Shards   []row   `json:"shards"`
	}{rounded(r.seconds), rounded(r.earliest), rounded(r.floor), r.longest.pkg, r.longest.test, r.enough, rows})
}

// notable is the factor above which the text names a slow machine: it takes over 1.1 times the time of the average
// machine.
const notable = 1.1

// printText prints the plan for people: a line for each shard, then the times and the number of machines that is
// enough.
func printText(out io.Writer, r *report) error {
	guessed := 0
	for _, s := range r.suites {
		if !s.known && s.fixed > 0 {
			guessed++
		}
	}
	switch {
	case len(r.runs) == 0:
		fmt.Fprintln(out, "There is no history. The time of a package is guessed from its number of lines of tests. "+
			"To record times: go test -json ./... | shard record")
	case guessed > 0:
		fmt.Fprintf(out, "The history does not know %s: the times are guessed.\n", words.Counted(guessed, "package"))
	}
	if r.skipped > 0 {
		fmt.Fprintf(out, "No change reaches %s.\n", words.Counted(r.skipped, "further package"))
	}
	for i := range r.shards {
		s := &r.shards[i]
		fmt.Fprintf(out, "shard %d/%d  %-8s %s  %s\n", i+1, len(r.shards), duration(s.end), s.name, s.contents())
	}
	for i, s := range r.shards {
		if s.factor > notable && !slices.ContainsFunc(r.shards[:i], func(q shard) bool { return q.name == s.name }) {
			fmt.Fprintf(out, "On %s, tests take %.2g times as long as on the average machine.\n", s.name, s.factor)
		}
	}
	fmt.Fprintf(out, "All machines end after %s. One machine alone would take %s. No plan for these machines ends before %s.\n",
		duration(r.seconds), duration(r.one), duration(r.earliest))
	fmt.Fprintln(out, r.sentence())
	if off := r.off(); off != "" {
		fmt.Fprintln(out, off)
	}
	return nil
}

// contents lists the packages of the shard, such as "3 of 8 tests of m/a, 2 packages".
func (s *shard) contents() string {
	whole, pieces := 0, []string{}
	for _, p := range s.parts {
		if p.whole {
			whole++
		} else {
			all := words.Counted(len(p.suite.tests), "test")
			pieces = append(pieces, fmt.Sprintf("%d of %s of %s", len(p.tests), all, p.pkg))
		}
	}
	if whole > 0 || len(pieces) == 0 {
		pieces = append(pieces, words.Counted(whole, "package"))
	}
	return strings.Join(pieces, ", ")
}

// sentence tells how many machines are enough, and which package or test is the reason.
func (r *report) sentence() string {
	if len(r.suites) == 0 {
		return "There is nothing to run."
	}
	why := fmt.Sprintf("%s alone takes %s", r.longest, duration(r.floor))
	for _, s := range r.suites {
		if s.pkg == r.longest.pkg && r.longest.test == "" && len(s.tests) < 2 && s.known {
			why += ", and the times of its tests are not known"
		}
	}
	if r.enough == 1 {
		return fmt.Sprintf("One machine is enough: %s.", why)
	}
	return fmt.Sprintf("%s machines are enough: %s.", word(r.enough), why)
}

// word returns a number from 2 to 12 as a word, such as "Two", and a larger number in digits.
func word(n int) string {
	names := []string{"Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"}
	if n >= 2 && n-2 < len(names) {
		return names[n-2]
	}
	return strconv.Itoa(n)
}

// off compares the last run with its prediction: the time of its slowest machine with the longest predicted time. It is
// empty if there is no prediction.
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
	return fmt.Sprintf("The last run took %s; the prediction was %s (%+.0f%%).", duration(wall), duration(said), off)
}
