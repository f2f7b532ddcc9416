package report

import (
	"fmt"
	"html/template"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// chart is a picture with its axis. The page shows a number and a sentence about it above the picture.
type chart struct {
	Number, Sentence string
	// Names are the names of the lanes or rows, from the top.
	Names   []string
	Picture template.HTML
	Axis    []string
	Note    string // explains the picture
	// First is the text of the most important part. The page shows it before the user points at a part.
	First string
}

// drawnLanes is the largest number of lanes in a picture of the page.
const drawnLanes = 12

// timelines draws a phase without action and under the policy, with the same scale.
func timelines(s Schedule) (before, after *chart) {
	end, lanes := max(s.Seconds[0], s.Seconds[1], 1e-3), min(s.Lanes, drawnLanes)
	before, after = timeline(s.Before, s, lanes, end, "Without action"), timeline(s.After, s, lanes, end, "With "+s.Policy)
	before.Number, before.Sentence = Span(s.Seconds[0]), "without action."
	after.Number, after.Sentence = s.after(), fmt.Sprintf("with %s, which made %s and %s.", s.Policy,
		words.Plural(s.Copies, "1 copy", fmt.Sprintf("%d copies", s.Copies)), words.Counted(s.Restarts, "restart"))
	if s.Copies+s.Restarts == 0 {
		after.Sentence = fmt.Sprintf("with %s, which made no copy and no restart: only the order of the tasks differs.",
			s.Policy)
	}
	if s.LanesLeftOut+s.Lanes > drawnLanes {
		before.Sentence += fmt.Sprintf(" The pictures show the %d slots on which work ended last.", lanes)
	}
	return before, after
}

// after returns the time under the policy, and the change.
func (s Schedule) after() string {
	if s.Seconds[0] <= 0 {
		return Span(s.Seconds[1])
	}
	return Span(s.Seconds[1]) + ", " + compared(1-s.Seconds[1]/s.Seconds[0])
}

// The sizes of a lane, in units, and the width of a timeline.
const (
	laneHeight    = 10
	timelineWidth = 1000
)

// lay draws bars, and returns the index of the bar whose text should be shown; negative if there is none.
func lay(bars []Bar, lanes int, end float64) (p *picture, first int) {
	p, first = &picture{width: timelineWidth, height: laneHeight * float64(max(lanes, 1))}, -1
	for i, b := range bars {
		if b.Lane >= lanes {
			continue
		}
		if first < 0 || more(b, bars[first]) {
			first = i
		}
		p.rect(timelineWidth*b.Start/end, laneHeight*float64(b.Lane)+1, timelineWidth*(b.End-b.Start)/end, laneHeight-2,
			"k-"+b.Kind, b.String())
	}
	return p, first
}

func timeline(bars []Bar, s Schedule, lanes int, end float64, title string) *chart {
	p, first := lay(bars, lanes, end)
	c := &chart{Axis: axis(end, secondsAs(end)), Names: s.Names[:min(lanes, len(s.Names))]}
	c.Picture = p.html("gantt", title, fmt.Sprintf("Attempts on %s.", words.Counted(lanes, "slot")))
	if first >= 0 {
		c.First = bars[first].String()
	}
	return c
}

// more reports whether the page should show the text of a rather than the text of b: the text with a decision, or else
// the text of the longer bar.
func more(a, b Bar) bool {
	if (a.Decision != "") != (b.Decision != "") {
		return a.Decision != ""
	}
	return a.End-a.Start > b.End-b.Start
}

// String returns the text of a bar: the task, its host, its times, the bytes that it read, its cause, and the
// decision about it.
func (b Bar) String() string {
	text := "task " + short(b.Name)
	if b.Host != "" {
		text += " on " + short(b.Host)
	}
	if b.Joined > 0 {
		text += fmt.Sprintf(" and %s", words.Counted(b.Joined-1, "other attempt"))
	}
	text += fmt.Sprintf(": %s, from %s to %s", Span(b.End-b.Start), Span(b.Start), Span(b.End))
	if b.Bytes > 0 {
		text += ", read " + Bytes(b.Bytes)
	}
	switch b.Kind {
	case kindTask:
	case kindStraggler:
		if text += "; straggler"; b.Cause != "" {
			text += ", cause: " + plain[b.Cause].noun
		}
	default:
		text += "; " + b.Kind
	}
	if b.Decision != "" {
		text += "; " + b.Decision
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

// warmth draws the heat map: a row for each host, and a column for each span of time. Neighbours of one colour are
// drawn as one cell.
func warmth(r *Report) *chart {
	h := r.Heat
	if h == nil {
		return nil
	}
	p := &picture{width: heatColumns, height: float64(len(h.Hosts))}
	worst, first := 0.0, ""
	for row, cells := range h.Cells {
		for column := 0; column < len(cells); column++ {
			if cells[column] == nil {
				continue
			}
			begin, ratio, class := column, *cells[column], hotness(*cells[column])
			for column+1 < len(cells) && cells[column+1] != nil && hotness(*cells[column+1]) == class {
				column++
				ratio = max(ratio, *cells[column])
			}
			what := fmt.Sprintf("%s, from %s to %s: on average %.3g times the median", short(h.Hosts[row]),
				Span(float64(begin)*h.Seconds), Span(float64(column+1)*h.Seconds), ratio)
			if ratio > worst {
				worst, first = ratio, what
			}
			p.rect(float64(begin), float64(row), float64(column-begin+1), 1, class, what)
		}
	}
	w, unless := r.Workers[0], ""
	if cause := r.Diagnosis.Cause; cause != "" && cause != causes.Machine.String() {
		unless = ", though machines are not the main cause"
	}
	return &chart{
		Number: Span(w.Excess),
		Sentence: fmt.Sprintf("beyond the median is what %s lost on %s, the most of all machines%s.",
			words.Counted(w.Stragglers, "straggler"), short(w.Host), unless),
		Names: h.Hosts,
		Picture: p.html("heat", "Slowness by machine and time",
			"A cell is about the tasks that ran on a machine during a span of time. "+
				"Its colour shows how many times the median of their phases these tasks took on average."),
		Axis: axis(heatColumns*h.Seconds, secondsAs(heatColumns*h.Seconds)),
		Note: "Each row is a machine, and each column a span of time. The colour is the mean of the tasks there. " +
			"A row of orange and red cells is a slow machine, and a column of them is a busy moment.",
		First: first,
	}
}
