package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// smallPhases writes a log of phases of one to nine tasks. Their times are multiples of 0.15 s, so that many are equal, some
// are 0, and some are exactly 1.5 medians. Some tasks have two successes, and of some the first output was lost.
func smallPhases(phases int) string {
	r := rand.New(rand.NewPCG(4, 4))
	var text strings.Builder
	for phase := range phases {
		for task := range 1 + r.IntN(9) {
			took := func() int { return 150 * r.IntN(12) }
			line := func(attempt, start, took int, state string) {
				fmt.Fprintf(&text, `{"phase":"p%d","task":%d,"attempt":%d,"start":%d,"finish":%d,"state":%q,"host":"h%d"}`+"\n",
					phase, task, attempt, 1000*phase+start, 1000*phase+start+took, state, r.IntN(4))
			}
			switch first := took(); r.IntN(6) {
			case 0:
				line(0, 0, first, "lost")
				line(1, first, took(), "succeeded")
			case 1:
				line(0, 0, first, "succeeded")
				line(1, 50, took(), "succeeded")
			default:
				line(0, 0, first, "succeeded")
			}
		}
	}
	return text.String()
}

// A phase has one median: the number of stragglers, the time that they took beyond it, their list and the machines are of
// the same tasks. The test counts them again by the definition: the lower of two middle times, and no straggler among one or two
// tasks.
func TestOneMedianOfAPhase(t *testing.T) {
	log, err := trace.Read(strings.NewReader(smallPhases(400)), "x")
	require.NoError(t, err)
	phases, _ := workload.FromLog(log)
	require.Greater(t, len(phases), 350)
	var facts []causes.Phase
	var machines why.Machines
	tasks, excess, slowest, exact := 0, time.Duration(0), 0.0, 0
	for _, p := range phases {
		facts = append(facts, why.FromLog(log, p, &machines))
		var times []time.Duration
		for i := range p.Tasks {
			if took := compare.Last(p, i); took > 0 {
				times = append(times, took)
			}
		}
		if len(times) == 0 {
			continue
		}
		slices.Sort(times)
		median, own := times[(len(times)-1)/2], []int{}
		for i := range p.Tasks {
			switch took := compare.Last(p, i); {
			case 2*took > 3*median && len(times) > 2:
				own = append(own, i)
				excess += took - median
				slowest = max(slowest, float64(took)/float64(median))
			case 2*took == 3*median:
				exact++
			}
		}
		tasks += len(own)
		assert.Equal(t, len(own), compare.Survey(phases[len(facts)-1:len(facts)]).Stragglers, "%v", times)
		found := causes.Explain(facts[len(facts)-1])
		assert.Equal(t, median, found.Median)
		outliers := []int{}
		for _, o := range found.Outliers {
			outliers = append(outliers, o.Task)
		}
		assert.Equal(t, own, outliers, "%v", times)
	}
	assert.Greater(t, min(tasks, exact), 40, "the test has both kinds")
	r := build(t, phases, Input{Name: "small"})
	require.NoError(t, r.Explain(phases, facts, machines.Names))
	assert.Equal(t, tasks, r.Stragglers.Tasks)
	assert.InDelta(t, excess.Seconds(), r.Causes.Excess, 1e-6)
	assert.Equal(t, slowest, r.Slowdown[len(r.Slowdown)-1].X)
	ofMachines, beyond := 0, 0.0
	for _, w := range r.Workers {
		ofMachines += w.Stragglers
		beyond += w.Excess
	}
	assert.Equal(t, tasks, ofMachines)
	assert.InDelta(t, excess.Seconds(), beyond, 1e-6)
	for _, s := range r.Worst {
		p := phases[s.Phase]
		assert.InDelta(t, s.Seconds, s.Times*causes.Explain(facts[s.Phase]).Median.Seconds(), 1e-9, "%v", p.Name)
	}
}
