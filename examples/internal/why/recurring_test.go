package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// steps makes phases of eight tasks of ten seconds each, some of which take longer.
func steps(n int, slow func(step, task int) float64) (phases []*sim.Phase) {
	for s := range n {
		p := &sim.Phase{Job: "training", Name: fmt.Sprint("step ", s)}
		for t := range 8 {
			took := time.Duration(10 * slow(s, t) * float64(time.Second))
			p.Tasks = append(p.Tasks, sim.Task{Number: int32(t), Attempts: []sim.Attempt{{Duration: took}}})
		}
		phases = append(phases, p)
	}
	return phases
}

// The last stage of a pipeline is slow in every step: that is the finding. Now and then is no habit.
func TestRecurring(t *testing.T) {
	phases := steps(8, func(_, task int) float64 {
		if task >= 6 {
			return 1.6
		}
		return 1
	})
	found, slowIn := Recur(phases)
	require.Len(t, found, 2)
	assert.Equal(t, Recurring{Job: "training", Task: "6", Ratio: 1.6, Phases: 8, Slow: 8}, found[0])
	assert.Equal(t, []int{6, 7}, slowIn[3])

	for _, p := range phases {
		p.Tasks[6].Host, p.Tasks[7].Host = "n6", "n7"
	}
	phases[5].Tasks[7].Host = "elsewhere"
	found, slowIn = Recur(phases)
	require.Len(t, found, 1)
	assert.Equal(t, "7", found[0].Task, "task 6 always ran on one machine, which may be slow")
	assert.Equal(t, []int{7}, slowIn[3])

	rarely := func(step, task int) float64 {
		if task == step%8 {
			return 3
		}
		return 1
	}
	found, slowIn = Recur(steps(8, rarely))
	assert.Empty(t, found)
	assert.Empty(t, slowIn[0])
	found, _ = Recur(steps(5, func(step, task int) float64 {
		if task == 1 && step < 3 || (step+3*task)%7 == 0 {
			return 2
		}
		return 1
	}))
	assert.Empty(t, found, "three of five may be chance, where one in five is slow")
	found, _ = Recur(steps(4, func(_, task int) float64 { return float64(1 + task/7) }))
	assert.Empty(t, found, "four phases are too few")
}
