package causes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// misfit is the sum of the squared residuals, each at most 1. A residual of 1 is the largest residual of an
// explained task.
func (c *coefficients) misfit(rows []row, residual float64) float64 {
	sum, floor := 0.0, c.floor()
	for i := range rows {
		off := (rows[i].seconds/max(c.at(&rows[i].x), floor) - 1) / residual
		sum += min(float64(off*off), 1)
	}
	return sum
}

// The test makes phases of all kinds: bytes explain the times except for noise of up to a fifth. Up to a third of
// the tasks are slow: of all tasks, of the large tasks, or of the small tasks. In all but a few of 3000 phases the
// fit explains about as many tasks as the true model.
func TestFitIsAsGoodAsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	missed := 0
	for range 3000 {
		truth := coefficients{
			r.Float64() * float64(r.IntN(2)), r.Float64() * float64(r.IntN(3)), r.Float64() * float64(r.IntN(2)),
		}
		if truth[0]+truth[1] == 0 {
			truth[0] = 1
		}
		spread, odd, size, noise := 2*r.Float64(), .15*r.Float64(), 1+20*r.Float64()*r.Float64(), .2*r.Float64()
		where := r.IntN(3)
		rows := make([]row, 5+r.IntN(250))
		for i := range rows {
			x := coefficients{1, math.Exp(spread * r.NormFloat64()), 0}
			if r.IntN(4) == 0 {
				x[2] = x[1]
			}
			share := odd
			if where == 1 && x[1] > 1 || where == 2 && x[1] < 1 {
				share *= 2
			}
			rows[i] = row{x, truth.at(&x) * math.Exp(noise*r.NormFloat64())}
			if r.Float64() < share {
				rows[i].seconds *= 1.5 + size*r.Float64()
			}
		}
		found := fit(rows, .2)
		if found.misfit(rows, .2) > truth.misfit(rows, .2)+.1*float64(len(rows)) {
			missed++
		}
	}
	t.Log("missed", missed)
	assert.LessOrEqual(t, missed, 5)
}
