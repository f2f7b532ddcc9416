package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/svg"
)

// The sizes of the picture, in units.
const (
	rowHeight  = 15
	labelRight = 270
	halfBand   = 75  // half the width of a band
	farthest   = 4.4 // half widths of the band; figures further away are drawn there
	topHeight  = 60
)

// picture draws a page that was written before.
func (o options) picture() error {
	if o.svg == "" || o.from == "" {
		return errors.New("-svg and -from go together: the file of the picture, and the page that it shows")
	}
	page, err := os.ReadFile(o.from)
	if err != nil {
		return err
	}
	drawn, err := draw(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", o.from, err)
	}
	return os.WriteFile(o.svg, drawn, 0o644)
}

// draw draws the tables of the page: a line for each row with random numbers, and a dot for each judged figure. All
// bands have the same width.
func draw(page string) ([]byte, error) {
	columns, rows := svg.Table(page, "Row", "Where", "Measure", "Paper", "Band", "Measured")
	if len(rows) == 0 {
		return nil, fmt.Errorf("there is no table of claims to draw: want the page that -page writes")
	}
	at := func(row []string, column string) string { return row[slices.Index(columns, column)] }
	var ids []string
	id, skip := "", false
	type dot struct {
		line        int
		x, whisker  float64
		class, what string
	}
	var dots []dot
	for _, row := range rows {
		if title, _, ok := strings.Cut(row[0], " **"); ok {
			name, tier, _ := strings.Cut(title, " (")
			id, skip = name, strings.HasPrefix(tier, string(exact))
		}
		class := map[string]string{shown: "good", edge: "edge", outside: "bad"}[verdict(at(row, "Figure"))]
		if skip || class == "" || at(row, "Measured") == "" {
			continue
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		measured, err := strconv.ParseFloat(at(row, "Measured"), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: the measured figure is %q, want a number", id, at(row, "Measured"))
		}
		x, half, err := inBand(at(row, "Band"), measured)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		deviation, _ := strconv.ParseFloat(at(row, "± s.e."), 64) // empty: no random numbers
		what := fmt.Sprintf("%s, %s: measured %s, band %s, paper %s", id, row[2], at(row, "Measured"), at(row, "Band"),
			at(row, "Paper"))
		dots = append(dots, dot{line: len(ids) - 1, x: x, whisker: 2 * deviation / half, class: class, what: what})
	}
	bottom := topHeight + float64(len(ids)*rowHeight)
	middle := labelRight + 20 + farthest*halfBand
	place := func(x float64) float64 { return middle + halfBand*min(max(x, -farthest), farthest) }
	p := svg.New(middle+farthest*halfBand+40, bottom+40, "The measured figures and the bands around the papers' figures",
		fmt.Sprintf("%d figures of %d experiments. A figure in the grey band is shown.", len(dots), len(ids)))
	p.Rect(place(-1), topHeight-8, 2*halfBand, bottom-topHeight+16, "band", "")
	p.Text(middle, 24, "middle", "", "distance from the paper's figure, in half widths of its band")
	for x := -4.; x <= 4; x++ {
		p.Line(place(x), topHeight-8, place(x), bottom+8, "grid")
		p.Text(place(x), topHeight-14, "middle", "soft", strconv.FormatFloat(x, 'f', 0, 64))
	}
	for i, id := range ids {
		p.Text(labelRight, topHeight+float64(i*rowHeight)+12, "end", "", id)
	}
	for _, d := range dots {
		y := topHeight + float64(d.line*rowHeight) + rowHeight/2.
		p.Line(place(d.x-d.whisker), y, place(d.x+d.whisker), y, "whisker")
		p.Dot(place(d.x), y, 4, d.class, d.what)
	}
	x := float64(labelRight)
	for _, of := range []struct{ class, text string }{
		{"good", shown}, {"edge", edge}, {"bad", outside},
	} {
		p.Dot(x, bottom+28, 4, of.class, "")
		p.Text(x+10, bottom+32, "start", "soft", of.text)
		x += float64(30 + 7*len(of.text))
	}
	p.Text(x, bottom+32, "start", "soft", fmt.Sprintf("lines: two standard errors; figures beyond %g are drawn there",
		farthest))
	return p.Bytes(), nil
}

// verdict returns the verdict of a cell with the verdicts of two sets of seeds: if they differ, the figure is at the
// edge.
func verdict(cell string) string {
	one, other, two := strings.Cut(strings.Trim(cell, "*"), "; ")
	if two && strings.Trim(one, "*") != strings.Trim(other, "*") {
		return edge
	}
	return strings.Trim(one, "*")
}

// inBand returns where a figure lies in its band: 0 in the middle, -1 and 1 at the edges. half is the half width of the
// band. A band with one edge has the width of a band around this edge, and a figure far from its edge is in the middle.
func inBand(band string, figure float64) (x, half float64, err error) {
	number := func(text string) (n float64) {
		if err == nil {
			n, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
		}
		return n
	}
	oneEdge := func(e float64) float64 { return max(percent*math.Abs(e), points) }
	switch low, high, two := strings.Cut(band, " to "); {
	case two:
		l, h := number(low), number(high)
		half = (h - l) / 2
		x = (figure-l)/half - 1
	case strings.HasPrefix(band, ">= "):
		e := number(band[len(">= "):])
		half = oneEdge(e)
		x = min((figure-e)/half-1, 0)
	case strings.HasPrefix(band, "<= "):
		e := number(band[len("<= "):])
		half = oneEdge(e)
		x = max((figure-e)/half+1, 0)
	default:
		e := number(band)
		half = oneEdge(e)
		x = (figure - e) / half
	}
	if err != nil || !(half > 0) {
		err = fmt.Errorf("the band is %q, want two numbers, or one with >= or <=", band)
	}
	return x, half, err
}
