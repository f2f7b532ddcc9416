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
	fmt.Println("machine", bill.Machine, "split", bill.Split, "unknown", bill.Unexplained)
	fmt.Println("slow machines", bill.Machines)
	fmt.Println("slow stages", bill.Cohorts)
	// Output:
	// steps took 52s with even work 26.25s
	// machine 22.75s split 3s unknown 0s
	// slow machines [index=5 ratio=2 tasks=20 slow=20 phases=20]
	// slow stages [index=1 ratio=1.3 tasks=80 slow=80 phases=20]
}

// A phase with one task on each machine shows nothing about machines. A record of many phases helps.
func ExampleBill_Factor() {
	phase := func() causes.Phase {
		var p causes.Phase
		for m := range 10 {
			p.Tasks = append(p.Tasks, causes.Task{Took: time.Minute, Machine: m})
		}
		p.Tasks[7].Took *= 3
		return p
	}
	last := phase()
	fmt.Println(causes.Explain(last).Outliers[0])
	last.Factor = causes.Charge([]causes.Phase{phase(), phase(), phase(), phase()}).Factor
	fmt.Println(causes.Explain(last).Outliers[0])
	// Output:
	// unknown task=7 took=180s expected=60s times=3 machine-ratio=1 moment-ratio=1 parts=(unknown=1)
	// machine task=7 took=180s expected=60s times=3 machine-ratio=3 moment-ratio=1 parts=(machine=1)
}

// Which model fits tasks of 2 s and half a second for each megabyte?
func ExampleModel() {
	var p causes.Phase
	for mb := range 20 {
		p.Tasks = append(p.Tasks, causes.Task{Took: time.Duration(2000+500*mb) * time.Millisecond, Bytes: float64(mb)})
	}
	fmt.Println(causes.Explain(p).Model)
	// Output:
	// base=2s per-byte=0.5 per-remote=0 explained=1
}
