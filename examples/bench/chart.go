package main

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// bar is a bar of the picture.
type bar struct {
	protocol, library string
	p99, load         float64
}

// draw writes the p99 of each library as bars, grouped by protocol.
func draw(bars []bar, file string) error {
	const width, height, thick = 22 * vg.Centimeter, 9 * vg.Centimeter, 0.7 * vg.Centimeter
	p := plot.New()
	p.Title.Text = "p99 with one of four servers ten times slower"
	p.Y.Label.Text = "ms"
	p.BackgroundColor = color.White
	p.Legend.Top = true
	var protocols, libraries []string
	for _, b := range bars {
		if !slices.Contains(protocols, b.protocol) {
			protocols = append(protocols, b.protocol)
		}
		if !slices.Contains(libraries, b.library) {
			libraries = append(libraries, b.library)
		}
	}
	for i, library := range libraries {
		values := make(plotter.Values, len(protocols))
		for _, b := range bars {
			if b.library == library {
				values[slices.Index(protocols, b.protocol)] = b.p99
			}
		}
		chart, err := plotter.NewBarChart(values, thick)
		if err != nil {
			return err
		}
		chart.LineStyle.Width = 0
		chart.Color = plotutil.Color(i)
		chart.Offset = thick * vg.Length(float64(i)-float64(len(libraries)-1)/2)
		p.Add(chart)
		p.Legend.Add(library, chart)
	}
	p.NominalX(protocols...)
	p.X.Min, p.X.Max = -0.5, float64(len(protocols))+0.2 // room for the legend on the right
	p.Y.Min = 0
	return p.Save(width, height, file)
}
