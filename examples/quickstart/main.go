// Command quickstart is the smallest host: it simulates seven tasks on four machines. Machine 3 is ten times slower.
package main

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// task is a task and its attempt.
type task struct {
	id, restarts int
	age          time.Duration      // of the attempt that runs
	done         float64            // the progress of this attempt, from 0 to 1
	avoid        restart.MachineSet // machines on which the task must not start
	said         restart.Reason     // the reason of the last decision
}

func main() {
	const interval = 10 * time.Second
	speed := []float64{1. / 40, 1. / 40, 1. / 40, 1. / 400} // shares of a task per second, by machine
	waiting := []*task{{id: 0}, {id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}, {id: 6}}
	running := make([]*task, len(speed))                          // by machine
	times, _ := estimate.NewUnitTimes(estimate.UnitTimesConfig{}) // the times of the tasks that have ended; the defaults are valid
	for now, left := interval, len(waiting); left > 0; now += interval {
		free := 0
		for machine := range running { // at the start of the interval, each free machine takes a waiting task
			if running[machine] == nil && len(waiting) > 0 && !waiting[0].avoid.Has(machine) {
				running[machine], waiting = waiting[0], waiting[1:]
			} else if running[machine] == nil {
				free++
			}
		}
		for machine, t := range running { // at the end of the interval, each task has finished or reports progress
			if t == nil {
				continue
			}
			t.age, t.done = t.age+interval, t.done+speed[machine]*interval.Seconds()
			if t.done >= 1 {
				fmt.Printf("%3.0fs  task %d  finished on machine %d\n", now.Seconds(), t.id, machine)
				times.Finish(estimate.NoSample, estimate.Run{Age: t.age, Work: 1})
				running[machine], left = nil, left-1
				continue
			}
			d := restart.Decide(restart.Task{
				Attempts: []restart.Attempt{{Machine: machine, Elapsed: t.age, Remaining: estimate.TimeLeft(t.done, t.age)}},
				Fresh:    estimate.Fresh{UnitTime: times, Work: 1}, Restarts: t.restarts,
			}, restart.Phase{Interval: interval, Waiting: len(waiting), FreeSlots: free, Machines: len(speed)})
			if d.Reason != t.said { // print a decision only if its reason is new
				fmt.Printf("%3.0fs  task %d  %v\n", now.Seconds(), t.id, d.Sentence())
			}
			// This host runs one attempt of each task. So it has no copy to kill, and it ignores restart.Copy.
			if t.said = d.Reason; d.Action == restart.Restart {
				running[machine], waiting = nil, append(waiting, t)
				t.restarts, t.age, t.done, t.avoid = t.restarts+1, 0, 0, d.Avoid
			}
		}
	}
}
