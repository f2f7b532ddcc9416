package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// How does an adapter to a job queue keep one phase for all jobs, over a restart of its program? It saves which job has
// which index, beside the snapshot. After Restore it adds the jobs that came since, under its own keys. It forgets a job
// that has ended.
func ExamplePhase_Forget() {
	config := engine.Config{Recent: 10 * time.Minute, Slots: 2, Interval: time.Second}
	phase, err := engine.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	now, tasks := time.Unix(0, 0), map[string]int{}
	for _, job := range []string{"mail", "thumbnail"} {
		tasks[job] = phase.Add(-1) // of unknown work
	}
	phase.Poll(now, nil)
	snapshot, _ := phase.MarshalBinary() // saved together with the map; it never fails

	phase, err = engine.Restore(config, engine.Saved{Snapshot: snapshot}) // the program starts again
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range []string{"mail", "thumbnail", "report"} { // the jobs of the queue now
		if _, known := tasks[job]; !known {
			tasks[job] = phase.Add(-1)
		}
	}
	ended := engine.Attempt{ID: "0.0", Task: tasks["mail"], State: engine.Succeeded, Published: true}
	runs := engine.Attempt{ID: "1.0", Task: tasks["thumbnail"], State: engine.Running}
	for _, a := range phase.Poll(now.Add(time.Second), []engine.Attempt{ended, runs}).Actions {
		fmt.Println(a)
	}
	phase.Forget(tasks["mail"])
	delete(tasks, "mail")
	zombie := engine.Attempt{ID: "0.7", Task: 0, State: engine.Running}
	for _, a := range phase.Poll(now.Add(2*time.Second), []engine.Attempt{zombie, runs}).Actions {
		fmt.Println(a)
	}

	// Output:
	// submit 2.0
	// cancel 0.7
}
