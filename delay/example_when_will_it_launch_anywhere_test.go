package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// When may a job launch at the next level? Allowed returns the time without an offer, so that the host can set a
// timer.
func ExampleLocality_Allowed() {
	policy, err := delay.New(delay.Config{Waits: []time.Duration{10 * time.Second}, Reset: delay.ToLaunched})
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	fmt.Println(job.Allowed(start.Add(4 * time.Second)))
	fmt.Println(job.Allowed(start.Add(10 * time.Second)))
	// Output:
	// 0 6s
	// 1 0s
}
