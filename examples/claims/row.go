package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// tier is the kind of comparison of a row with its paper.
type tier string

const (
	exact      tier = "A" // a formula or a worked example, which must match to the printed precision
	experiment tier = "B" // has random numbers: judged by its mean and the standard error of the mean
)

// about tells what a row compares.
type about struct {
	ID    string
	Name  string // the subject, in a few words
	Where string
	Tier  tier
	Claim string // the claim in words
}

// row is one claim of a paper.
type row struct {
	about
	Measures []measure // the measured numbers, in the order in which run returns them
	// Seeds is the number of seeds that the row takes without -seeds, and the largest number that it takes with it. 0:
	// 20, and any number. A row without random numbers takes 1, and a row takes 200 if one seed takes less than 0.1 s.
	Seeds int
	// run is the experiment. It returns a number for each measure. Nil: the experiment cannot be run, and the note of
	// the row gives the reason.
	run func(seed uint64) []float64
}

// rowsText has the rows of all papers. A measure is a list: the way in which it is judged, as in [newMeasure], its name,
// the figure as printed in the paper, and the numbers of its band.
//
//go:embed rows.json
var rowsText []byte

// allRows returns the rows of all papers.
func allRows() []row {
	var rows []row
	check(json.Unmarshal(rowsText, &rows))
	for i := range rows {
		of := slices.IndexFunc(papers, func(p paper) bool { return strings.HasPrefix(rows[i].ID, p.prefix) })
		rows[i].run = papers[of].runs[rows[i].ID]
	}
	return rows
}

// count returns the number of seeds with which the row runs. most is the value of -seeds; 0: not set.
func (r row) count(most int) int {
	switch {
	case r.run == nil:
		return 0
	case r.Seeds == 0:
		return cmp.Or(most, defaultSeeds)
	case most == 0:
		return r.Seeds
	}
	return min(most, r.Seeds)
}

// measure is one number of a row, and the band in which it must be.
type measure struct {
	name   string
	paper  string // the figure as printed in the paper
	lo, hi float64
	scale  string // a format verb for the number; "" is %.3g
	role   role
}

// role tells whether a measure is judged.
type role uint8

// The half width of a band around the paper's figure.
const (
	judged     role = iota
	calibrated      // an input of the row was chosen to get this figure, so the figure proves nothing
	beside          // the paper has no such figure; it helps to read the other lines
)

// How far from the paper's figure a mean may lie, on either side.
const (
	points  = 0.08 // for a share
	half    = 0.5  // x the paper's figure, if that is less than points: for a share below 16 %
	percent = 0.10 // x the paper's figure, for a ratio, a time or a count
	even    = 0.05 // for a ratio that the paper calls flat
)

// UnmarshalJSON reads a measure of rowsText.
func (m *measure) UnmarshalJSON(text []byte) (err error) {
	var how, name, paper string
	var x, y float64
	if err = json.Unmarshal(text, &[]any{&how, &name, &paper, &x, &y}); err == nil {
		*m, err = newMeasure(how, name, paper, x, y)
	}
	return err
}

// newMeasure returns a measure that is judged in a way, with the numbers of its band.
func newMeasure(how, name, paper string, x, y float64) (m measure, err error) {
	m = measure{name: name, paper: paper, lo: math.Inf(-1), hi: math.Inf(1)}
	tolerance := func(x float64) float64 {
		if x == 0 {
			return points // what the paper calls no difference has no half
		}
		return min(points, half*math.Abs(x))
	}
	switch how {
	case "is": // equals x to the printed precision y
		m.lo, m.hi, m.scale = x-y, x+y, "%.4g"
	case "share":
		m.lo, m.hi = x-tolerance(x), x+tolerance(x)
	case "gain": // a share of which the sign is a part of the claim
		m.lo, m.hi = max(x-tolerance(x), 0), x+tolerance(x)
	case "either": // a share for which the paper has two figures
		m.lo, m.hi = min(x-tolerance(x), y-tolerance(y)), max(x+tolerance(x), y+tolerance(y))
	case "times": // a ratio, a time or a count
		m.lo, m.hi = x*(1-percent), x*(1+percent)
	case "faster": // a ratio that must also be above 1
		m.lo, m.hi = max(x*(1-percent), 1), x*(1+percent)
	case "flat": // a ratio of 1
		m.lo, m.hi = 1-even, 1+even
	case "between":
		m.lo, m.hi = x, y
	case "above": // above and below: the paper states only a direction
		m.lo = x
	case "below":
		m.hi = x
	case "input": // the row was calibrated to it
		m.role = calibrated
	case "besides": // no paper has such a figure
		m.role = beside
	default:
		err = fmt.Errorf("%s: %q is no way to judge a measure", name, how)
	}
	return m, err
}

