package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// How is a queue of jobs one phase? The phase grows: Add adds each new job, and Forget forgets a job that has ended. The
// index of a job is never used again, but its memory is. A job counts for Recent after its end.
func Example_aStreamOfJobs() {
	now := time.Unix(0, 0)
	phase, err := tracker.New(tracker.Config{Recent: 10 * time.Minute, Slots: 4, Interval: time.Second, Stream: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for job := range 100 {
		task := phase.Add(2 << 20) // bytes
		attempt := phase.Start(now, task, job%4)
		now = now.Add(30 * time.Second)
		phase.Finish(now, task, attempt)
		phase.Forget(task)
	}
	late := phase.Apply(tracker.Event{Kind: tracker.Finished, Time: now, Task: 7, Attempt: 0})
	fmt.Println("tasks that count:", phase.Phase().Tasks)
	fmt.Println("an event of a forgotten task is ignored:", late.Ignored)
	fmt.Println(phase.Ledger())

	// Output:
	// tasks that count: 21
	// an event of a forgotten task is ignored: true
	// started=100 finished=100 ignored=1 used=3000s
}
