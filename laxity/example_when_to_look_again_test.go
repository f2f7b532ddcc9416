package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/laxity"
)

// When does the order of the queue change, although no job arrives or ends? NextLate returns this instant.
func ExampleQueue_NextLate() {
	var q laxity.Queue
	now := time.Unix(0, 0)
	q.Push(now, laxity.Job{UntilDeadline: 2000 * ms, Projected: 1500 * ms})
	q.Push(now, laxity.Job{UntilDeadline: 4000 * ms, Projected: 1500 * ms})
	at, ok := q.NextLate()
	fmt.Println(at.Sub(now), ok)
	fmt.Println(q.Peek(at))
	fmt.Println(q.Peek(at.Add(1 * ms))) // job 0 can no longer meet its deadline
	// Output:
	// 500ms true
	// least-laxity ticket=0 laxity=0s until-deadline=1.5s true
	// least-laxity ticket=1 laxity=1.999s until-deadline=3.499s true
}
