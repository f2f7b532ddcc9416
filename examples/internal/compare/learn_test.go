package compare

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// A policy that reads how progress runs knows in each phase what the earlier ones have shown, on however many
// processors.
func TestPhasesLearnFromEarlierOnes(t *testing.T) {
	phases := workload.Generate(20, 6)
	mantri := Entry{Name: "mantri", Policy: restart.Mantri{}, LargestFirst: true, Progress: sim.Typical}
	require.True(t, mantri.learns())
	nothing := func() {}
	learned, _, err := Replay(phases, mantri, 1, nothing)
	require.NoError(t, err)

	before := runtime.GOMAXPROCS(1)
	alone, _, err := Replay(phases, mantri, 1, nothing)
	runtime.GOMAXPROCS(before)
	require.NoError(t, err)
	assert.Equal(t, learned, alone)

	first := byBegin(phases)[0]
	differ := 0
	for i, p := range phases {
		r, err := sim.Run(p, mantri.Options(1, i))
		require.NoError(t, err)
		known := learned[i].Known
		require.NotNil(t, known)
		if again := learned[i]; r.Time != again.Time || r.Used != again.Used {
			differ++
			assert.NotEqual(t, first, i, "there was nothing to know yet")
		}
		o, err := mantri.Again(p, 1, i, learned[i])
		require.NoError(t, err)
		r, err = sim.Run(p, o)
		require.NoError(t, err)
		assert.Equal(t, learned[i].Used, r.Used, "a phase can be replayed again, with what was known when it began")
	}
	assert.Positive(t, differ)
}

// A comparison keeps the shape that was known in the phases that a policy changes most, and in no other phase. So these
// phases can be replayed again.
func TestPhasesThatChangeMostKeepTheirShape(t *testing.T) {
	phases := workload.Generate(40, 6)
	c, err := Run(phases, Options{Policies: Entries()[:1], Step: func() {}})
	require.NoError(t, err)
	results := c.Outcomes[0].Results
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, c.ByChange(results))
	for k, i := range order {
		assert.Equal(t, k < mostKept, results[i].Known != nil, "place %d", k)
		if k > 0 {
			before := order[k-1]
			assert.GreaterOrEqual(t, (results[before].Time - c.NoAction[before].Time).Abs(),
				(results[i].Time - c.NoAction[i].Time).Abs())
		}
	}
	assert.NotEqual(t, results[order[0]].Time, c.NoAction[order[0]].Time)
}

// The decisions of a policy that does not read the shape of progress depend on no other phase.
func TestOthersDoNotLearn(t *testing.T) {
	for _, e := range Entries() {
		assert.Equal(t, e.Name == "mantri" || e.Name == "least-cost", e.learns(), e.Name)
	}
}
