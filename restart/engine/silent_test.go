package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
)

// told passes reports to a phase without the work that was done. If silent is true, it also leaves out the progress.
type told struct {
	*engine.Phase
	silent bool
}

func (p told) Poll(now time.Time, attempts []engine.Attempt) engine.Turn {
	for i := range attempts {
		attempts[i].Progress.Score, attempts[i].Progress.Done = min(attempts[i].Progress.Done/2.3, 1), 0
		if p.silent {
			attempts[i].AsOf, attempts[i].Progress.Score = time.Time{}, 0
		}
	}
	return p.Phase.Poll(now, attempts)
}

// One machine of four is six times slower, and every task has a slot. The naive rule copies an attempt that has
// run for twice the median. The default must not be later than the naive rule, whether it gets all facts or
// few.
func TestSlowMachineAgainstTheNaiveRule(t *testing.T) {
	naive := rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}
	median := func(policy restart.Policy, sized, silent bool) float64 {
		var took []float64
		for seed := range cases(5, 9) {
			c, random := fourMachines(64, 16, 6.25), rand.New(rand.NewPCG(seed, 7))
			c.dispatch, c.dying, c.stale = 150*time.Millisecond, 300*time.Millisecond, 200*time.Millisecond
			work := slices.Repeat([]float64{math.NaN()}, 64)
			for i := range c.work {
				c.work[i] = 2.3 * math.Exp(0.1*random.NormFloat64())
				if sized {
					work[i] = 1
				}
			}
			p, err := engine.New(engine.Config{
				Work: work, Interval: 500 * time.Millisecond, Policy: policy, Machines: c.known(t, engine.MachinesConfig{}),
			})
			require.NoError(t, err)
			one, _ := drive(t, c, told{p, silent}, 500*time.Millisecond, nil)
			took = append(took, one.Seconds())
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	for _, sized := range []bool{true, false} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("sized=%v,silent=%v", sized, silent), func(t *testing.T) {
				none, first, ours := median(restart.Never{}, sized, silent), median(naive, sized, silent), median(nil, sized, silent)
				t.Logf("none %.2f s, naive %.2f s, default %.2f s", none, first, ours)
				if silent {
					assert.LessOrEqual(t, ours, first)
				} else {
					assert.Less(t, ours, 0.75*first)
				}
			})
		}
	}
}
