package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ink is a colour that a style sheet may change: a plot is drawn with a stand-in, and the stand-in is replaced by a
// variable of the page, so that a picture follows the reader's light or dark mode.
type ink struct {
	stand color.RGBA
	name  string
}

// The page's colours.
var inks = map[string]ink{
	"text":        {color.RGBA{1, 1, 1, 255}, "--text"},
	"rule":        {color.RGBA{2, 2, 2, 255}, "--rule"},
	kindTask:      {color.RGBA{3, 3, 3, 255}, "--task"},
	kindStraggler: {color.RGBA{4, 4, 4, 255}, "--straggler"},
	kindCopy:      {color.RGBA{5, 5, 5, 255}, "--copy"},
	kindFailed:    {color.RGBA{6, 6, 6, 255}, "--failed"},
	kindKilled:    {color.RGBA{7, 7, 7, 255}, "--killed"},
	"accent":      {color.RGBA{8, 8, 8, 255}, "--accent"},
	"second":      {color.RGBA{9, 9, 9, 255}, "--second"},
	"third":       {color.RGBA{10, 10, 10, 255}, "--third"},
	"fourth":      {color.RGBA{11, 11, 11, 255}, "--fourth"},
}

func paint(name string) color.Color { return inks[name].stand }

// newPlot returns an empty plot in the page's colours.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the page's
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = paint("rule")
		axis.Tick.Color = paint("rule")
		axis.Label.TextStyle.Color = paint("text")
		axis.Tick.Label.Color = paint("text")
		axis.Label.TextStyle.Font.Size = vg.Points(11)
		axis.Tick.Label.Font.Size = vg.Points(10)
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	return p
}

var (
	size  = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)
	prose = regexp.MustCompile(`font-family:[^;"]*`)
	names = regexp.MustCompile(`<\?xml[^>]*\?>|<!--[^>]*-->|<!DOCTYPE[^>]*>`)
)

// vector draws a plot as SVG that stands in a page: it scales, takes the page's font and colours, and carries a title and
// a description for those who can't see it.
func vector(p *plot.Plot, width, height float64, title, description string) (template.HTML, error) {
	canvas := vgsvg.New(font.Length(width), font.Length(height))
	const margin = 14 // for labels that stand at the end of an axis
	p.Draw(draw.Crop(draw.New(canvas), 0, -margin, 0, -4))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	svg := names.ReplaceAllString(out.String(), "")
	svg = prose.ReplaceAllString(svg, "font-family:Arial,Liberation Sans,Helvetica,sans-serif") // as wide as it was laid out
	for _, i := range inks {
		svg = strings.ReplaceAll(svg, fmt.Sprintf("#%02X%02X%02X", i.stand.R, i.stand.G, i.stand.B), "var("+i.name+")")
	}
	svg = size.ReplaceAllString(svg, `<svg role="img"`)
	end := strings.Index(svg, ">") + 1
	if end == 0 {
		return "", fmt.Errorf("the plot %q is no picture", title)
	}
	label := "<title>" + template.HTMLEscapeString(title) + "</title><desc>" + template.HTMLEscapeString(description) + "</desc>"
	return template.HTML(strings.TrimSpace(svg[:end] + label + svg[end:])), nil
}
