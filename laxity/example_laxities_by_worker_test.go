package laxity_test

import (
	"fmt"

	"github.com/straggler-go/straggler/laxity"
)

// What are the laxities of a job's tasks on each worker? Package outlier compares the smallest laxity of each
// worker.
func ExamplePerWorker() {
	tasks := []laxity.Task{
		{Worker: 0, UntilDeadline: 2000 * ms, Remaining: 150 * ms, After: 200 * ms},
		{Worker: 1, UntilDeadline: 2000 * ms, Remaining: 1900 * ms, After: 200 * ms},
		{Worker: 0, UntilDeadline: 2000 * ms, Remaining: 500 * ms, After: 200 * ms},
	}
	workers, err := laxity.PerWorker(tasks, 2)
	for i, w := range workers {
		fmt.Println("worker", i, "tasks", w.Tasks, "late", w.Late, "least laxity", w.Least, "of task", w.First)
	}
	fmt.Println(err)
	// Output:
	// worker 0 tasks 2 late 0 least laxity 1.3s of task 2
	// worker 1 tasks 1 late 1 least laxity -100ms of task 1
	// <nil>
}
