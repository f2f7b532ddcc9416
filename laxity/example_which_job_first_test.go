package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/laxity"
)

const ms = time.Millisecond

// Which job should run first? It is the job with the smallest laxity that is not negative.
func ExampleOrder() {
	jobs := []laxity.Job{
		{UntilDeadline: 4000 * ms, Projected: 1500 * ms},
		{UntilDeadline: 2000 * ms, Projected: 1900 * ms},
		{UntilDeadline: 1000 * ms, Projected: 1200 * ms}, // will miss its deadline, and must not make other jobs late
	}
	fmt.Println(laxity.Order(jobs))
	for _, i := range laxity.Order(jobs) {
		fmt.Println("job", i, "laxity", jobs[i].Laxity())
	}
	// Output:
	// [1 0 2]
	// job 1 laxity 100ms
	// job 0 laxity 2.5s
	// job 2 laxity -200ms
}
