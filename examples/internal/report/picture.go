package report

import (
	"errors"
	"html/template"
	"io"
	"math"
	"strings"
)

// The sizes of a picture, in pixels.
const (
	pictureWidth = 880
	laneHeight   = 12
	lanePitch    = 15
	margin       = 20
	headHeight   = 44 // height of the line above a panel
	legendHeight = 50
	wordWidth    = 9  // width of a letter in the legend
	wordGap      = 18 // space between the words of the legend
)

// panel is one half of a picture: the phase without a policy, or with it.
type panel struct {
	Name, Time, Less string // title, time of the phase, and the saving
	Y, Top, Low, End float64
	Bars             []drawn
}

// drawn is a bar, or a square of the legend.
type drawn struct {
	X, TextX, Y, Width, Height float64
	Kind, Title, Word          string
}

// words is the legend: the meanings of the kinds of bars.
var words = []drawn{
	{Kind: kindTask, Word: "task"}, {Kind: kindStraggler, Word: "over 1.5 times the median"},
	{Kind: kindKilled, Word: "killed or overtaken"}, {Kind: kindCopy, Word: "copy or restart"}, {Kind: kindFailed, Word: "failed"},
}

// SVG draws the phase in which stragglers cost most, as a picture that needs no other file. The picture has one lane
// for each slot, without action above, and under the first policy below, with the same scale. Its colours fit a light
// or a dark page, as the viewer prefers.
func (r *Report) SVG(w io.Writer) error {
	if len(r.Schedules) == 0 || r.Schedules[0].Seconds[0] <= 0 {
		return errors.New("there is nothing to draw: no phase has a straggler on which the first policy could act")
	}
	s := &r.Schedules[0]
	ends := s.Seconds
	scale := (pictureWidth - 2*margin) / max(ends[0], ends[1])
	panels := []panel{{Name: "without a policy"}, {Name: "with " + s.Policy}}
	y, kinds := 0.0, map[string]bool{}
	for i, bars := range [][]Bar{s.Before, s.After} {
		p := &panels[i]
		p.Time, p.Y, p.Top = Span(ends[i]), y+headHeight-14, y+headHeight
		p.Low, p.End = p.Top+float64(s.Lanes*lanePitch), tenths(margin+ends[i]*scale)
		for _, b := range bars {
			if b.Lane < s.Lanes {
				kinds[b.Kind] = true
				p.Bars = append(p.Bars, drawn{
					X: tenths(margin + b.Start*scale), Y: p.Top + float64(b.Lane*lanePitch),
					Width: tenths(max((b.End-b.Start)*scale-1, 1)), Height: laneHeight,
					Kind: b.Kind, Title: "task " + printable(b.Name) + ", " + b.Kind + ", " + Span(b.End-b.Start),
				})
			}
		}
		y = p.Low
	}
	if ends[1] < ends[0] {
		panels[1].Less = Percent(1-ends[1]/ends[0]) + " less"
	}
	var legend []drawn
	x := float64(margin)
	for _, l := range words {
		if kinds[l.Kind] {
			l.X, l.TextX = x, x+laneHeight+6
			x = l.TextX + float64(wordWidth*len(l.Word)+wordGap)
			legend = append(legend, l)
		}
	}
	t, err := template.ParseFS(files, "page/picture.svg")
	if err != nil {
		return err
	}
	return t.Execute(w, map[string]any{
		"Width": pictureWidth, "Height": y + legendHeight, "Left": margin, "Panels": panels,
		"Legend": y + 19, "LegendText": y + 31, "Legends": legend,
	})
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

// tenths rounds to one decimal.
func tenths(x float64) float64 { return math.Round(10*x) / 10 }
