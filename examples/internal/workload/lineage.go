package workload

import (
	"cmp"
	"slices"
	"time"

	"straggler-examples/internal/trace"
)

// recorded is an attempt that a replay can use.
type recorded struct {
	task, index int // index among the task's attempts to be replayed
	start, end  time.Duration
	host, group int32
	previous    time.Duration // end of the task's attempt before this one
	loser       bool
	first       bool // on its slot
	slot        int  // among the phase's, if it is to be replayed
	ok          bool
	work        float64
}

// bytesRead is what the attempt read, 0 if the log does not tell. A task that read nothing has one byte: it is known.
func bytesRead(a *trace.Attempt) float64 {
	if !a.Input.Known() && !a.Shuffle.Known() {
		return 0
	}
	return max(float64(a.Input.Or(0))+float64(a.Shuffle.Or(0)), 1)
}

// lineage tells a task's attempts that one ran after the other, up to its last success, from those that lost a race. It
// reports whether there was a success.
func lineage(own []recorded) bool {
	last := -1
	for i, a := range own {
		own[i].loser = true
		if a.ok && (last < 0 || a.end > own[last].end) {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	chain := []int{last}
	own[last].loser = false
	for from := own[last].start; ; {
		before := -1
		for i, a := range own {
			if a.loser && a.end <= from && (before < 0 || a.end > own[before].end) {
				before = i
			}
		}
		if before < 0 {
			break
		}
		own[before].loser = false
		from = own[before].start
		chain = append(chain, before)
	}
	slices.Reverse(chain)
	for i, at := range chain {
		own[at].index = i
		if i > 0 {
			own[at].previous = own[chain[i-1]].end
		}
	}
	return true
}

// number sorts the attempts by start and gives their tasks numbers in that order.
func number(all []recorded) {
	slices.SortStableFunc(all, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	numbers := map[int]int{}
	for i := range all {
		if _, seen := numbers[all[i].task]; !seen && !all[i].loser {
			numbers[all[i].task] = len(numbers)
		}
	}
	for i := range all {
		all[i].task = numbers[all[i].task]
	}
}
