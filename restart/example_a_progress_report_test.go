package restart_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// What should the host do about a running task? The host knows how long the attempt still needs, and how long similar
// tasks took.
func ExampleDecide() {
	var took estimate.Empirical
	for _, seconds := range []float64{28, 30, 31, 35} {
		took.Insert(seconds)
	}
	phase := restart.Phase{Interval: 10 * time.Second, Waiting: 40} // tasks wait for slots

	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 20 * time.Second, Remaining: 25 * time.Second}},
		Fresh:    estimate.Fresh{UnitTime: &took, Work: 1},
	}
	fmt.Println(restart.Decide(task, phase))

	task.Attempts[0].Remaining = 2 * time.Minute
	d := restart.Decide(task, phase)
	fmt.Println(d)
	switch d.Action {
	case restart.Copy:
		fmt.Println("launch a copy, not on machine", d.Avoid.At(0))
	case restart.Restart:
		fmt.Println("kill attempt", d.Attempt, "and run the task again, not on machine", d.Avoid.At(0))
	}
	// Output:
	// keep not-slow remaining=25s fresh=31s slot-seconds=37.5 threshold=66.5
	// restart fresh-sooner attempt=0 remaining=120s fresh=31s slot-seconds=180 threshold=46.5 gain=89s avoid=7
	// kill attempt 0 and run the task again, not on machine 7
}
