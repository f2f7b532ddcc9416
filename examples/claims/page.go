package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func writeTable(w io.Writer, outcomes []outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROW\tTIER\tMEASURE\tPAPER\tBAND\tMEASURED\tSPREAD\tVERDICT")
	for _, o := range outcomes {
		if len(o.Figures) == 0 {
			fmt.Fprintf(t, "%s\t%s\t\t\t\t\t\t%s: %s\n", o.ID, o.Tier, o.Verdict, o.Note)
		}
		for i, f := range o.Figures {
			id, tier, verdict := "", "", ""
			if i == 0 {
				id, tier, verdict = o.ID, string(o.Tier), o.Verdict
			}
			mark := ""
			if !f.Inside {
				mark = " !"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s%s\t%s\t%s\n",
				id, tier, f.Name, f.Paper, f.Band, f.text, mark, spread(f, o.Seeds), verdict)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+summary(outcomes))
	return err
}

func spread(f figure, seeds int) string {
	if seeds < 2 {
		return ""
	}
	return fmt.Sprintf("%.2g", f.Spread)
}

// summary counts the verdicts by tier.
func summary(outcomes []outcome) string {
	var parts []string
	for _, t := range []struct {
		tier tier
		name string
	}{{exact, "exact"}, {inBand, "in a band"}, {direction, "direction"}, {reported, "reported"}} {
		all, good := 0, 0
		for _, o := range outcomes {
			if o.Tier == t.tier {
				all++
				if o.Verdict == shown {
					good++
				}
			}
		}
		switch {
		case all == 0:
		case t.tier == reported:
			parts = append(parts, fmt.Sprintf("%d stated without a verdict", all))
		default:
			parts = append(parts, fmt.Sprintf("%s (%s): %d of %d shown", t.tier, t.name, good, all))
		}
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

const pageHead = `# What the papers claim, and what comes out here

Written by ` + "`%s`" + ` in ` + "`examples`" + `: do not edit it by hand.

Each row is a figure that a paper states in its text or in a table. **A** rows are formulas or worked examples and match
to the precision in print. **B** rows are experiments with luck: the mean over the seeds must lie in a band that was fixed
before. **C** rows rest on private hardware or traces; only their direction is asked for. **R** rows are stated without a
verdict. Experiments run on a simulated cluster (` + "`examples/internal/cluster`" + `) that asks the library for every decision; no
model was bent towards a number. What a paper leaves open has the value that other figures of it imply, or is varied, and
the notes say so. What falls outside is listed as outside, with what looking has shown.

A seed is one repetition; of rows that vary much and cost little, several. It seeds the workload, and what befalls each
copy of a task is a draw that belongs to the seed, the task and the copy. Seeds are independent of each other, and the same
seeds make the same table. Rows are judged by their mean over the seeds, and **Spread** is the standard deviation between
them; rows without luck run once. Nobody looked at seeds 6001 to 6020 while rows were developed.

`

// command is the one that makes the page.
func (o options) command() string {
	s := fmt.Sprintf("go run ./claims -page ../docs/claims.md -seed %d", o.seed)
	if o.seeds != defaultSeeds {
		s += fmt.Sprintf(" -seeds %d", o.seeds)
	}
	return s
}

func writePage(name string, outcomes []outcome, o options) error {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, o.command())
	fmt.Fprintf(&b, "Seeds %d to %d. %s\n", o.seed, o.seed+uint64(o.seeds)-1, summary(outcomes))
	for _, p := range papers {
		fmt.Fprintf(&b, "\n## %s\n\n", p.name)
		b.WriteString("| Row | Where | Measure | Paper | Band | Measured | Spread | Verdict |\n|---|---|---|---|---|---|---|---|\n")
		var notes []string
		for _, o := range outcomes {
			if !strings.HasPrefix(o.ID, p.prefix) {
				continue
			}
			writeRow(&b, o)
			if o.Note != "" {
				notes = append(notes, fmt.Sprintf("- **%s** %s", o.ID, o.Note))
			}
		}
		if len(notes) > 0 {
			fmt.Fprintf(&b, "\n%s\n", strings.Join(notes, "\n"))
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

func writeRow(b *strings.Builder, o outcome) {
	if len(o.Figures) == 0 {
		fmt.Fprintf(b, "| %s (%s) | %s | %s | | | | | %s |\n", o.ID, o.Tier, o.Where, o.Claim, o.Verdict)
	}
	for i, f := range o.Figures {
		id, where, verdict := "", "", ""
		if i == 0 {
			id, where, verdict = fmt.Sprintf("%s (%s)", o.ID, o.Tier), o.Where, o.Verdict
		}
		measured := f.text
		if !f.Inside {
			measured = "**" + measured + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			id, where, f.Name, f.Paper, f.Band, measured, spread(f, o.Seeds), verdict)
	}
}