// band returns the band as text.
func (m measure) band() string {
	switch lo, hi := math.IsInf(m.lo, -1), math.IsInf(m.hi, 1); {
	case lo && hi:
		return ""
	case lo:
		return "<= " + m.number(m.hi)
	case hi:
		return ">= " + m.number(m.lo)
	case m.hi-m.lo < 1e-3*math.Abs(m.hi+m.lo):
		return m.number((m.hi + m.lo) / 2)
	}
	return m.number(m.lo) + " to " + m.number(m.hi)
}

func (m measure) number(x float64) string {
	if m.scale != "" {
		return fmt.Sprintf(m.scale, x)
	}
	return fmt.Sprintf("%.3g", x)
}

// The verdicts. A figure is shown if its mean and two standard errors on either side lie in the band, outside if none
// of that does, and otherwise at the edge. A row is what the worst of its figures is.
const (
	shown       = "shown"
	edge        = "at the edge"
	outside     = "outside"
	notRepeated = "not reproducible"
)

// standardErrors is the number of standard errors on either side of the mean that must be in the band.
const standardErrors = 2

// figure is the result of a measure.
type figure struct {
	Name, Paper, Band string
	Mean, Error       float64 // over the seeds, and the standard error of the mean
	Verdict           string  // empty for a figure that is not judged
	Input             bool    // the row was calibrated to the figure
	text              string
}

// outcome is the result of a row.
type outcome struct {
	about
	Figures       []figure
	Seeds         int
	Verdict, Note string
}

// judge compares the values of all seeds, values[seed][measure], with the bands of the row.
func (r row) judge(values [][]float64) outcome {
	o := outcome{about: r.about, Seeds: len(values), Verdict: shown, Note: notes[r.ID]}
	if r.run == nil {
		o.Verdict, o.Seeds = notRepeated, 0
		return o
	}
	for i, m := range r.Measures {
		all := make([]float64, len(values))
		for s, v := range values {
			all[s] = v[i]
		}
		f := figure{Name: m.name, Paper: m.paper, Band: m.band(), Mean: stat.Mean(all, nil), Input: m.role == calibrated}
		if len(all) > 1 {
			f.Error = stat.StdErr(stat.StdDev(all, nil), float64(len(all)))
		}
		f.text = m.number(f.Mean)
		if m.role == judged {
			f.Verdict = m.verdict(f.Mean, f.Error)
			o.Verdict = worse(o.Verdict, f.Verdict)
		}
		o.Figures = append(o.Figures, f)
	}
	return o
}

// verdict returns the verdict about a mean and its standard error.
func (m measure) verdict(mean, err float64) string {
	from, to := mean-standardErrors*err, mean+standardErrors*err
	switch {
	case from >= m.lo && to <= m.hi:
		return shown
	case to >= m.lo && from <= m.hi:
		return edge
	}
	return outside // also for a mean that is not a number
}

// worse returns the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{outside, edge} {
		if a == v || b == v {
			return v
		}
	}
	return shown
}

// both returns the verdict of a row with two sets of seeds: the common verdict, or at the edge if they disagree.
func both(a, b string) string {
	if a == b {
		return a
	}
	return edge
}

// notesText has the inputs of each row: values from the paper's text, choices, and values calibrated to a figure. For
// a row with a different result, it also has the physical reason and the tries.
//
//go:embed notes.md
var notesText string

// notes are those of notesText by row, each in one line.
var notes = readNotes(notesText)

// readNotes splits notesText by row.
func readNotes(text string) map[string]string {
	m := map[string]string{}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		id, note, _ := strings.Cut(part, "\n")
		m[strings.TrimSpace(id)] = strings.Join(strings.Fields(note), " ")
	}
	return m
}
