package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// headline is a sentence of a paper's abstract or introduction, with the figures of a row that come nearest to it.
type headline struct {
	Paper, Where, Sentence string
	Row                    string
	Figures                []int  // indexes in the measures of the row
	Why                    string // why it is not shown, in a few words
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
		why := ""
		if verdict != shown {
			verdict, why = "**"+verdict+"**", h.Why
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s %s | %s | %s |\n", h.Paper, h.Where, h.Sentence, h.Row, verdict,
			strings.Join(figures, "; "), why)
	}
}
