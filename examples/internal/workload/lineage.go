package workload

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// recorded is an attempt that a replay can use.
type recorded struct {
	task, index int // index among the task's attempts to be replayed
	source      int // the task's number in the log
	start, end  time.Duration
	host, group int32
	previous    time.Duration // end of the task's attempt before this one
	loser       bool
	first       bool // on its slot
	slot        int  // among the phase's, if it is to be replayed
	ok          bool
	lost        bool // succeeded, and its output was lost later
	work        float64
	splits      *sim.Splits
}

// leastSplits is how long an attempt must have run for its splits to be used: those of a shorter one show the steps of
// its reports.
const leastSplits = 10 * time.Second

// splitsOf returns how an attempt's time was spent; nil if that is not known.
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

// twelfths divides the times of some equal parts of the progress anew, into twelve; within a part progress is taken to be
// even. What is in twelve parts stays as it is.
func twelfths(times []int64) (s sim.Splits) {
	n := len(times)
	for at := range n * sim.Parts { // in steps of which n are a twelfth, and twelve a part
		s[at/n] += float64(times[at/sim.Parts]) / sim.Parts
	}
	if n == sim.Parts {
		for i, ms := range times {
			s[i] = float64(ms) // to the bit
		}
	}
	return s
}

// bytesRead is what the attempt read, 0 if the log does not tell. A task that read nothing has one byte: it is known.
func bytesRead(a *trace.Attempt) float64 {
	if !a.Input.Known() && !a.Shuffle.Known() {
		return 0
	}
	return max(float64(a.Input.Or(0))+float64(a.Shuffle.Or(0)), 1)
}

// lineage tells a task's attempts that one ran after the other, up to the success that counts, from those that lost a
// race. Of several successes the first one counts, except for those whose output was lost: if there are no others, the
// last of them counts. It reports whether there was a success.
func lineage(own []recorded) bool {
	byEnd := make([]int, len(own)) // at the same end, the first stands last
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

// winner returns the index of the success that counts; -1 if there is none.
func winner(own []recorded, byEnd []int) int {
	won := -1
	for _, at := range slices.Backward(byEnd) {
		if a := &own[at]; a.ok && (won < 0 || !a.lost) {
			won = at
		}
	}
	return won
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
