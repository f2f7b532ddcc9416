package report

import (
	"math"

	"github.com/straggler-go/straggler/examples/internal/compare"
)

// Sample describes a sample of phases, if only some phases were replayed, drawn at random.
type Sample struct {
	Of    int `json:"of_phases"`
	Drawn int `json:"drawn"`
	// Cost and Saving are the standard errors of two shares in the headline: the time that stragglers cost, and the
	// saving of the first policy.
	Cost   float64 `json:"cost_error"`
	Saving float64 `json:"saving_error"`
}

// Sampled adds the sampling errors. A share is a ratio of two sums over the sampled phases, which were drawn with
// equal probability. The error is the error of the linear approximation of this ratio.
func (r *Report) Sampled(of int, c compare.Comparison) {
	s := &Sample{Of: of, Drawn: c.Phases}
	after := func(share float64, saved func(i int) float64) float64 {
		var squares, time float64
		for i := range c.NoAction {
			before := c.NoAction[i].Time.Seconds()
			off := saved(i) - share*before
			squares += float64(off * off)
			time += before
		}
		n := float64(len(c.NoAction))
		if n < 2 || time == 0 {
			return 0
		}
		return math.Sqrt(squares*n/(n-1)*(1-n/float64(of))) / time
	}
	s.Cost = after(r.Stragglers.Cost, func(i int) float64 { return (c.NoAction[i].Time - c.Even[i].Time).Seconds() })
	if len(c.Outcomes) > 0 {
		results := c.Outcomes[0].Results
		first := 0.0 // the saving with the first seed, from which the results are
		for i := range results {
			first += (c.NoAction[i].Time - results[i].Time).Seconds()
		}
		s.Saving = after(first/max(c.Time, 1e-9), func(i int) float64 { return (c.NoAction[i].Time - results[i].Time).Seconds() })
	}
	r.Sample = s
}
