package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// Which machines are slow nodes by LATE's measure? LATE compares the total progress of a machine with the 25th percentile
// of all machines. Here machine 2 has made progress worth half a task only.
func ExampleRecord_AddProgress() {
	record, err := machines.New(machines.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for machine, tasks := range []float64{3, 4, .5, 3, 3.5} {
		record.AddProgress(now, machine, tasks)
	}
	for machine := range record.Len() {
		total, all := record.Progress(machine)
		fmt.Printf("machine %d: %.1f tasks, slow node: %v\n", machine, total, total < all.Quantile(.25))
	}
	// Output:
	// machine 0: 3.0 tasks, slow node: false
	// machine 1: 4.0 tasks, slow node: false
	// machine 2: 0.5 tasks, slow node: true
	// machine 3: 3.0 tasks, slow node: false
	// machine 4: 3.5 tasks, slow node: false
}
