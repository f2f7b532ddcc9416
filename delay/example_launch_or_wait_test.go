package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// A slot is free on a machine without the job's data. Should the job launch a task there, or wait?
func ExampleLocality() {
	policy, err := delay.New(delay.Config{}) // machine, rack, anywhere; 15 s at each of the first two levels
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	const machine, rack, anywhere = 0, 1, 2
	for _, offer := range []struct{ second, level int }{{0, anywhere}, {4, machine}, {5, rack}, {20, rack}, {22, anywhere}} {
		now := start.Add(time.Duration(offer.second) * time.Second)
		fmt.Printf("%2ds %v\n", offer.second, job.Offer(now, offer.level))
	}
	// Output:
	//  0s wait delayed level=2 allowed=0 next-level-in=15s
	//  4s launch local-enough level=0 allowed=0
	//  5s wait delayed level=1 allowed=0 next-level-in=15s
	// 20s launch local-enough level=1 allowed=1
	// 22s wait delayed level=2 allowed=1 next-level-in=15s
}
