package report

import (
	"embed"
	"html/template"
	"io"
	"math"
	"strings"
)

//go:embed page
var files embed.FS

// view has all data of the template: the model and its pictures.
type view struct {
	*Report
	Chained   bool
	Style     template.CSS
	Script    template.JS
	Far       float64 // the largest change of a policy, as a share
	Slowdowns *chart
	Warmth    *chart
	Timelines []pictures
	Line      string // the report in one line, to be copied
}

type pictures struct {
	Schedule
	Row    Phase
	Before *chart
	After  *chart
}

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
		"span": Span, "percent": Percent, "change": Change, "figure": Figure.change, "won": won, "main": mainCause,
		"times100": func(share float64) float64 { return 100 * share },
		"pair": func(p view, reduction float64, class string) any {
			return struct {
				Value, Part float64
				Class       string
			}{reduction, p.part(reduction), class}
		},
	}).ParseFS(files, "page/page.tmpl")
	if err != nil {
		return err
	}
	p := view{Report: r, Chained: r.Input.Chained > 0, Style: template.CSS(style), Script: template.JS(script)}
	p.draw()
	return t.Execute(w, p)
}

// draw makes the pictures.
func (p *view) draw() {
	p.Slowdowns, p.Warmth, p.Line = slowdowns(p.Report), warmth(p.Heat), p.line()
	for _, policy := range p.Policies {
		p.Far = max(p.Far, math.Abs(policy.All.Mean), math.Abs(policy.Resource.Mean))
	}
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

// part returns the width of the bar of a change, in percent. The largest change has 50 %.
func (p *view) part(reduction float64) float64 {
	if p.Far == 0 {
		return 0
	}
	return 50 * math.Abs(reduction) / p.Far
}

// line returns the report as one line of text.
func (r *Report) line() string {
	parts := []string{r.Input.Name}
	if r.Input.Engine != "" {
		parts = append(parts, r.Input.Engine)
	}
	if r.Input.Began != "" {
		parts = append(parts, r.Input.Began)
	}
	return strings.Join(parts, ", ") + ": " + r.Headline
}
