// Package svg draws the tables of pages as pictures. A picture is drawn from the text of the table, as Markdown, so
// that a test can draw the picture of a page again without the simulation behind the table. It has colours for light
// and for dark pages.
package svg

import (
	"fmt"
	"html"
	"strings"
)

// Picture is a picture that is being drawn. Lengths are in units, of which the width has a stated number.
type Picture struct {
	text strings.Builder
}

// style has the colours: g is a gain, h is harm, and the digit is how much.
const style = `
  .page { fill: #ffffff } text { fill: #1f2328 } .soft { fill: #59636e } .grid { stroke: #d1d9e0 } .band { fill: #eaeef2 }
  .g4 { fill: #0a3069 } .g3 { fill: #0969da } .g2 { fill: #54aeff } .g1 { fill: #b6e3ff } .none { fill: #eaeef2 }
  .h1 { fill: #ffc1ba } .h2 { fill: #ff8182 } .h3 { fill: #a40e26 } .mark { fill: #1f2328 } .ring { fill: none; stroke: #1f2328 }
  .good { fill: #0969da } .edge { fill: #bf8700 } .bad { fill: #cf222e } .whisker { stroke: #59636e }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .soft { fill: #9198a1 } .grid { stroke: #3d444d } .band { fill: #212830 }
    .g4 { fill: #cae8ff } .g3 { fill: #79c0ff } .g2 { fill: #388bfd } .g1 { fill: #0c2d6b } .none { fill: #212830 }
    .h1 { fill: #78191b } .h2 { fill: #da3633 } .h3 { fill: #ffa198 } .mark { fill: #e6edf3 } .ring { stroke: #e6edf3 }
    .good { fill: #58a6ff } .edge { fill: #d29922 } .bad { fill: #f85149 } .whisker { stroke: #9198a1 }
  }
`

// New returns an empty picture. The title and the description are for people who do not see it.
func New(width, height float64, title, description string) *Picture {
	p := &Picture{}
	fmt.Fprintf(&p.text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="system-ui, sans-serif" font-size="12">
<title>%s</title>
<desc>%s</desc>
<style>%s</style>
<rect class="page" width="%g" height="%g"/>
`, width, height, html.EscapeString(title), html.EscapeString(description), style, width, height)
	return p
}

// Text writes a text that begins at a point, or with the anchor "end" or "middle" lies before it or around it.
func (p *Picture) Text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(&p.text, `<text x="%.4g" y="%.4g" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class,
		html.EscapeString(text))
}

// Slanted writes a text that rises from a point.
func (p *Picture) Slanted(x, y float64, text string) {
	fmt.Fprintf(&p.text, `<text transform="translate(%.4g %.4g) rotate(-45)">%s</text>`+"\n", x, y,
		html.EscapeString(text))
}

// Rect draws a rectangle. A pointer on it shows the text what, if there is one.
func (p *Picture) Rect(x, y, width, height float64, class, what string) {
	fmt.Fprintf(&p.text, `<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" class="%s">%s</rect>`+"\n", x, y, width,
		height, class, tip(what))
}

// Squares draws squares of one size and class, at their upper left corners. It takes a tenth of the text of rectangles.
func (p *Picture) Squares(corners [][2]float64, side float64, class string) {
	fmt.Fprintf(&p.text, `<path class="%s" d="`, class)
	for _, at := range corners {
		fmt.Fprintf(&p.text, "M%.4g %.4gh%.4gv%.4gh-%.4gz", at[0], at[1], side, side, side)
	}
	p.text.WriteString("\"/>\n")
}

// Dot draws a circle.
func (p *Picture) Dot(x, y, radius float64, class, what string) {
	fmt.Fprintf(&p.text, `<circle cx="%.4g" cy="%.4g" r="%.4g" class="%s">%s</circle>`+"\n", x, y, radius, class,
		tip(what))
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&p.text, `<line x1="%.4g" y1="%.4g" x2="%.4g" y2="%.4g" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func tip(what string) string {
	if what == "" {
		return ""
	}
	return "<title>" + html.EscapeString(what) + "</title>"
}

// Bytes returns the picture.
func (p *Picture) Bytes() []byte { return []byte(p.text.String() + "</svg>\n") }

// Table returns the columns and the rows of each table of a page whose first columns are the given ones. Each row has a
// cell for each column.
func Table(page string, first ...string) (columns []string, rows [][]string) {
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) >= len(first) && strings.Join(cells[:len(first)], "|") == strings.Join(first, "|"):
			inside, columns = true, cells
		case inside && !strings.HasPrefix(cells[0], "---"):
			rows = append(rows, append(cells, make([]string, max(len(columns)-len(cells), 0))...))
		}
	}
	return columns, rows
}
