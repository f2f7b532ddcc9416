package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// All data of a job is on one busy machine. With the rule NoRejection, the job also uses the rest of the cluster.
func ExampleLocality_EndRound() {
	policy, err := delay.New(delay.Config{Waits: []time.Duration{3 * time.Second}, Reset: delay.NoRejection})
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	for second := range 5 {
		now := start.Add(time.Duration(second) * time.Second)
		local := job.Offer(now, 0) // launches each second, and starts no new wait,
		other := job.Offer(now, 1) // because this offer was declined
		job.EndRound(now, true)
		fmt.Println(local.Action, other.Action)
	}
	// Output:
	// launch wait
	// launch wait
	// launch wait
	// launch launch
	// launch wait
}
