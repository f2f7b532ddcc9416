// Command quickstart is the smallest host: seven tasks on a pretend cluster of four machines, of which one is bad.
package main

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

type task struct {
	id, restarts int
	age          time.Duration      // of the attempt that runs
	done         float64            // the share of the task that it has behind it
	avoid        restart.MachineSet // where it shall not start
	said         restart.Reason     // of the last decision
}

func main() {
	const interval = 10 * time.Second
	speed := []float64{1. / 40, 1. / 40, 1. / 40, 1. / 400} // shares of a task per second, by machine
	waiting := []*task{{id: 0}, {id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}, {id: 6}}
	running := make([]*task, len(speed))                          // by machine
	times, _ := estimate.NewUnitTimes(estimate.UnitTimesConfig{}) // learns how long a task takes; the defaults are valid
	for now, left := interval, len(waiting); left > 0; now += interval {
		free := 0
		for machine := range running { // at the start of the interval, give the free machines something to do
			if running[machine] == nil && len(waiting) > 0 && !waiting[0].avoid.Has(machine) {
				running[machine], waiting = waiting[0], waiting[1:]
			} else if running[machine] == nil {
				free++
			}
		}
		for machine, t := range running { // at its end, each task has finished or reports
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
			if d.Reason != t.said { // only what is new
				fmt.Printf("%3.0fs  task %d  %v\n", now.Seconds(), t.id, d.Sentence())
			}
			// A task has one copy here: there is none to kill, and a host that makes more launches them for restart.Copy.
			if t.said = d.Reason; d.Action == restart.Restart {
				running[machine], waiting = nil, append(waiting, t)
				t.restarts, t.age, t.done, t.avoid = t.restarts+1, 0, 0, d.Avoid
			}
		}
	}
}
