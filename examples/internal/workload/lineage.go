package workload

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// recorded is an attempt of a log that can be replayed.
type recorded struct {
	task, index int // index is the number of the attempt among the replayed attempts of its task
	source      int // number of the task in the log
	start, end  time.Duration
	host, group int32
	previous    time.Duration // end of the attempt before, of the same task
	wait        time.Duration // from then until its task was back in the queue
	loser       bool
	first       bool // the first attempt on its slot
	slot        int  // index among the slots of the phase, if the attempt is replayed
	ok          bool
	lost        bool // the attempt succeeded, and its output was lost later
	work        float64
	splits      *sim.Splits
}

// leastSplits is the least time of an attempt whose Splits are used. For a shorter attempt, they show only the steps
// of its reports.
const leastSplits = 10 * time.Second

// splitsOf returns the times of the parts of an attempt; nil if they are not known.
func splitsOf(log *trace.Log, a *trace.Attempt) *sim.Splits {
	if d, ok := a.Duration(); !ok || d < leastSplits || a.Splits == 0 {
		return nil
	}
	s, sum := twelfths(log.Splits[a.Splits]), 0.0
	for _, part := range s {
		sum += part
	}
	if sum == 0 {
		return nil
	}
	return &s
}

// twelfths converts the times of any number of equal parts of progress into the times of twelve parts. Progress
// within a part is taken to be even. Twelve parts are returned unchanged.
func twelfths(times []int64) (s sim.Splits) {
	n := len(times)
	for at := range n * sim.Parts { // in steps; n steps are a twelfth, and twelve steps are a given part
		s[at/n] += float64(times[at/sim.Parts]) / sim.Parts
	}
	if n == sim.Parts {
		for i, ms := range times {
			s[i] = float64(ms) // exact, without rounding
		}
	}
	return s
}

// bytesRead returns the number of bytes that the attempt read; 0 if the log does not have it. An attempt that read
// nothing gets 1 byte, because 0 means unknown.
func bytesRead(a *trace.Attempt) float64 {
	if !a.Input.Known() && !a.Shuffle.Known() {
		return 0
	}
	return max(float64(a.Input.Or(0))+float64(a.Shuffle.Or(0)), 1)
}

// lineage divides the attempts of a task into the attempts to replay, which ran one after the other up to the
// success, and the attempts that lost against them. Of several successes, the first to end is used, unless its output
// was lost; if all outputs were lost, the last is used. It reports whether there was a success.
func lineage(own []recorded) bool {
	byEnd := make([]int, len(own)) // of attempts with the same end, the first is last
	for i := range own {
		own[i].loser = true
		byEnd[i] = len(own) - 1 - i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(own[a].end, own[b].end) })
	won := winner(own, byEnd)
	if won < 0 {
		return false
	}
	chain := []int{won}
	own[won].loser = false
	from := own[won].start
	for _, at := range slices.Backward(byEnd) {
		if a := &own[at]; a.loser && a.end <= from {
			a.loser = false
			from = a.start
			chain = append(chain, at)
		}
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

// winner returns the index of the success that is used; -1 if there is no success.
func winner(own []recorded, byEnd []int) int {
	won := -1
	for _, at := range slices.Backward(byEnd) {
		if a := &own[at]; a.ok && (won < 0 || !a.lost) {
			won = at
		}
	}
	return won
}

// number sorts the attempts by start, and numbers their tasks in this order.
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
