package restart_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// LATE's heuristic misjudges tasks that change their speed. With an estimate by subphases it judges them well [LATE
// §4.2].
func ExampleNext_late() {
	// Both tasks do the first half of their score at 5 % a second, and the second half at 1 %. The older task began
	// ten seconds earlier.
	older := []estimate.Subphase{
		{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, Score: 0.1, Age: 10 * time.Second},
	}
	younger := []estimate.Subphase{{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, PeerRate: 0.01}}
	running := []restart.Task{
		{Attempts: []restart.Attempt{{Machine: 0, Elapsed: 20 * time.Second, Score: 0.6, Remaining: estimate.TimeLeftBySubphase(older)}}},
		{Attempts: []restart.Attempt{{Machine: 1, Elapsed: 10 * time.Second, Score: 0.5, Remaining: estimate.TimeLeftBySubphase(younger)}}},
	}
	phase := restart.Phase{Slots: 20, FreeSlots: 1}
	for _, aware := range []bool{false, true} {
		late := rules.LATE{MinAge: restart.Off, SlowTask: restart.Off, UseRemaining: aware}
		i, d := restart.Next(late, running, nil, phase)
		fmt.Println("task", i, d)
	}
	// Output:
	// task 0 copy longest-to-end remaining=13.3333s gain=13.3333s avoid=0
	// task 1 copy longest-to-end remaining=50s gain=50s avoid=1
}
