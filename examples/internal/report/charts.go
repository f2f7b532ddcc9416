package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// chart is a picture with its axis.
type chart struct {
	Picture template.HTML
	Axis    []string
	// First is the text of the most important part. The page shows it before the user points at a part.
	First string
}

// farthest is the largest multiple of the median in the chart; slower tasks are drawn there.
const farthest = 10

// slowdowns draws the distribution of the tasks' times divided by the median of their phase.
func slowdowns(r *Report) *chart {
	if len(r.Slowdown) == 0 {
		return nil
	}
	far := math.Min(math.Max(math.Ceil(r.Slowdown[len(r.Slowdown)-1].X), 4), farthest)
	p := newPicture(1000, 250, "curve", "How slow the slow tasks are",
		fmt.Sprintf("Cumulative distribution. %s of the tasks take more than 1.5 times the median of their phase; the slowest task takes %.3g times.",
			Percent(r.Stragglers.Share), r.Slowdown[len(r.Slowdown)-1].X))
	for quarter := range 5 {
		y := 62.5 * float64(quarter)
		p.line([][2]float64{{0, y}, {1000, y}}, "grid")
	}
	p.line([][2]float64{{1500 / far, 0}, {1500 / far, 250}}, "mark")
	points := [][2]float64{{0, 250}}
	for _, d := range r.Slowdown {
		x := 1000 * clampTo(d.X, far) / far
		points = append(points, [2]float64{x, points[len(points)-1][1]}, [2]float64{x, 250 * (1 - d.Share)})
	}
	p.line(points, "data")
	return &chart{Picture: p.html(), Axis: axis(far, func(x float64) string { return fmt.Sprintf("%.3g×", x) })}
}

// timelines draws a phase without action and under the policy, with the same scale.
func timelines(s Schedule) (before, after *chart) {
	end := math.Max(math.Max(lastEnd(s.Before), lastEnd(s.After)), 1e-3)
	return timeline(s.Before, s, end, "Without action"), timeline(s.After, s, end, "With "+s.Policy)
}

func timeline(bars []Bar, s Schedule, end float64, title string) *chart {
	height := 10 * float64(max(s.Lanes, 1))
	p := newPicture(1000, height, "gantt", title, fmt.Sprintf("Phase %d, %s: %d attempts on %d slots; the last attempt ends after %s.",
		s.Phase, strings.ToLower(title[:1])+title[1:], len(bars), s.Lanes, Span(lastEnd(bars))))
	slowest := -1
	for i, b := range bars {
		if slowest < 0 || b.End-b.Start > bars[slowest].End-bars[slowest].Start {
			slowest = i
		}
		p.rect(1000*b.Start/end, 10*float64(b.Lane)+1, 1000*(b.End-b.Start)/end, 8, "k-"+b.Kind, b.String())
	}
	c := &chart{Picture: p.html(), Axis: axis(end, secondsAs(end))}
	if slowest >= 0 {
		c.First = bars[slowest].String()
	}
	return c
}

func lastEnd(bars []Bar) (end float64) {
	for _, b := range bars {
		end = max(end, b.End)
	}
	return end
}

// String returns the text of a bar: the task, its host, its times, the bytes that it read, its cause, and the
// decision about it.
func (b Bar) String() string {
	text := "task " + b.Name
	if b.Host != "" {
		text += " on " + b.Host
	}
	text += fmt.Sprintf(": %s, from %s to %s", Span(b.End-b.Start), Span(b.Start), Span(b.End))
	if b.Bytes > 0 {
		text += ", read " + Bytes(b.Bytes)
	}
	switch b.Kind {
	case kindTask:
	case kindStraggler:
		if text += "; straggler"; b.Cause != "" {
			text += ", cause: " + b.Cause
		}
	default:
		text += "; " + b.Kind
	}
	if b.Decision != "" {
		text += "; decided: " + b.Decision
	}
	return text
}

// Bytes writes a number of bytes with a unit, such as "640 MB".
func Bytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB"} {
		if n < 999.5 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g PB", n)
}

// warmth draws the heat map: a row for each host, and a column for each span of time.
func warmth(h *Heat) *chart {
	if h == nil {
		return nil
	}
	p := newPicture(heatColumns, float64(len(h.Hosts)), "heat", "Slowness by host and time",
		"A cell is about the tasks that ran on a host during a span of time. Its colour shows how many times the median of their phases these tasks took.")
	worst, first := 0.0, ""
	for row, cells := range h.Cells {
		for column, ratio := range cells {
			if ratio == nil {
				continue
			}
			what := fmt.Sprintf("%s, from %s to %s: %.3g times the median", h.Hosts[row], Span(float64(column)*h.Seconds),
				Span(float64(column+1)*h.Seconds), *ratio)
			if *ratio > worst {
				worst, first = *ratio, what
			}
			p.rect(float64(column), float64(row), 1, 1, hotness(*ratio), what)
		}
	}
	return &chart{Picture: p.html(), Axis: axis(heatColumns*h.Seconds, secondsAs(heatColumns*h.Seconds)), First: first}
}
