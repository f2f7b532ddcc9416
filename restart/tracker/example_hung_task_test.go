package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// What happens to a task that hangs? Four tasks run, and three end after 100 s. Task 3 has reported half of its work after 50 s,
// and nothing since. At 100 s its report is 50 s old, and the tracker keeps the task. At 200 s the silence is long enough: a
// sweep finds the task, and Next gives it the free slot of machine 0. The copy ends the task at 300 s, so the host kills the
// hung attempt 0.
func ExampleTracker_hungTask() {
	t, err := tracker.New(tracker.Config{Tasks: 20, Slots: 4, Machines: 4, Interval: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for task := range 4 {
		t.Start(at(0), task, task)
		t.Report(at(50), task, 0, tracker.Report{Score: 0.5})
	}
	for task := range 3 {
		t.Finish(at(100), task, 0)
	}
	fmt.Println(t.Decide(at(100), 3).Sentence())

	t.Sweep(at(200), func(a tracker.Answer) { fmt.Println(a.Sentence()) })
	a := t.Next(at(200), 0)
	fmt.Println(a.Action, "of task", a.Task)
	copied := t.Start(at(200), a.Task, 0)
	fmt.Println("kill attempts", t.Finish(at(300), a.Task, copied))
	// Output:
	// task 3 kept: it is not slow enough; to let it run costs 197 s of slot time, and the cheapest change 237 s
	// task 3 copied: it still needs 305 s, and a copy takes 200 s, so that the two probably use less in all; to let it run costs 452 s of slot time, and the cheapest change 368 s
	// copy of task 3
	// kill attempts [0]
}
