package report

import (
	"embed"
	"html/template"
	"io"
)

//go:embed page
var files embed.FS

// view is what the template reads: the model, and the pictures of it.
type view struct {
	*Report
	Chained   bool
	Style     template.CSS
	Script    template.JS
	Savings   template.HTML
	Slowdowns template.HTML
	Timelines []pictures
}

type pictures struct {
	Schedule
	Row    Phase
	Before template.HTML
	After  template.HTML
}

// HTML writes the report as one page that needs nothing else: no network, no other file. Names from logs are escaped.
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
		"span": Span, "percent": Percent, "change": Change, "figure": Figure.change, "won": won,
		"saved": func(was, is float64) float64 {
			if was == 0 {
				return 0
			}
			return (was - is) / was
		},
	}).ParseFS(files, "page/page.tmpl")
	if err != nil {
		return err
	}
	p := view{Report: r, Chained: r.Input.Chained > 0, Style: template.CSS(style), Script: template.JS(script)}
	if err := p.draw(); err != nil {
		return err
	}
	return t.Execute(w, p)
}

func (p *view) draw() (err error) {
	if len(p.Policies) > 0 {
		if p.Savings, err = savings(p.Report); err != nil {
			return err
		}
	}
	if len(p.Slowdown) > 0 {
		if p.Slowdowns, err = slowdowns(p.Report); err != nil {
			return err
		}
	}
	for _, s := range p.Schedules {
		drawn := pictures{Schedule: s}
		for _, row := range p.Phases {
			if row.ID == s.Phase {
				drawn.Row = row
			}
		}
		if drawn.Before, drawn.After, err = timelines(s); err != nil {
			return err
		}
		p.Timelines = append(p.Timelines, drawn)
	}
	return nil
}
