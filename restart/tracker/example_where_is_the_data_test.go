package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A host knows on which machine the data of each task is. It gives a free slot to a task that is worth a copy and has
// its data there.
func ExampleTracker_Candidates() {
	t, err := tracker.New(tracker.Config{
		Tasks: 6, Slots: 10, Interval: 10 * time.Second, Policy: rules.Spark{Quantile: 0.5, MinRuntime: time.Second},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for task := range 6 {
		t.Start(now, task, task)
	}
	for task := range 4 {
		t.Finish(now.Add(10*time.Second), task, 0)
	}
	now = now.Add(time.Minute)
	t.Report(now, 4, 0, tracker.Report{Done: 0.2})
	t.Report(now, 5, 0, tracker.Report{Done: 0.1})

	hasDataOn := func(task, machine int) bool { return task == 5 && machine == 1 }
	for _, machine := range []int{1, 2} { // machines with a free slot
		pick := -1
		for task := range t.Candidates() {
			if pick < 0 || hasDataOn(task, machine) {
				pick = task
			}
		}
		if pick >= 0 && t.Decide(now, pick).Action == restart.Copy {
			fmt.Println("machine", machine, "runs a copy of task", pick)
			t.Start(now, pick, machine)
		}
	}
	// Output:
	// machine 1 runs a copy of task 5
	// machine 2 runs a copy of task 4
}
