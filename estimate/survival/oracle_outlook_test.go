package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// guess is a possible remaining time of an attempt, and its weight.
type guess struct{ total, weight float64 }

// guesses computes an outlook from the comments of Shape.Outlook and of Prediction: each seen error, each assumed error,
// and what the age alone predicts.
func guesses(own, kind []float64, ownSeen, kindSeen int, p Prediction, c *Curve) (all []guess) {
	add := func(ratio, weight float64) {
		total := p.Total * ratio
		if ratio > 1 && p.TotalAtStage > 0 {
			total = max(p.Total, p.TotalAtStage*ratio)
		}
		low, high := total/1.3, total*1.3
		if high <= p.Age {
			return
		}
		if c.Ends() >= 3 {
			weight *= c.Below(high/p.Scale) - c.CDF(low/p.Scale) + 0.5/float64(c.Ends()+1)
		}
		if total <= p.Age { // the near times beyond the age take the place of the total
			weight *= (high - p.Age) / (high - low)
			total = (high + p.Age) / 2
		}
		all = append(all, guess{total - p.Age, weight})
	}
	for _, ratio := range own {
		add(ratio, float64(ownSeen)/float64(len(own)))
	}
	for _, ratio := range kind {
		add(ratio, math.Min(4, float64(len(kind)))/float64(len(kind)))
	}
	seen := slices.Concat(own, kind)
	unknown := 4 / (2 + float64(kindSeen))
	if len(seen) > 0 {
		unknown *= math.Min(1, 1-slices.Min(seen)/slices.Max(seen)+1/(1+float64(len(seen))))
	}
	if p.Even {
		unknown = math.Min(unknown, 4/(2+float64(kindSeen))*0.05)
	}
	for _, ratio := range []float64{0.25, 0.5, 0.8, 1.25} {
		add(ratio, unknown/4)
	}
	left := Residual{Curve: c, Age: p.Age, Scale: p.Scale}.Mean()
	weight := unknown * p.StallWeight * c.Above(p.Age/p.Scale)
	if weight > 0 && c.Ends() >= 3 && left >= 0 && !math.IsInf(left, 1) {
		all = append(all, guess{left, weight})
	}
	sum := 0.
	for _, g := range all {
		sum += g.weight
	}
	for i := range all {
		all[i].weight /= sum
	}
	return all
}

// kept returns the errors that a ring keeps.
func kept(r *ring) (ratios []float64) {
	for i := range r.kept() {
		ratios = append(ratios, float64(r.ratio[i]))
	}
	return ratios
}

func TestOutlookAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	model := estimate.Linear{Window: 100 * time.Second, Grace: 20 * time.Second}
	answered := 0
	for range 400 {
		kind := new(Shape)
		s := kind.Phase()
		for i := range r.IntN(40) {
			if i%10 == 9 {
				s = kind.Phase()
			}
			var trail Trail
			bend := math.Exp(0.5 * r.NormFloat64())
			for age := 5; age < 100; age += 5 {
				trail.Report(time.Duration(age)*time.Second, math.Pow(float64(age)/100, bend))
			}
			s.Finish(&trail, 100*time.Second, model)
		}
		var c Curve
		for range r.IntN(12) {
			c.Observe(50+float64(r.IntN(100)), r.IntN(4) > 0)
		}
		c.Fit()
		p := Prediction{
			Age: 150 * r.Float64(), Total: 50 + 200*r.Float64(), Stage: 1 + r.IntN(Parts), Expected: true,
			TotalAtStage: float64(r.IntN(2)) * 150 * r.Float64(), Scale: []float64{0.5, 1, 3}[r.IntN(3)],
			Even: r.IntN(3) == 0, StallWeight: float64(r.IntN(2)) * r.Float64(),
		}
		var o Outlook
		ok := s.Outlook(&o, p, &c)
		own, of := s.at(p.Stage), kind.at(p.Stage)
		want := guesses(kept(own), kept(of), own.all(), of.all(), p, &c)
		require.Equal(t, len(want) > 0, ok)
		if !ok {
			continue
		}
		answered++
		mean := 0.
		for _, g := range want {
			mean += g.total * g.weight
			up, strictly := 0., 0.
			for _, h := range want {
				if h.total <= g.total {
					up += h.weight
				}
				if h.total < g.total*0.999 {
					strictly += h.weight
				}
			}
			require.InDelta(t, up, o.CDF(g.total*(1+1e-12)+1e-12), 1e-6)
			require.InDelta(t, strictly, o.Below(g.total*0.999), 1e-6)
			if at := (up + strictly) / 2; at > 1e-6 && up-strictly > 1e-6 {
				require.LessOrEqual(t, o.Quantile(at), g.total*(1+1e-9)+1e-9)
				require.GreaterOrEqual(t, o.Quantile(at), g.total*0.999-1e-9)
			}
		}
		require.InDelta(t, mean, o.Mean(), 1e-6*math.Max(1, mean))
	}
	assert.Greater(t, answered, 200)
}

