package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// tier says how a row is held against its paper.
type tier string

const (
	exact      tier = "A" // a formula or a worked example: must match, to the precision in print
	experiment tier = "B" // has luck: judged by its mean and that mean's standard error
)

// row is one claim of a paper.
type row struct {
	id, where string
	tier      tier
	claim     string    // what the paper says
	measures  []measure // what is measured, in the order in which run returns it
	// run is the experiment. It returns one number a measure. Nil: it cannot be run, and the row's note says why.
	run func(seed uint64) []float64
	// seeds is how many seeds it needs at most; 0: as many as are asked for. Rows without luck need 1.
	seeds int
	quick bool // runs under -quick
}

// measure is one number of a row, and where it must lie.
type measure struct {
	name   string
	paper  string // as printed
	lo, hi float64
	scale  string // a verb for one number; "" is %.3g
	role   role
}

// role is what a measure is there for.
type role uint8

const (
	judged     role = iota
	calibrated      // an input of the row was chosen so that this figure comes out: it is no evidence of itself
	beside          // the paper has no such figure: it helps to read the others
)

// How far from the paper's figure a mean may lie, on either side.
const (
	points  = 0.08 // of a share, and
	half    = 0.5  // of the paper's figure at most: a share below 16 %
	percent = 0.10 // of a ratio, a time or a count
	even    = 0.05 // of what the paper calls flat
)

// is asks for a number to the precision in print.
func is(name, paper string, want, tolerance float64) measure {
	return measure{name: name, paper: paper, lo: want - tolerance, hi: want + tolerance, scale: "%.4g"}
}

// share asks for a share, and gain for one of which the sign is a part of the claim. A share of 0 has no half: it is what
// the paper calls no difference.
func share(name, paper string, want float64) measure {
	tolerance := points
	if want != 0 {
		tolerance = min(points, half*math.Abs(want))
	}
	return measure{name: name, paper: paper, lo: want - tolerance, hi: want + tolerance}
}

// either asks for a share of which the paper gives two figures.
func either(name, paper string, one, other float64) measure {
	a, b := share(name, paper, one), share(name, paper, other)
	return measure{name: name, paper: paper, lo: min(a.lo, b.lo), hi: max(a.hi, b.hi)}
}

func gain(name, paper string, want float64) measure {
	m := share(name, paper, want)
	m.lo = max(m.lo, 0)
	return m
}

// times asks for a ratio, a time or a count, and faster for a ratio that has to be above 1.
func times(name, paper string, want float64) measure {
	return measure{name: name, paper: paper, lo: want * (1 - percent), hi: want * (1 + percent)}
}

func faster(name, paper string, want float64) measure {
	m := times(name, paper, want)
	m.lo = max(m.lo, 1)
	return m
}

// flat asks for a ratio of 1.
func flat(name, paper string) measure {
	return measure{name: name, paper: paper, lo: 1 - even, hi: 1 + even}
}

// above and below ask for a direction, where the paper says no more than that.
func above(name, paper string, lo float64) measure {
	return measure{name: name, paper: paper, lo: lo, hi: math.Inf(1)}
}

func below(name, paper string, hi float64) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: hi}
}

// input is a figure that the row was calibrated to, and besides one that no paper has.
func input(name, paper string) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: math.Inf(1), role: calibrated}
}

func besides(name string) measure {
	return measure{name: name, lo: math.Inf(-1), hi: math.Inf(1), role: beside}
}

// band is where a measure must lie, in words.
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

// The verdicts. A figure is shown if its mean and two standard errors on either side lie in the band, outside if none of
// that does, and otherwise at the edge. A row is what the worst of its figures is.
const (
	shown       = "shown"
	edge        = "at the edge"
	outside     = "outside"
	notRepeated = "not reproducible"
)

const standardErrors = 2

// figure is what came out of a measure.
type figure struct {
	Name  string  `json:"name"`
	Paper string  `json:"paper"`
	Band  string  `json:"band"`
	Mean  float64 `json:"mean"`
	// Error is the mean's standard error over the seeds.
	Error float64 `json:"error"`
	// Verdict is empty for a figure that is not judged; Input says that the row was calibrated to it.
	Verdict string `json:"verdict,omitempty"`
	Input   bool   `json:"input,omitempty"`
	text    string
}

// outcome is what came out of a row.
type outcome struct {
	ID      string   `json:"id"`
	Where   string   `json:"where"`
	Tier    tier     `json:"tier"`
	Claim   string   `json:"claim"`
	Figures []figure `json:"figures"`
	Seeds   int      `json:"seeds"`
	Verdict string   `json:"verdict"`
	Note    string   `json:"note,omitempty"`
	Seconds float64  `json:"seconds"`
}

// judge holds the values of all seeds, values[seed][measure], against the row's bands.
func (r row) judge(values [][]float64) outcome {
	o := outcome{ID: r.id, Where: r.where, Tier: r.tier, Claim: r.claim, Seeds: len(values), Verdict: shown, Note: notes[r.id]}
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

func (m measure) verdict(mean, err float64) string {
	from, to := mean-standardErrors*err, mean+standardErrors*err
	switch {
	case from >= m.lo && to <= m.hi:
		return shown
	case to >= m.lo && from <= m.hi:
		return edge
	}
	return outside // also what is no number
}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{outside, edge} {
		if a == v || b == v {
			return v
		}
	}
	return shown
}

// both is the verdict of a row that two sets of seeds were asked about: what they agree on, and otherwise at the edge.
func both(a, b string) string {
	if a == b {
		return a
	}
	return edge
}
