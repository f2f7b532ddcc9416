package restart_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
)

func TestDecideDoesNotAllocate(t *testing.T) {
	for name, policy := range policytest.Policies() {
		for _, rate := range []estimate.Distribution{empirical(1000), distuv.LogNormal{Mu: 3, Sigma: 0.5}} {
			tasks, phase := runningTasks(100, rate)
			phase.Finished, phase.FreeSlots = 50, 10
			phase.Peers = restart.Peers{
				Durations: rate, UnitTimes: rate, ProgressRates: rate, MeanScore: 0.8, Throughput: 1,
				Machine: restart.MachineProgress{Total: 1, Of: rate},
			}
			for _, phase.Waiting = range []int{0, 1} {
				i := 0
				assert.Zero(t, testing.AllocsPerRun(200, func() {
					sink = policy.Decide(tasks[i%len(tasks)], phase)
					i++
				}), "%s, %T", name, rate)
			}
		}
	}
	tasks, phase := runningTasks(100, empirical(100))
	works := []float64{1, 2, 3}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, sink = restart.Next(restart.Mantri{}, tasks, works, phase) }))
}
