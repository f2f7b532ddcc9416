package causes_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// Twelve tasks run on four machines. One task has three times the bytes, and every task on machine 2 is slow.
func ExampleExplain() {
	var tasks []causes.Task
	for i := range 12 {
		t := causes.Task{Took: 10 * time.Second, Bytes: 64 << 20, Machine: i % 4}
		if t.Machine == 2 {
			t.Took = 25 * time.Second
		}
		tasks = append(tasks, t)
	}
	tasks[3].Bytes, tasks[3].Took = 192<<20, 30*time.Second

	report := causes.Explain(causes.Phase{Tasks: tasks})
	fmt.Printf("outliers=%d excess=%vs parts=(%v)\n", len(report.Outliers), report.Excess.Seconds(), report.Parts)
	for _, o := range report.Outliers {
		fmt.Println(o)
	}
	fmt.Println("machine", report.Machines)
	fmt.Println(report.Outliers[1].Cause.Remedy())
	// Output:
	// outliers=4 excess=65s parts=(data=0.307692 machine=0.692308)
	// machine task=2 took=25s expected=10s times=2.5 machine-ratio=2.5 moment-ratio=1 parts=(machine=1)
	// data task=3 took=30s expected=30s times=3 explained=true machine-ratio=1 moment-ratio=1 parts=(data=1)
	// machine task=6 took=25s expected=10s times=2.5 machine-ratio=2.5 moment-ratio=1 parts=(machine=1)
	// machine task=10 took=25s expected=10s times=2.5 machine-ratio=2.5 moment-ratio=1 parts=(machine=1)
	// machine [index=2 ratio=2.5 tasks=3 slow=3 phases=1]
	// start the largest tasks first (restart), or split them; a copy would take as long
}
