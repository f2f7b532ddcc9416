package report

import (
	"fmt"
	"html/template"
	"strings"
)

// picture is a part of an SVG, with a size in units. It has no text beside the titles of its rectangles, which are the
// texts of the bars or cells.
type picture struct {
	text   strings.Builder
	width  float64
	height float64
}

// rect draws a rectangle of a class. what is its title.
func (p *picture) rect(x, y, width, height float64, class, what string) {
	fmt.Fprintf(&p.text, `<rect x="%.5g" y="%.5g" width="%.4g" height="%.4g" class="%s"><title>%s</title></rect>`,
		x, y, max(width, 1), height, class, template.HTMLEscapeString(printable(what)))
}

// printable returns the text without the characters that XML does not allow.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0xFFFE || c == 0xFFFF {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, ""))
}

// part returns the rectangles.
func (p *picture) part() template.HTML { return template.HTML(p.text.String()) }

// html returns the picture as an element of a page, whose width stretches with the page. The axis is text below the
// picture, so that it can be read at any width. The script of the page shows the title of a rectangle on hover, on
// touch, and with the arrow keys.
func (p *picture) html(class, title, description string) template.HTML {
	return template.HTML(fmt.Sprintf(
		`<svg class="%s" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img"><title>%s</title><desc>%s</desc>%s</svg>`,
		class, p.width, p.height, template.HTMLEscapeString(title), template.HTMLEscapeString(description), &p.text))
}

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
