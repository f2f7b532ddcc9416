package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/laxity"
)

// Should a waiting job replace a running job? Only if the laxity of the waiting job is smaller by more than the
// margin.
func ExampleQueue_Preempt() {
	q, _ := laxity.NewQueue(laxity.Policy{Margin: 100 * ms})
	now := time.Unix(0, 0)
	q.Push(now, laxity.Job{UntilDeadline: 2000 * ms, Projected: 1000 * ms})
	for _, laxityOfRunning := range []time.Duration{900 * ms, 1050 * ms, 1150 * ms} {
		running := laxity.Job{UntilDeadline: 3000 * ms, Projected: 3000*ms - laxityOfRunning}
		c, switches := q.Preempt(now, running)
		fmt.Println(laxityOfRunning, switches, c)
	}
	// Output:
	// 900ms false running-first
	// 1.05s false running-first
	// 1.15s true least-laxity ticket=0 laxity=1s until-deadline=2s
}