// Before three tasks have ended, the prediction is replaced by a tenth of it. As soon as three errors were seen,
// there is an answer only if the largest error is at most 1.5 times the smallest.
func TestBeforeThreeEndsTheOutlookNeedsErrorsThatAgree(t *testing.T) {
	for _, c := range []struct {
		ratios []float32
		ok     bool
	}{
		{[]float32{1, 1.4, 1.5}, true}, {[]float32{1, 1.4, 1.51}, false}, {[]float32{1, 9}, true},
		{[]float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, false},
	} {
		var s Shape
		for _, ratio := range c.ratios {
			s.rings()[3].put(float64(ratio), 0)
		}
		var o Outlook
		require.Equal(t, c.ok, s.Outlook(&o, Prediction{Age: 10, Total: 1000, Stage: 3}, new(Curve)), "%v", c.ratios)
		_, known := s.AtMost(Prediction{Age: 10, Total: 1000, Stage: 3}, new(Curve))
		require.Equal(t, len(c.ratios) < 3, known, "%v", c.ratios)
		switch {
		case len(c.ratios) < 3:
			assert.Equal(t, 0.1*1000-10, o.Mean())
		case c.ok:
			assert.Greater(t, o.Mean(), 900., "%v", c.ratios)
		}
	}
}

// A ring keeps the latest 16 errors. An error replaces an earlier error only if the ring still keeps the earlier
// error.
func TestARingReplacesOnlyAnErrorThatItStillKeeps(t *testing.T) {
	var r ring
	for i := range 20 {
		assert.EqualValues(t, i+1, r.put(float64(i+1), 0))
	}
	assert.Equal(t, 16, r.kept())
	assert.EqualValues(t, 5, r.put(50, 5), "5 is the oldest error that the ring keeps")
	assert.EqualValues(t, 20, r.put(200, 20), "20 is the newest error")
	assert.EqualValues(t, 21, r.put(210, 4), "the ring has dropped error 4")
	assert.EqualValues(t, 22, r.put(220, 23), "there is no error 23 yet")
	assert.Equal(t, 22, r.seen)
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.MaxFloat32} {
		assert.EqualValues(t, 7, r.put(bad, 7), "%v", bad)
	}
	want := []float64{7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 200, 210, 220}
	assert.ElementsMatch(t, want, kept(&r), "210 took the place of 50, and 220 the place of 6")
	assert.Equal(t, 0, (*ring)(nil).kept())
}

func TestBiasIsTheMeanOfTheErrors(t *testing.T) {
	kind := new(Shape)
	s := kind.Phase()
	assert.Equal(t, 1., s.Bias(2))
	for _, ratio := range []float64{1, 2} {
		kind.rings()[2].put(ratio, 0)
	}
	assert.Equal(t, 1.5, s.Bias(2))
	for range 8 {
		s.rings()[2].put(4, 0)
	}
	assert.Equal(t, (8*4+2*1.5)/10, s.Bias(2), "eight errors of the phase, two errors of the kind")
	for range 14 {
		kind.rings()[2].put(1.5, 0)
	}
	assert.Equal(t, (8*4+4*1.5)/12, s.Bias(2), "a kind counts as four errors at most")
	kind.rings()[4].put(1, 0)
	s.rings()[4].put(2, 0)
	assert.Equal(t, 1.5, s.Bias(4), "one error of the phase, one error of the kind")
	s.rings()[1].put(3, 0)
	assert.Equal(t, 3., s.Bias(0), "a stage below 1 counts as 1")
	s.rings()[Parts].put(7, 0)
	assert.Equal(t, 7., s.Bias(Parts+3))
}

// rings returns the errors of all stages. It allocates them if the shape has no errors yet.
func (s *Shape) rings() *[Parts + 1]ring {
	if s.errors == nil {
		s.errors = new([Parts + 1]ring)
	}
	return s.errors
}
