package placement

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes and bandwidths of a problem may differ by twelve decades. The search still ends at every effort, no bound
// exceeds the best placement, and an answer with Optimal is optimal.
func TestAnswersAreRightOverTwelveDecades(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	wide := func() float64 { return math.Pow(10, 12*r.Float64()-6) }
	for range part(600, 2) {
		tasks, racks := 1+r.IntN(5), 1+r.IntN(3)
		p := Problem{Input: make([][]float64, tasks), Up: make([]float64, racks), Down: make([]float64, racks)}
		for k := range p.Input {
			p.Input[k] = make([]float64, racks)
			for j := range p.Input[k] {
				if r.IntN(4) > 0 {
					p.Input[k][j] = wide()
				}
			}
		}
		for j := range racks {
			p.Up[j], p.Down[j] = wide(), wide()
		}
		best := bruteForce(p)
		for _, effort := range []Effort{Exhaustive, DefaultEffort, 1, 100} {
			a, err := Assign(p, effort)
			require.NoError(t, err)
			require.GreaterOrEqual(t, a.Seconds, best*(1-1e-12), "effort %d: %+v", effort, p)
			require.LessOrEqual(t, a.Bound, a.Seconds)
			if a.Optimal { // Optimal is exact up to a billionth
				require.LessOrEqual(t, a.Seconds, best*(1+1e-9), "effort %d: %+v", effort, p)
			} else {
				require.LessOrEqual(t, a.Bound, best*(1+1e-12), "effort %d: %+v", effort, p)
			}
			require.True(t, a.Optimal || effort > 0, "the default and the exhaustive effort must solve so few tasks exactly: %+v", p)
		}
	}
}
