package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// What happens to a task that is long by itself? Task 3 has done a tenth of its work in 100 s, in which the other tasks end. It
// gets a copy. After 20 s the copy is as slow as the old attempt: the task is long, and the tracker asks for the end of the
// copy. The trial was lost, which makes the next copy less likely.
func ExampleTracker_longTask() {
	t, err := tracker.New(tracker.Config{Tasks: 20, Slots: 4, Machines: 4, Interval: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for task := range 4 {
		t.Start(at(0), task, task)
	}
	for task := range 3 {
		t.Report(at(50), task, 0, tracker.Report{Score: 0.5})
		t.Finish(at(100), task, 0)
	}
	t.Report(at(50), 3, 0, tracker.Report{Score: 0.05})
	fmt.Println(t.Report(at(100), 3, 0, tracker.Report{Score: 0.1}).Action)
	copied := t.Start(at(100), 3, 0)
	t.Report(at(120), 3, 0, tracker.Report{Score: 0.12})
	a := t.Report(at(120), 3, copied, tracker.Report{Score: 0.02})
	fmt.Println(a.Sentence())
	t.Kill(at(120), a.Task, a.Attempt)
	trials := t.Phase().Trials
	won, tried := trials.Counts()
	fmt.Println("trials:", tried, "won:", won)
	// Output:
	// copy
	// attempt 1 of task 3 killed: it is no faster than the older attempt, so the task is probably long by itself; that saves 729 s of slot time, and must save 20 s
	// trials: 1 won: 0
}
