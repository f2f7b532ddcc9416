package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// What does a second copy save? The output named right has a copy on another machine, so it is lost only if both
// machines lose it. The cost of the output named join falls from 31.9 s to 26.8 s.
func ExampleGraph_diamond() {
	const extract, left, right, join = 0, 1, 2, 3
	job := []replicate.Output{
		extract: {Run: 10 * time.Second, Loss: 0.5},
		left:    {Run: 20 * time.Second, Loss: 0.5, Inputs: []int{extract}},
		right:   {Run: 30 * time.Second, Loss: 0.5, Inputs: []int{extract}},
		join:    {Run: 40 * time.Second, Loss: 0.5, Inputs: []int{left, right}},
	}
	costs := costsOf(job)
	fmt.Println(costs[join])

	job[right].Loss = replicate.AllLost(0.5, 0.1)
	costs = costsOf(job)
	fmt.Println(costs[join])
	// Output:
	// redo=63.75s stall=23.75s expected=31.875s cluster-time=70s
	// redo=53.625s stall=13.625s expected=26.8125s cluster-time=54.25s
}
