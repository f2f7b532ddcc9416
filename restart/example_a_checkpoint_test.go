package restart_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// A task resumes from a checkpoint. A new attempt has only the rest of the work to do. The running attempt is judged
// by the work that it has done since it began.
func ExampleDecide_checkpoint() {
	var took estimate.Empirical // seconds that whole tasks took
	for _, seconds := range []float64{95, 100, 105} {
		took.Insert(seconds)
	}
	const saved = 0.75 // share of the work that the checkpoint has
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 3 * time.Minute, Remaining: time.Minute, Done: 0.75}},
		Fresh:    estimate.Fresh{UnitTime: &took, Work: 1 - saved, Lag: 5 * time.Second}, // the lag is the time to load the checkpoint
	}
	fmt.Println(restart.Decide(task, restart.Phase{Interval: 10 * time.Second, Waiting: 40}))
	// Output:
	// restart fresh-sooner attempt=0 remaining=60s fresh=30s slot-seconds=90 threshold=45 gain=30s avoid=7
}
