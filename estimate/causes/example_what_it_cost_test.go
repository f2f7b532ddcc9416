package causes_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// In each step of a training job, eight workers run in two stages of a pipeline. Worker 5 is slow, and so is the last
// stage.
func ExampleCharge() {
	var steps []causes.Phase
	for range 20 {
		step := causes.Phase{}
		for worker := range 8 {
			t := causes.Task{Took: time.Second, Machine: worker, Cohort: worker / 4}
			if t.Cohort == 1 {
				t.Took = 1300 * time.Millisecond
			}
			if worker == 5 {
				t.Took *= 2
			}
			step.Tasks = append(step.Tasks, t)
		}
		steps = append(steps, step)
	}
	bill := causes.Charge(steps)
	fmt.Println("steps took", bill.Slowest, "with even work", bill.Slowest-bill.Wait)
	fmt.Println("machine", bill.Machine, "split", bill.Split, "unknown", bill.Unexplained, "fault", bill.Fault())
	fmt.Println("slow machines", bill.Machines)
	fmt.Println("slow stages", bill.Cohorts)
	// Output:
	// steps took 52s with even work 26.25s
	// machine 22.75s split 3s unknown 0s fault machine
	// slow machines [index=5 ratio=2 tasks=20 slow=20 phases=20]
	// slow stages [index=1 ratio=1.3 tasks=80 slow=80 phases=20]
}
