package restart_test

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// Any distribution of gonum can be the time of a new attempt.
func ExampleMantri_logNormal() {
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: time.Minute, Remaining: 40 * time.Second}},
		Fresh:    estimate.Fresh{UnitTime: distuv.LogNormal{Mu: 3, Sigma: 1}, Work: 1}, // median 20 s, mean 33 s
	}
	// By the mean of t_new, Mantri would wait. But half of all new attempts would take less than half of the
	// remaining time.
	fmt.Println(restart.Mantri{}.Decide(task, restart.Phase{Interval: 10 * time.Second, Waiting: 40}))
	// Output:
	// copy saves-resources remaining=40s fresh=33.1155s bar=43.1155s probability=0.498297 threshold=0.25 gain=6.88455s avoid=7
}
