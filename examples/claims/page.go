package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// error returns the standard error with two digits; empty if there are no random numbers.
func (f figure) error() string {
	if f.Error == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", f.Error)
}

// standing returns the verdict of the figure, or "calibrated".
func (f figure) standing() string {
	if f.Input {
		return "calibrated"
	}
	return f.Verdict
}

// summary counts the verdicts by tier.
func summary(outcomes []outcome) string {
	var parts []string
	for _, t := range []struct {
		tier tier
		name string
	}{{exact, "exact"}, {experiment, "experiments"}} {
		all, count := 0, map[string]int{}
		for _, o := range outcomes {
			if o.Tier == t.tier {
				all++
				count[o.Verdict]++
			}
		}
		if all == 0 {
			continue
		}
		part := fmt.Sprintf("%s (%s): %d of %d shown", t.tier, t.name, count[shown], all)
		for _, v := range []string{edge, outside, notRepeated} {
			if count[v] > 0 {
				part += fmt.Sprintf(", %d %s", count[v], v)
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ") + "."
}

// paper is a paper with the experiments of its rows.
type paper struct {
	prefix, name string
	runs         map[string]func(seed uint64) []float64
}

var papers = []paper{
	{"L", "LATE: Zaharia et al., *Improving MapReduce Performance in Heterogeneous Environments*, OSDI 2008", lateRuns},
	{"M", "Mantri: Ananthanarayanan et al., *Reining in the Outliers in Map-Reduce Clusters using Mantri*, OSDI 2010", mantriRuns},
	{"D", "Dolly: Ananthanarayanan et al., *Effective Straggler Mitigation: Attack of the Clones*, NSDI 2013", dollyRuns},
	{"H", "FAIR: Zaharia et al., *Job Scheduling for Multi-User MapReduce Clusters*, UCB/EECS-2009-55", fairRuns},
	{"S", "DynamicShare: Zacheilas and Kalogeraki, *Real-Time Scheduling of Skewed MapReduce Jobs*, ICAC 2014", shareRuns},
}

// pageText is the page without its tables: the headlines, and then the rows with what the seeds showed of them. COMMAND
// stands for the command that wrote the page.
//
//go:embed page.txt
var pageText string

// leftOut lists the figures of the papers without a row, and the reasons.
//
//go:embed left_out.md
var leftOut string

// command returns the command that writes the page.
func (o options) command() string {
	s := fmt.Sprintf("go run ./claims -page ../docs/claims.md -seed %d", o.seed)
	if o.again > 0 {
		s += fmt.Sprintf(" -again %d", o.again)
	}
	if o.seeds > 0 {
		s += fmt.Sprintf(" -seeds %d", o.seeds)
	}
	return s
}

// twice describes the rows about which two sets of seeds disagree.
func twice(first, second []outcome, o options) string {
	var differ []string
	for i := range first {
		if a, b := first[i].Verdict, second[i].Verdict; a != b {
			differ = append(differ, fmt.Sprintf("%s (%s, %s)", first[i].ID, a, b))
		}
	}
	s := fmt.Sprintf("\nEvery row was run on two sets of seeds that had no part in the development of the rows:\n"+
		"from %d on, and, in the column **Again**, from %d on. If the two sets disagree about a row, it is at the edge:\n",
		o.seed, o.again)
	if len(differ) == 0 {
		return s + "there is none.\n"
	}
	return s + strings.Join(differ, ", ") + ".\n"
}

// counted tells how many seeds the rows have.
func counted(outcomes []outcome, o options) string {
	usual, others := cmp.Or(o.seeds, defaultSeeds), []string(nil)
	for _, r := range outcomes {
		if r.Seeds > 1 && r.Seeds != usual {
			others = append(others, fmt.Sprintf("%s %d", r.ID, r.Seeds))
		}
	}
	text := fmt.Sprintf("A row has %d seeds", usual)
	if len(others) > 0 {
		text += ", but short rows have more, and long rows fewer: " + strings.Join(others, ", ")
	}
	return text + "."
}

// writePage writes the page in Markdown.
func writePage(name string, outcomes, again []outcome, o options) error {
	var b strings.Builder
	top, head, _ := strings.Cut(strings.Replace(pageText, "COMMAND", o.command(), 1), "<!-- headlines -->\n")
	b.WriteString(top)
	writeHeadlines(&b, outcomes, again)
	b.WriteString(head)
	rows := outcomes
	if again != nil {
		b.WriteString(twice(outcomes, again, o))
		rows = append([]outcome(nil), outcomes...)
		for i := range rows {
			rows[i].Verdict = both(rows[i].Verdict, again[i].Verdict)
		}
	}
	fmt.Fprintf(&b, "\nThe seeds begin at %d. %s\n\n%s\n", o.seed, counted(rows, o), summary(rows))
	writeRows(&b, rows, again)
	b.WriteString(leftOut)
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// writeRows writes a table for each paper with rows, and their notes. again has the rows with a second set of seeds; nil:
// there is none.
func writeRows(b *strings.Builder, rows, again []outcome) {
	for _, p := range papers {
		var said []string
		for i, o := range rows {
			if !strings.HasPrefix(o.ID, p.prefix) {
				continue
			}
			if said == nil {
				fmt.Fprintf(b, "\n## %s\n\n| Row | Where | Measure | Paper | Band | Measured | ± s.e. | Again | Figure |\n"+
					"|---|---|---|---|---|---|---|---|---|\n", p.name)
				said = []string{}
			}
			var second []figure
			if again != nil {
				second = again[i].Figures
			}
			writeRow(b, o, second)
			if o.Note != "" {
				said = append(said, fmt.Sprintf("- **%s** %s", o.ID, o.Note))
			}
		}
		if len(said) > 0 {
			fmt.Fprintf(b, "\n%s\n", strings.Join(said, "\n"))
		}
	}
}

// writeRow writes the lines of one row of the page.
func writeRow(b *strings.Builder, o outcome, second []figure) {
	title := fmt.Sprintf("%s %s (%s) **%s**", o.ID, o.Name, o.Tier, o.Verdict)
	if len(o.Figures) == 0 {
		fmt.Fprintf(b, "| %s | %s | %s | | | | | | |\n", title, o.Where, o.Claim)
	}
	for i, f := range o.Figures {
		where, repeated, standing := o.Where, "", f.standing()
		if i > 0 {
			title, where = "", ""
		}
		if second != nil {
			repeated = second[i].text
			if f.Verdict != second[i].Verdict {
				standing = fmt.Sprintf("%s; %s", f.Verdict, second[i].Verdict)
			}
		}
		if f.Verdict == outside {
			standing = "**" + standing + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			title, where, f.Name, f.Paper, f.Band, f.text, f.error(), repeated, standing)
	}
}

// headline is a sentence of a paper's abstract or introduction, with the figures of a row that come nearest to it.
type headline struct {
	Paper, Where, Sentence string
	Row                    string
	Figures                []int  // indexes in the measures of the row
	Why, Remark            string // why it is not shown, and what to know if it is, in a few words
}

//go:embed headlines.json
var headlinesText []byte

func allHeadlines() (all []headline) {
	check(json.Unmarshal(headlinesText, &all))
	return all
}

// writeHeadlines writes the table of the headlines. A headline is as bad as the worst of its figures, in both sets of
// seeds.
func writeHeadlines(b *strings.Builder, outcomes, again []outcome) {
	b.WriteString("| Paper | Section | Sentence | Verdict | Nearest figures (the paper's) | Why not |\n|---|---|---|---|---|---|\n")
	for _, h := range allHeadlines() {
		i := slices.IndexFunc(outcomes, func(o outcome) bool { return o.ID == h.Row })
		if i < 0 {
			continue // the page has only some rows
		}
		verdict, figures := shown, []string(nil)
		if len(outcomes[i].Figures) == 0 {
			verdict = outcomes[i].Verdict
		}
		for _, k := range h.Figures {
			f := outcomes[i].Figures[k]
			if f.Input {
				figures = append(figures, fmt.Sprintf("%s %s (%s, calibrated)", f.Name, f.text, f.Paper))
				continue
			}
			figures = append(figures, fmt.Sprintf("%s %s (%s)", f.Name, f.text, f.Paper))
			own := f.Verdict
			if again != nil {
				own = both(own, again[i].Figures[k].Verdict)
			}
			verdict = worse(verdict, own)
		}
		why := h.Remark
		if verdict != shown {
			verdict, why = "**"+verdict+"**", h.Why
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s %s | %s | %s |\n", h.Paper, h.Where, h.Sentence, h.Row, verdict,
			strings.Join(figures, "; "), why)
	}
}
