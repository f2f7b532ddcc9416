package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// What if outputs lie on the same machine? The reduce task read three map outputs from its own disk and one map
// output from another machine. If its output is lost, the three map outputs are lost, too.
func ExampleGraph_domain() {
	const here, there = 1, 2 // machine numbers plus 1
	job := []replicate.Output{
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: there},
		{Run: 30 * time.Second, Loss: 0.1, Domain: here, Inputs: []int{0, 1, 2, 3}},
	}
	costs := costsOf(job)
	fmt.Println("same machine:", costs[4])
	for i := range job {
		job[i].Domain = 0
	}
	costs = costsOf(job)
	fmt.Println("independent: ", costs[4])
	// Output:
	// same machine: redo=50s stall=20s expected=5s cluster-time=92s
	// independent:  redo=36.878s stall=6.878s expected=3.6878s cluster-time=38s
}
