package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/laxity"
)

// How does the order of waiting jobs change while time passes and tasks end?
func ExampleQueue() {
	q, err := laxity.NewQueue(laxity.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	tight := q.Push(now, laxity.Job{UntilDeadline: 2000 * ms, Projected: 1500 * ms})
	loose := q.Push(now, laxity.Job{UntilDeadline: 4000 * ms, Projected: 1500 * ms})

	now = now.Add(200 * ms)
	fmt.Println(q.Peek(now))
	// A task of the second job (loose) is slow, so this job needs much more time than predicted.
	q.Update(now, loose, laxity.Job{UntilDeadline: 3800 * ms, Projected: 3700 * ms})
	fmt.Println(q.Peek(now))
	// No job was started. The second job (loose) can no longer meet its deadline.
	now = now.Add(200 * ms)
	fmt.Println(q.Peek(now))
	q.Remove(tight)
	fmt.Println(q.Peek(now))
	// Output:
	// least-laxity ticket=0 laxity=0.3s until-deadline=1.8s true
	// least-laxity ticket=1 laxity=0.1s until-deadline=3.8s true
	// least-laxity ticket=0 laxity=0.1s until-deadline=1.6s true
	// only-late ticket=1 laxity=-0.1s until-deadline=3.6s true
}
