package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// writeTable prints the table, the counts of verdicts, and the legend.
func writeTable(w io.Writer, outcomes []outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROW\tTIER\tMEASURE\tPAPER\tBAND\tMEASURED\tERROR\tFIGURE\tVERDICT")
	for _, o := range outcomes {
		if len(o.Figures) == 0 {
			fmt.Fprintf(t, "%s\t%s\t\t\t\t\t\t\t%s: %s\n", o.ID, o.Tier, o.Verdict, o.Note)
		}
		for i, f := range o.Figures {
			id, tier, verdict := "", "", ""
			if i == 0 {
				id, tier, verdict = o.ID, string(o.Tier), o.Verdict
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				id, tier, f.Name, f.Paper, f.Band, f.text, f.error(), f.standing(), verdict)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+summary(outcomes)+legend)
	return err
}

// legend explains the verdicts.
const legend = `
shown: the mean and two standard errors on either side are in the band. at the edge: an edge of the band is within two
standard errors of the mean. outside: the mean is further away. docs/claims.md explains the rows.`

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

var papers = []struct{ prefix, name string }{
	{"L", "LATE: Zaharia et al., *Improving MapReduce Performance in Heterogeneous Environments*, OSDI 2008"},
	{"M", "Mantri: Ananthanarayanan et al., *Reining in the Outliers in Map-Reduce Clusters using Mantri*, OSDI 2010"},
	{"D", "Dolly: Ananthanarayanan et al., *Effective Straggler Mitigation: Attack of the Clones*, NSDI 2013"},
	{"H", "FAIR: Zaharia et al., *Job Scheduling for Multi-User MapReduce Clusters*, UCB/EECS-2009-55"},
	{"S", "DynamicShare: Zacheilas and Kalogeraki, *Real-Time Scheduling of Skewed MapReduce Jobs*, ICAC 2014"},
}

const pageTop = `# The figures of the papers, and the figures of this library

Written by ` + "`%s`" + ` in ` + "`examples`" + `: do not edit it by hand.

## The headlines of the papers

Each sentence is from an abstract or an introduction. Its verdict is that of the figures beside it, which a row below explains.

`

const pageHead = `
## How to read the rows

This page compares the five papers' figures with figures of this library. Each row is a figure, or a contrast, that a paper
states in its text or in a table. **A** rows are formulas or worked examples, and match to the precision in print. **B** rows are
experiments with luck, on a simulated cluster (` + "`examples/internal/cluster`" + `) that asks the library for every decision.

Each figure has a band, in which the measured figure must be. The band is the paper's figure, plus or minus

- 8 points for a share, or half of the share if it is below 16 %;
- 10 % for a ratio, a time or a count;
- 5 % for a figure that the paper calls flat.

The band of a gain has no losses. If the paper states only a direction, the band has only one edge.

- **shown**: the mean and two standard errors on either side are in the band.
- **at the edge**: an edge of the band is within two standard errors of the mean, so other seeds may give another verdict.
- **outside**: the mean is further away. The note under the table gives the reason and the tries.
- **calibrated**: an input of the row was chosen to get this figure. The figure proves nothing, and is not judged.

A row is as bad as the worst of its judged figures. Lines without a paper's figure help to read the other lines. Models are
calibrated only where a line says so. No input was changed to move a judged figure into its band.

A seed is one repetition, or several for rows that vary much and cost little. The seed decides the workload. The luck of an
attempt is a draw that belongs to the seed, the task and the number of the attempt, so policies are compared on the same luck.
The same seeds make the same table.

![A line for each row with random numbers, and a dot for each figure. The grey band is the band around the paper's figure. Dots beside it are outside of the band.](claims.svg)

` + "`go run ./claims -svg ../docs/claims.svg -from ../docs/claims.md`" + ` draws this picture of
the B rows. All bands have the same width there. If a band has one edge, a figure far from this edge is in the middle.
`

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
	fmt.Fprintf(&b, pageTop, o.command())
	writeHeadlines(&b, outcomes, again)
	b.WriteString(pageHead)
	rows := outcomes
	if again != nil {
		b.WriteString(twice(outcomes, again, o))
		rows = append([]outcome(nil), outcomes...)
		for i := range rows {
			rows[i].Verdict = both(rows[i].Verdict, again[i].Verdict)
		}
	}
	fmt.Fprintf(&b, "\nThe seeds begin at %d. %s\n\n%s\n", o.seed, counted(rows, o), summary(rows))
	for _, p := range papers {
		fmt.Fprintf(&b, "\n## %s\n\n", p.name)
		b.WriteString("| Row | Where | Measure | Paper | Band | Measured | ± s.e. | Again | Figure |\n" +
			"|---|---|---|---|---|---|---|---|---|\n")
		var said []string
		for i, o := range rows {
			if !strings.HasPrefix(o.ID, p.prefix) {
				continue
			}
			var second []figure
			if again != nil {
				second = again[i].Figures
			}
			writeRow(&b, o, second)
			if o.Note != "" {
				said = append(said, fmt.Sprintf("- **%s** %s", o.ID, o.Note))
			}
		}
		if len(said) > 0 {
			fmt.Fprintf(&b, "\n%s\n", strings.Join(said, "\n"))
		}
	}
	b.WriteString(leftOut)
	return os.WriteFile(name, []byte(b.String()), 0o644)
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
