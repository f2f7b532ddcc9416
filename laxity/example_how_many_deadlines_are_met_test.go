package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/laxity"
)

// How many deadlines are met with each rule? The host has two slots, two short jobs and a long job. The rule
// DeadlineFirst starts the short jobs, because their deadlines come first. Then it starts the long job too late.
func Example_deadlines() {
	type job struct{ needs, deadline time.Duration }
	jobs := []job{{1000 * ms, 2000 * ms}, {1000 * ms, 2000 * ms}, {2000 * ms, 2200 * ms}}

	for _, rule := range []laxity.Rule{laxity.DeadlineFirst, laxity.NegativeLast} {
		q, _ := laxity.NewQueue(laxity.Policy{Rule: rule})
		start := time.Unix(0, 0)
		for _, j := range jobs { // the tickets are 0, 1 and 2
			q.Push(start, laxity.Job{UntilDeadline: j.deadline, Projected: j.needs})
		}
		slots := []time.Duration{0, 0} // by slot: when it becomes free
		met := 0
		for q.Len() > 0 {
			slot := 0
			if slots[1] < slots[0] {
				slot = 1
			}
			next, _ := q.Pop(start.Add(slots[slot]))
			slots[slot] += jobs[next.Ticket].needs
			if slots[slot] <= jobs[next.Ticket].deadline {
				met++
			}
		}
		fmt.Println(rule, "meets", met, "of", len(jobs), "deadlines")
	}
	// Output:
	// deadline-first meets 2 of 3 deadlines
	// negative-last meets 3 of 3 deadlines
}
