package rules_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// When does Spark's rule copy a task? Three of four tasks have finished after 10 s each, so the threshold is 30 s.
func ExampleSpark() {
	peers := new(estimate.Empirical)
	for range 3 {
		peers.Insert(10)
	}
	phase := restart.Phase{Tasks: 4, Finished: 3, FreeSlots: 1, Peers: restart.Peers{Durations: peers}}
	for _, age := range []time.Duration{30 * time.Second, 31 * time.Second} {
		task := restart.Task{Attempts: []restart.Attempt{{Elapsed: age}}}
		fmt.Println(rules.Spark{}.Decide(task, phase))
	}
	// Output:
	// keep not-slow run-seconds=30 threshold=30
	// copy beyond-peers run-seconds=31 threshold=30 gain=1s avoid=0
}
