package main

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// twoSlots runs Figure 9's phase under a policy (nil: none) in steps of t. It returns the time of the phase and the
// slot time of the outlier's attempts.
func twoSlots(lengths [7]int, outlier int, policy restart.Policy) (end, cost int) {
	type attempt struct{ task, start, end int }
	var running []attempt
	next, again, restarts, done := 0, false, 0, 0
	for now := 0; ; now++ {
		for i := 0; i < len(running); i++ { // attempts that end
			if a := running[i]; a.end == now {
				running = slices.DeleteFunc(running, func(b attempt) bool {
					if b.task == a.task && b.task == outlier {
						cost += now - b.start
					}
					return b.task == a.task
				})
				done, i = done+1, -1
			}
		}
		if done == len(lengths) {
			return now, cost
		}
		var copies []restart.Attempt
		first := -1
		for i, a := range running {
			if a.task == outlier {
				first = i
				copies = append(copies, restart.Attempt{Elapsed: seconds(now - a.start), Remaining: seconds(a.end - now)})
			}
		}
		duplicate := false
		original := first >= 0 && running[first].end-running[first].start == lengths[outlier]
		if policy != nil && original && len(copies) == 1 && now > running[first].start {
			task := restart.Task{Attempts: copies, Restarts: restarts, Fresh: certain(1)}
			waiting := len(lengths) - next
			phase := restart.Phase{Tasks: len(lengths), Waiting: waiting, Slots: 2, FreeSlots: 2 - len(running)}
			switch policy.Decide(task, phase).Action {
			case restart.Restart:
				cost += now - running[first].start
				running = slices.Delete(running, first, first+1)
				restarts, again = restarts+1, true
			case restart.Copy:
				duplicate = true
			}
		}
		for len(running) < 2 { // attempts that begin
			switch {
			case again || duplicate:
				running = append(running, attempt{outlier, now, now + 1})
				again, duplicate = false, false
			case next < len(lengths):
				running = append(running, attempt{next, now, now + lengths[next]})
				next++
			default:
				goto step
			}
		}
	step:
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// certain returns the fresh time of an attempt that takes exactly this number of seconds.
func certain(seconds float64) estimate.Fresh {
	e := new(estimate.Empirical)
	e.Insert(seconds)
	return estimate.Fresh{UnitTime: e, Work: 1}
}
