package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// Should I copy an output when its task finishes? This is the loop of a host for a chain of six tasks. An output is
// copied if the copy saves more time than it takes, and if there are enough tokens.
func Example() {
	const MB = int64(1e6)
	tokens, err := replicate.NewByteBudget(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var job replicate.Graph
	for task := range 6 {
		// The task has finished. It read 400 MB and left 60 MB on a machine that loses every fourth output.
		tokens.Grant(400 * MB)
		out := replicate.Output{Run: 40 * time.Second, Loss: 0.25}
		if task > 0 {
			out.Inputs = []int{task - 1}
		}
		k, err := job.Add(out)
		if err != nil {
			fmt.Println(err)
			return
		}
		d := replicate.Decide(replicate.Candidate{
			Cost: job.Cost(k), CopyTime: 6 * time.Second, Bytes: 60 * MB,
		}, tokens.Left())
		fmt.Printf("task %d: %v\n", task, d)
		if d.Action == replicate.Replicate {
			tokens.Spend(d.Bytes) // the host copies the output to a machine that loses one output in a hundred
			job.SetLoss(k, replicate.AllLost(0.25, 0.01))
		}
	}
	// Output:
	// task 0: leave over-budget saves=10s takes=6s bytes=60000000 tokens=40000000
	// task 1: replicate saves-time saves=12.5s takes=6s bytes=60000000 tokens=80000000
	// task 2: replicate saves-time saves=10.0312s takes=6s bytes=60000000 tokens=60000000
	// task 3: leave over-budget saves=10.0251s takes=6s bytes=60000000 tokens=40000000
	// task 4: replicate saves-time saves=12.5063s takes=6s bytes=60000000 tokens=80000000
	// task 5: replicate saves-time saves=10.0313s takes=6s bytes=60000000 tokens=60000000
}
