package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// tier says how a row is held against its paper.
type tier string

const (
	exact     tier = "A" // must match, to the precision in print
	inBand    tier = "B" // the mean over the seeds must lie in the band
	direction tier = "C" // only its sign or order can be shown: the hardware or the trace is not public
	reported  tier = "R" // what comes out is stated, and not judged
)

// row is one claim of a paper.
type row struct {
	id, where string
	tier      tier
	claim     string    // what the paper says
	measures  []measure // what is measured, in the order in which run returns it
	// run is the experiment. It returns one number a measure. Nil: it cannot be run, and note says why.
	run func(seed uint64) []float64
	// seeds is how many seeds it needs at most; 0: as many as are asked for. Rows without luck need 1.
	seeds int
	quick bool // runs under -quick
	// note says what the setting leaves open, and, for a row that comes out differently, what looking has shown.
	note string
}

// measure is one number of a row, and where it must lie.
type measure struct {
	name   string
	paper  string // as printed
	lo, hi float64
	scale  string // a verb for one number; "" is %.3g
}

// is asks for a number to so many digits after the point.
func is(name, paper string, want, tolerance float64) measure {
	return measure{name: name, paper: paper, lo: want - tolerance, hi: want + tolerance, scale: "%.4g"}
}

// within asks for a number in a band.
func within(name, paper string, lo, hi float64) measure {
	return measure{name: name, paper: paper, lo: lo, hi: hi}
}

// atLeast and atMost ask for a direction.
func atLeast(name, paper string, lo float64) measure {
	return measure{name: name, paper: paper, lo: lo, hi: math.Inf(1)}
}

func atMost(name, paper string, hi float64) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: hi}
}

// stated is a number that is not judged.
func stated(name, paper string) measure {
	return measure{name: name, paper: paper, lo: math.Inf(-1), hi: math.Inf(1)}
}

// band is where a measure must lie, in words.
func (m measure) band() string {
	switch lo, hi := math.IsInf(m.lo, -1), math.IsInf(m.hi, 1); {
	case lo && hi:
		return "stated"
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

// The verdicts.
const (
	shown       = "shown"
	outside     = "outside band"
	notRepeated = "not reproducible"
	asReported  = "reported"
)

// figure is what came out of a measure.
type figure struct {
	Name  string  `json:"name"`
	Paper string  `json:"paper"`
	Band  string  `json:"band"`
	Mean  float64 `json:"mean"`
	// Spread is the standard deviation over the seeds.
	Spread float64 `json:"spread"`
	Inside bool    `json:"inside"`
	text   string
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
	o := outcome{ID: r.id, Where: r.where, Tier: r.tier, Claim: r.claim, Seeds: len(values), Verdict: shown, Note: r.note}
	if r.run == nil {
		o.Verdict, o.Seeds = notRepeated, 0
		return o
	}
	for i, m := range r.measures {
		all := make([]float64, len(values))
		for s, v := range values {
			all[s] = v[i]
		}
		f := figure{Name: m.name, Paper: m.paper, Band: m.band(), Mean: stat.Mean(all, nil)}
		if len(all) > 1 {
			f.Spread = stat.StdDev(all, nil)
		}
		f.text = m.number(f.Mean)
		f.Inside = f.Mean >= m.lo && f.Mean <= m.hi
		if !f.Inside {
			o.Verdict = outside
		}
		o.Figures = append(o.Figures, f)
	}
	if r.tier == reported {
		o.Verdict = asReported
	}
	return o
}
