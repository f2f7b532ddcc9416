package main

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// tier is the kind of comparison of a row with its paper.
type tier string

const (
	exact      tier = "A" // a formula or a worked example, which must match to the printed precision
	experiment tier = "B" // has random numbers: judged by its mean and the standard error of the mean
)

// row is one claim of a paper.
type row struct {
	id, name string // the name is the subject, in a few words
	where    string
	tier     tier
	claim    string    // the claim in words
	measures []measure // the measured numbers, in the order in which run returns them
	// run is the experiment. It returns a number for each measure. Nil: the experiment cannot be run, and the note of
	// the row gives the reason.
	run func(seed uint64) []float64
	// seeds is the number of seeds that the row takes without -seeds, and the largest number that it takes with it. 0:
	// 20, and any number. A row without random numbers takes 1.
	seeds int
	quick bool // the row runs with -quick
}

// count returns the number of seeds with which the row runs. most is the value of -seeds; 0: not set.
func (r row) count(most int) int {
	switch {
	case r.run == nil:
		return 0
	case r.seeds == 0:
		return cmp.Or(most, defaultSeeds)
	case most == 0:
		return r.seeds
	}
	return min(most, r.seeds)
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

// is returns a measure that must equal a number to the printed precision.
func is(name, paper string, want, tolerance float64) measure {
	return measure{name: name, paper: paper, lo: want - tolerance, hi: want + tolerance, scale: "%.4g"}
}

// share asks for a share, and gain for one of which the sign is a part of the claim. A share of 0 has no half: it is
// what the paper calls no difference.
func share(name, paper string, want float64) measure {
	tolerance := points
	if want != 0 {
		tolerance = min(points, half*math.Abs(want))
	}
	return measure{name: name, paper: paper, lo: want - tolerance, hi: want + tolerance}
}

// either returns a measure for a share for which the paper has two figures.
func either(name, paper string, one, other float64) measure {
	a, b := share(name, paper, one), share(name, paper, other)
	return measure{name: name, paper: paper, lo: min(a.lo, b.lo), hi: max(a.hi, b.hi)}
}

func gain(name, paper string, want float64) measure {
	m := share(name, paper, want)
	m.lo = max(m.lo, 0)
	return m
}

// times returns a measure for a ratio, a time or a count. faster is for a ratio that must also be above 1.
func times(name, paper string, want float64) measure {
	return measure{name: name, paper: paper, lo: want * (1 - percent), hi: want * (1 + percent)}
}

func faster(name, paper string, want float64) measure {
	m := times(name, paper, want)
	m.lo = max(m.lo, 1)
	return m
}

// flat returns a measure for a ratio of 1.
func flat(name, paper string) measure {
	return measure{name: name, paper: paper, lo: 1 - even, hi: 1 + even}
}

// above and below return measures for which the paper states only a direction.
func above(name, paper string, lo float64) measure {
	return measure{name: name, paper: paper, lo: lo, hi: math.Inf(1)}
}

func below(name, paper string, hi float64) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: hi}
}

// input returns a measure to which the row was calibrated. besides returns a measure for which no paper has a figure.
func input(name, paper string) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: math.Inf(1), role: calibrated}
}

func besides(name string) measure {
	return measure{name: name, lo: math.Inf(-1), hi: math.Inf(1), role: beside}
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
	Name  string  `json:"name"`
	Paper string  `json:"paper"`
	Band  string  `json:"band"`
	Mean  float64 `json:"mean"`
	// Error is the standard error of the mean over the seeds.
	Error float64 `json:"error"`
	// Verdict is empty for a figure that is not judged. Input is true if the row was calibrated to the figure.
	Verdict string `json:"verdict,omitempty"`
	Input   bool   `json:"input,omitempty"`
	text    string
}

// outcome is the result of a row.
type outcome struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Where   string   `json:"where"`
	Tier    tier     `json:"tier"`
	Claim   string   `json:"claim"`
	Figures []figure `json:"figures"`
	Seeds   int      `json:"seeds"`
	Verdict string   `json:"verdict"`
	Note    string   `json:"note,omitempty"`
	Seconds float64  `json:"seconds"`
}

// judge compares the values of all seeds, values[seed][measure], with the bands of the row.
func (r row) judge(values [][]float64) outcome {
	o := outcome{ID: r.id, Name: r.name, Where: r.where, Tier: r.tier, Claim: r.claim, Seeds: len(values), Verdict: shown, Note: notes[r.id]}
	if r.run == nil {
		o.Verdict, o.Seeds = notRepeated, 0
		return o
	}
	for i, m := range r.measures {
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
