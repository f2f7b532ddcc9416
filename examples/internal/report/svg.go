package report

import (
	"fmt"
	"html/template"
	"strings"
)

// picture is an SVG picture, with a size in units. It has no text, and its width stretches with the page. The axis is
// text below the picture, so that it can be read at any width. The text of a bar or cell is in its attribute data-d.
// The script of the page shows this text on hover, on touch, and with the arrow keys.
type picture struct {
	text   strings.Builder
	width  float64
	height float64
}

func newPicture(width, height float64, class, title, description string) *picture {
	p := &picture{width: width, height: height}
	fmt.Fprintf(&p.text, `<svg class="%s" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img"><title>%s</title><desc>%s</desc>`,
		class, width, height, template.HTMLEscapeString(title), template.HTMLEscapeString(description))
	return p
}

// rect draws a rectangle of a class. what is its text for the user; empty for none.
func (p *picture) rect(x, y, width, height float64, class, what string) {
	fmt.Fprintf(&p.text, `<rect x="%.5g" y="%.5g" width="%.4g" height="%.4g" class="%s"`, x, y, max(width, 1), height, class)
	if what != "" {
		fmt.Fprintf(&p.text, ` data-d="%s"`, template.HTMLEscapeString(what))
	}
	p.text.WriteString("/>")
}

func (p *picture) html() template.HTML { return template.HTML(p.text.String() + "</svg>") }

// axis returns the labels of five ticks, evenly spaced from 0 to the end.
func axis(end float64, write func(float64) string) []string {
	const ticks = 4
	labels := make([]string, 0, ticks+1)
	for k := range ticks + 1 {
		labels = append(labels, write(end*float64(k)/ticks))
	}
	return labels
}

// secondsAs returns a function that writes times in the unit of the end of an axis.
func secondsAs(end float64) func(float64) string {
	switch {
	case end < 120:
		return func(s float64) string { return fmt.Sprintf("%.3g s", s) }
	case end < 2*3600:
		return func(s float64) string { return fmt.Sprintf("%.3g min", s/60) }
	case end < 3*86400:
		return func(s float64) string { return fmt.Sprintf("%.3g h", s/3600) }
	}
	return func(s float64) string { return fmt.Sprintf("%.4g d", s/86400) }
}

// hotness returns the class of a cell of the heat map. ratio is the time of its tasks divided by the median of their
// phases.
func hotness(ratio float64) string {
	for i, bar := range []float64{1.2, 1.5, 2, 3} {
		if ratio <= bar {
			return fmt.Sprintf("h%d", i)
		}
	}
	return "h4"
}
