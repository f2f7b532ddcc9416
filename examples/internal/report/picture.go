package report

import (
	"errors"
	"html/template"
	"io"
)

// The sizes of a picture, in pixels.
const (
	pictureWidth = 880
	lanePitch    = 15
	margin       = 20
	headHeight   = 44 // height of the line above a panel
	legendHeight = 50
)

// panel is one half of a picture: the phase without a policy, or with it.
type panel struct {
	Text              string // title, and time of the phase
	Y, Top, Low, Ends float64
	Bars              template.HTML
}

// SVG draws the phase that the first policy changes most, as a picture that needs no other file. The picture has one
// lane for each slot, without action above, and under the first policy below, with the same scale. Its colours fit a
// light or a dark page, as the viewer prefers.
func (r *Report) SVG(w io.Writer) error {
	if len(r.Schedules) == 0 || r.Schedules[0].Seconds[0] <= 0 {
		return errors.New("there is nothing to draw: no phase has a straggler on which the first policy could act")
	}
	s := &r.Schedules[0]
	end, height, low := max(s.Seconds[0], s.Seconds[1]), float64(s.Lanes*lanePitch), 0.0
	panels := []panel{{Text: "without a policy: " + Span(s.Seconds[0])}, {Text: "with " + s.Policy + ": " + s.after()}}
	for i, bars := range [][]Bar{s.Before, s.After} {
		drawn, _ := lay(bars, s.Lanes, end)
		p := &panels[i]
		p.Y, p.Top, p.Bars, p.Ends = low+headHeight-14, low+headHeight, drawn.part(), timelineWidth*s.Seconds[i]/end
		low += headHeight + height
		p.Low = low
	}
	t, err := template.ParseFS(files, "page/picture.svg")
	if err != nil {
		return err
	}
	return t.Execute(w, map[string]any{
		"Width": pictureWidth, "Height": low + legendHeight, "Left": margin, "Panels": panels, "Lanes": laneHeight * s.Lanes,
		"ScaleX": (pictureWidth - 2*margin) / float64(timelineWidth), "ScaleY": lanePitch / float64(laneHeight),
		"Legend": low + 19, "LegendText": low + 31,
	})
}
