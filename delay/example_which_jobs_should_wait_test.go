package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// Which jobs should wait for their data? Jobs that read fast should wait. Jobs that mostly compute should not.
func ExampleByReadRate() {
	biased, err := delay.NewByReadRate(
		delay.Class{MinRate: 10e6, Config: delay.Config{Waits: []time.Duration{10 * time.Second}}},
		delay.Class{MinRate: 0, Config: delay.Config{Waits: []time.Duration{0}}},
	)
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for _, took := range []time.Duration{5 * time.Second, 25 * time.Second} {
		rate := 64e6 / took.Seconds() // bytes per second
		job := biased.For(rate).Start(now)
		fmt.Printf("%.2f MB/s: %v\n", rate/1e6, job.Offer(now, 1))
	}
	// Output:
	// 12.80 MB/s: wait delayed level=1 allowed=0 next-level-in=10s
	// 2.56 MB/s: launch local-enough level=1 allowed=1
}
