package clone_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// On which machines should no task start for the next five minutes? Tasks on machine 13 are three times as slow as
// others.
func ExampleBlacklist() {
	blacklist, err := clone.NewBlacklist(20, clone.BlacklistConfig{})
	if err != nil {
		panic(err)
	}
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	rates := make([]float64, 20) // MB/s, of a phase with a task on each machine
	for machine := range rates {
		rates[machine] = 12
	}
	rates[13] = 4
	for range 4 {
		slow := estimator.Observe(now, rates)
		for machine, rate := range rates {
			blacklist.Observe(now, machine, rate < slow)
		}
	}
	fmt.Println(blacklist.AppendBanned(nil, now.Add(5*time.Minute)))
	fmt.Println(blacklist.AppendBanned(nil, now.Add(10*time.Minute)))
	// Output:
	// [13]
	// []
}
