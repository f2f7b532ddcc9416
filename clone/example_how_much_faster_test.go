package clone_test

import (
	"fmt"
	"slices"

	"github.com/straggler-go/straggler/clone"
)

// How much faster is a phase with clones? A task ends when its first clone ends. The cost is the time for which
// its other clones have run until then.
func Example() {
	// The duration of each clone of each task, in seconds. The first clone of the third task straggles.
	durations := [][]float64{{10, 11, 9}, {9, 10, 12}, {80, 10, 11}, {10, 9, 10}}
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		panic(err)
	}
	d := budget.Admit(clone.Job{Tasks: len(durations)}, clone.Cluster{Capacity: 400, Busy: 200, Straggler: 0.15})
	end, single, extra := 0.0, 0.0, 0.0
	for i, clones := range durations {
		first := slices.Min(clones[:d.ClonesOf(i)])
		end, single = max(end, first), max(single, clones[0])
		extra += first * float64(d.ClonesOf(i)-1)
		budget.Release(d.Grant, 1)
	}
	fmt.Println(d)
	fmt.Printf("%v s instead of %v s, for %v slot-seconds of clones\n", end, single, extra)
	// Output:
	// clone room-for-all clones=3 tasks=4 wanted=3 spent=12 budget=20 busy=212 ceiling=320
	// 10 s instead of 80 s, for 74 slot-seconds of clones
}
