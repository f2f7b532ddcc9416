package report

import (
	"embed"
	"html/template"
	"io"
	"reflect"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/compare"
)

//go:embed page
var files embed.FS

// view has all data of the template: the model and its pictures.
type view struct {
	*Report
	Chained   bool
	Style     template.CSS
	Script    template.JS
	Warmth    *chart
	Timelines []pictures
	Lines     []line
	Rows      []Phase
	Hidden    int // number of phases that are not in Rows
}

// pictures are the two pictures of a phase.
type pictures struct {
	Schedule
	Row           Phase
	Before, After *chart
}

// line is a policy in the chart of the policies. Note is the reason for the line.
type line struct {
	Name, Note  string
	Time, Slots bar
}

// bar is a time in the chart of the policies, as a share of the longest bar.
type bar struct {
	Share float64
	Text  string
}

const (
	mostRows = 100 // largest number of phases in the table of the page
	mostName = 60  // largest number of characters of a name from a log
)

// HTML writes the report as one page. It needs no network and no other file. Names from logs are escaped.
func (r *Report) HTML(w io.Writer) error {
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	script, err := files.ReadFile("page/script.js")
	if err != nil {
		return err
	}
	t, err := template.New("page.tmpl").Funcs(template.FuncMap{
		"span": Span, "spanIn": SpanIn, "most": most, "percent": Percent, "saved": saved, "change": Change, "figure": Figure.change, "won": won,
		"main": mainCause, "short": short, "named": named,
		"words": func(cause string) string { return plain[cause].noun },
	}).ParseFS(files, "page/page.tmpl")
	if err != nil {
		return err
	}
	p := view{Report: r, Chained: r.Input.Chained > 0, Style: template.CSS(style), Script: template.JS(script)}
	p.draw()
	return t.Execute(w, p)
}

// most returns the largest value of a field, such as Wasted.Mean, in a list of structs, so that a column of a table has
// one unit.
func most(list any, field string) (largest float64) {
	rows := reflect.ValueOf(list)
	for i := range rows.Len() {
		value := rows.Index(i)
		for name := range strings.SplitSeq(field, ".") {
			value = value.FieldByName(name)
		}
		largest = max(largest, value.Float())
	}
	return largest
}

// draw makes the pictures, and chooses the policies and phases to show.
func (p *view) draw() {
	p.Warmth = warmth(p.Report)
	p.Rows = p.Phases[:min(len(p.Phases), mostRows)]
	p.Hidden = p.PhasesLeftOut + len(p.Phases) - len(p.Rows)
	p.compare()
	for _, s := range p.Schedules {
		drawn := pictures{Schedule: s}
		for _, row := range p.Phases {
			if row.ID == s.Phase {
				drawn.Row = row
			}
		}
		drawn.Before, drawn.After = timelines(s)
		p.Timelines = append(p.Timelines, drawn)
	}
}

// compare draws the chart of the policies: the first policy, the policy of the engine's own setting, and the best.
func (p *view) compare() {
	p.Lines = []line{{"no action", "", bar{1, Span(p.NoAction.Time)}, bar{1, Span(p.NoAction.Used)}}}
	best, most := p.best(), 1.0
	for i, policy := range p.Policies {
		var notes []string
		if policy.Name == compare.Entries()[0].Name {
			notes = append(notes, "the library's default")
		}
		if p.Setting != nil && p.Setting.Policy == policy.Name {
			notes = append(notes, p.Setting.Engine+"'s own setting")
		}
		if policy.Name == best.Name && gains(policy.All.Mean) {
			notes = append(notes, "saves most time")
		}
		if len(notes) == 0 && i > 0 {
			continue
		}
		time, slots := policy.All.Mean, policy.Resource.Mean
		most = max(most, 1-time, 1-slots)
		p.Lines = append(p.Lines, line{
			policy.Name, strings.Join(notes, "; "),
			bar{1 - time, Span(policy.Time.Mean) + ", " + compared(time)},
			bar{1 - slots, Span(policy.Used.Mean) + ", " + compared(slots)},
		})
	}
	for i := range p.Lines {
		p.Lines[i].Time.Share /= most
		p.Lines[i].Slots.Share /= most
	}
}

// short cuts the middle out of a long name from a log.
func short(name string) string {
	if len(name) <= mostName {
		return name
	}
	runes := []rune(name)
	if len(runes) <= mostName {
		return name
	}
	const tail = mostName / 3
	return string(runes[:mostName-tail]) + "…" + string(runes[len(runes)-tail:])
}
