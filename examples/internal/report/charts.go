package report

import (
	"fmt"
	"html/template"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// savings draws by how much each policy changes the time and the slots' time.
func savings(r *Report) (template.HTML, error) {
	p := newPlot("change against no action, %", "")
	var labels []string
	n := len(r.Policies)
	times, slots := make(plotter.Values, n), make(plotter.Values, n)
	text := "Change of the phases' time and of the slots' time under each policy. "
	for i, policy := range r.Policies {
		k := n - 1 - i // the first policy stands at the top
		times[k], slots[k] = -100*policy.All.Mean, -100*policy.Resource.Mean
		text += fmt.Sprintf("%s: time %s, slot time %s. ", policy.Name, Change(policy.All.Mean), Change(policy.Resource.Mean))
	}
	for i := range r.Policies {
		labels = append(labels, r.Policies[n-1-i].Name)
	}
	for i, series := range []plotter.Values{times, slots} {
		bars, err := plotter.NewBarChart(series, vg.Points(6))
		if err != nil {
			return "", err
		}
		bars.Horizontal = true
		bars.LineStyle.Width = 0
		bars.Color = paint([]string{"accent", "second"}[i])
		bars.Offset = vg.Points([]float64{3.5, -3.5}[i])
		p.Add(bars)
	}
	zero, err := plotter.NewLine(plotter.XYs{{X: 0, Y: -0.5}, {X: 0, Y: float64(n) - 0.5}})
	if err != nil {
		return "", err
	}
	zero.Color = paint("rule")
	p.Add(zero)
	p.NominalY(labels...)
	return vector(p, 640, float64(70+24*n), "What each policy changes", text)
}

// farthest is the multiple of the median at which slower tasks are drawn.
const farthest = 10

// slowdowns draws the distribution of the tasks' times over their phase's median.
func slowdowns(r *Report) (template.HTML, error) {
	p := newPlot("time of a task, as a multiple of its phase's median", "share of tasks, %")
	far := math.Min(math.Max(math.Ceil(r.Slowdown[len(r.Slowdown)-1].X), 3), farthest)
	points := make(plotter.XYs, 0, len(r.Slowdown))
	for _, d := range r.Slowdown {
		points = append(points, plotter.XY{X: min(d.X, far), Y: 100 * d.Share})
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return "", err
	}
	line.Color, line.Width = paint("accent"), vg.Points(2)
	line.StepStyle = plotter.PostStep
	mark, err := plotter.NewLine(plotter.XYs{{X: 1.5, Y: 0}, {X: 1.5, Y: 100}})
	if err != nil {
		return "", err
	}
	mark.Color, mark.Dashes = paint(kindStraggler), []vg.Length{4, 3}
	p.Add(line, mark)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, far, 0, 100
	p.X.Tick.Marker, p.Y.Tick.Marker = every(1), every(25)
	return vector(p, 640, 280, "How slow the slow tasks are",
		fmt.Sprintf("Cumulative distribution. %s of the tasks take over 1.5 times their phase's median; the slowest %.3g times.",
			Percent(r.Stragglers.Share), r.Slowdown[len(r.Slowdown)-1].X))
}

// every marks each multiple of a step.
func every(step float64) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		for k := math.Ceil(low / step); k*step <= high; k++ {
			ticks = append(ticks, plot.Tick{Value: k * step, Label: fmt.Sprintf("%g", k*step)})
		}
		return ticks
	})
}

// gantt draws a phase's slots, one lane each, over time.
type gantt struct{ bars []Bar }

// Plot draws the bars; it makes a gantt a plot.Plotter.
func (g gantt) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range g.bars {
		left, right := x(b.Start), x(b.End)
		right = max(right, left+vg.Points(0.4))
		low, high := y(-float64(b.Lane)-0.4), y(-float64(b.Lane)+0.4)
		c.FillPolygon(paint(b.Kind), []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
	}
}

func timeline(bars []Bar, lanes int, end float64, title, text string) (template.HTML, error) {
	p := newPlot("seconds since the phase began", "slots")
	p.Add(gantt{bars})
	p.X.Min, p.X.Max = 0, end
	p.Y.Min, p.Y.Max = -float64(lanes)+0.5, 0.5
	p.Y.Tick.Marker = plot.ConstantTicks(nil)
	return vector(p, 640, math.Max(90, 44+5*float64(lanes)), title, text)
}

// timelines draws a phase before and after, on one scale.
func timelines(s Schedule) (before, after template.HTML, err error) {
	endBefore, endAfter := lastEnd(s.Before), lastEnd(s.After)
	end := math.Max(math.Max(endBefore, endAfter), 1e-3)
	before, err = timeline(s.Before, s.Lanes, end, "Without action",
		fmt.Sprintf("Phase %d without action: %d copies on %d slots, the last ends after %s.", s.Phase, len(s.Before), s.Lanes, Span(endBefore)))
	if err != nil {
		return "", "", err
	}
	after, err = timeline(s.After, s.Lanes, end, "With "+s.Policy,
		fmt.Sprintf("Phase %d under %s: %d copies on %d slots, the last ends after %s.", s.Phase, s.Policy, len(s.After), s.Lanes, Span(endAfter)))
	return before, after, err
}

func lastEnd(bars []Bar) (end float64) {
	for _, b := range bars {
		end = max(end, b.End)
	}
	return end
}
