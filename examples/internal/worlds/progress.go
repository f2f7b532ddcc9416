package worlds

import "math"

// curve is the progress that an attempt reports, as a function of its work.
type curve struct {
	model  Model
	factor float64
	noise  float64     // σ of the factor of each report
	ends   [12]float64 // share of the time at the end of each twelfth of the work
}

// The σ of the two factors of noisy progress, for World.Noise 1.
const (
	attemptNoise = .15 // one factor for each attempt
	reportNoise  = .05 // one factor for each report
)

// draw draws the curve of an attempt. The σ of noisy progress are multiplied by noise.
func (c *curve) draw(l *luck, m Model, noise float64) {
	c.model = m
	switch m {
	case Noisy:
		c.factor = math.Exp(attemptNoise * noise * l.NormFloat64())
		c.noise = reportNoise * noise
	case Stalls:
		sum := 0.0
		for i := range c.ends {
			c.ends[i] = math.Exp(.5 * l.NormFloat64())
			if i < 5 {
				c.ends[i] *= 1.3
			}
			sum += c.ends[i]
		}
		if l.Float64() < .12 {
			at, share := l.IntN(3), .6+.35*l.Float64()
			longer := (sum - c.ends[at]) * share / (1 - share)
			sum += longer - c.ends[at]
			c.ends[at] = longer
		}
		before := 0.0
		for i := range c.ends {
			before += c.ends[i] / sum
			c.ends[i] = before
		}
	}
}

// shows returns the progress that is reported after a share of the time.
func (c *curve) shows(share float64, l *luck) float64 {
	switch c.model {
	case Noisy:
		return min(share*c.factor*math.Exp(c.noise*l.NormFloat64()), .999)
	case Stalls:
		before := 0.0
		for i, end := range c.ends {
			if share < end {
				return (float64(i) + (share-before)/(end-before)) / 12
			}
			before = end
		}
		return 1
	}
	return share
}
