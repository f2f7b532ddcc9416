// Reporter is the program of which .ci/way counts the functions. A phase of 32 tasks goes on until half of them have ended.
// Eight of the others are four times as slow, and stop after a while. From then on the program calls Tracker.Report alone,
// under the default policy: some of the answers are actions, and the others say why the tracker keeps the task.
package main

import (
	"fmt"
	"log"
	"runtime/coverage"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

const (
	tasks = 32
	slow  = tasks / 4 * 3 // from this task on they are four times as slow
	half  = 102           // the second at which half of the tasks end
	last  = 120           // the second of the last reports
)

func at(second int) time.Time { return time.Unix(int64(second), 0) }

// done is how much of its work a task has done; the slow ones stop when half of the tasks have ended.
func done(task, second int) float64 {
	if task < slow {
		return float64(second) * 0.8
	}
	return float64(min(second, half)) / 4
}

func main() {
	work := make([]float64, tasks)
	for i := range work {
		work[i] = 100
	}
	phase, err := tracker.New(tracker.Config{Work: work, Slots: tasks, Machines: 8, Interval: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	for i := range work {
		phase.Start(at(0), i, i%8)
	}
	for now := 1; now < half; now++ {
		for i := range work {
			phase.Report(at(now), i, 0, tracker.Report{Done: done(i, now)})
		}
	}
	for i := range tasks / 2 {
		phase.Finish(at(half), i, 0)
	}
	if err := coverage.ClearCounters(); err != nil {
		log.Fatal(err) // it was not built by .ci/way
	}
	reports, acts := 0, 0
	for now := half + 1; now <= last; now++ {
		for i := tasks / 2; i < tasks; i++ {
			reports++
			if a := phase.Report(at(now), i, 0, tracker.Report{Done: done(i, now)}); a.Action != restart.Keep {
				acts++
			}
		}
	}
	fmt.Printf("%d reports, %d of them are answered with an action\n", reports, acts)
}
