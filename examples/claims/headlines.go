package main

import (
	"fmt"
	"slices"
	"strings"
)

// headline is a sentence of a paper's abstract or introduction, with the figures of a row that come nearest to it.
type headline struct {
	paper, where, sentence string
	row                    string
	figures                []int  // indexes in the measures of the row
	why                    string // why it is not shown, in a few words
}

var headlines = []headline{
	{
		"LATE", "abstract", "response times of Hadoop are halved on 200 virtual machines of EC2", "L11", []int{0},
		"the load of the stragglers is not in the paper",
	},
	{
		"Mantri", "abstract", "jobs of a production cluster end 32 % sooner", "M14", nil, "Bing's cluster and logs are not public",
	},
	{
		"Mantri", "§1", "phases end 21 % and 42 % sooner at p50 and p75", "M5", []int{0, 1}, "other seeds give another verdict",
	},
	{
		"Mantri", "§1", "the next best policy gains a third of this, 6.9 % at p50", "M6", []int{0},
		"the median phase made here has no outlier to copy",
	},
	{
		"Mantri", "§1", "reduce phases end 60 % sooner by placement", "M10", []int{4},
		"the bandwidths of Bing's links are not public",
	},
	{
		"Mantri", "§1", "half of the jobs end 20 % sooner by replicas, with 1 % more traffic", "M12", []int{2, 3, 4},
		"the 20 % are calibrated; more replicas are made",
	},
	{
		"Mantri", "§1", "outliers make jobs 34 % longer at p50", "M13", []int{1}, "other seeds give another verdict",
	},
	{
		"Dolly", "abstract", "Facebook's small jobs end 46 % sooner than by LATE alone", "D4", []int{0},
		"the share of stragglers is in no paper",
	},
	{
		"Dolly", "abstract", "Bing's small jobs end 34 % sooner than by Mantri alone", "D11", []int{2}, "other seeds give another verdict",
	},
	{
		"Dolly", "abstract", "clones take 5 % more resources", "D4", []int{5}, "other seeds give another verdict",
	},
	{
		"FAIR", "abstract", "throughput grows by up to 2x", "H5", []int{3, 4, 5}, "10 jobs gain more here than in the paper",
	},
	{
		"FAIR", "abstract", "response times shrink by factors of 2 to 10", "H12", []int{0, 1},
		"one job of 6400 maps decides the wait",
	},
	{
		"DynamicShare", "abstract", "the order by laxity outperforms its competitors", "S2", []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
		"a job's need is a fixed part of its deadline",
	},
	{
		"DynamicShare", "abstract", "skewed data are spread well", "S4", []int{2}, "other seeds give another verdict",
	},
}

// writeHeadlines writes the table of the headlines. A headline is as bad as the worst of its figures, in both sets of
// seeds.
func writeHeadlines(b *strings.Builder, outcomes, again []outcome) {
	b.WriteString("| Paper | Section | Sentence | Verdict | Nearest figures (the paper's) | Why not |\n|---|---|---|---|---|---|\n")
	for _, h := range headlines {
		i := slices.IndexFunc(outcomes, func(o outcome) bool { return o.ID == h.row })
		if i < 0 {
			continue // the page has only some rows
		}
		verdict, figures := shown, []string(nil)
		if len(outcomes[i].Figures) == 0 {
			verdict = outcomes[i].Verdict
		}
		for _, k := range h.figures {
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
		why := ""
		if verdict != shown {
			verdict, why = "**"+verdict+"**", h.why
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s %s | %s | %s |\n", h.paper, h.where, h.sentence, h.row, verdict,
			strings.Join(figures, "; "), why)
	}
}
