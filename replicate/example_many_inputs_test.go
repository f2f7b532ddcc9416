package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// What does a loss cost if a task has many inputs? A reduce task reads a hundred map outputs. If any of them is lost,
// the recomputation of the reduce task waits for it.
func ExampleGraph_fanIn() {
	reduce := replicate.Output{Run: 30 * time.Second, Loss: 0.01}
	var maps []replicate.Output
	for m := range 100 {
		maps = append(maps, replicate.Output{Run: 20 * time.Second, Loss: 0.01})
		reduce.Inputs = append(reduce.Inputs, m)
	}
	costs := costsOf(append(maps, reduce))
	fmt.Println("map:   ", costs[0].Expected)
	fmt.Println("reduce:", costs[100].Expected, "of", costs[100].Redo)
	// Output:
	// map:    200ms
	// reduce: 426.793532ms of 42.679353175s
}

// costsOf returns the costs of a job's outputs. Inputs must come before their readers.
func costsOf(job []replicate.Output) (costs []replicate.Cost) {
	var g replicate.Graph
	for _, o := range job {
		if k, err := g.Add(o); err != nil {
			fmt.Println(err)
		} else {
			costs = append(costs, g.Cost(k))
		}
	}
	return costs
}
