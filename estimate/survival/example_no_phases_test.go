package survival_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// A host has no phases and no progress reports. Its jobs of the last hour take the place of a phase. It asks about a
// job of three minutes, while other jobs take about a minute.
func ExampleWindow() {
	window, err := survival.NewWindow(survival.WindowConfig{Keep: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0) // the time of the host's clock
	slow := window.Start(now)
	for range 9 {
		window.Start(now) // these runs have the numbers 1 to 9
	}
	for id := 1; id <= 9; id++ {
		window.End(now.Add(time.Duration(54+id)*time.Second), id, true)
	}
	now = now.Add(180 * time.Second)

	curve, age := window.Curve(now), window.Age(now, slow)
	left := survival.Residual{Curve: curve, Age: age}
	task := restart.Task{
		Attempts: []restart.Attempt{{
			Machine: -1, Elapsed: 3 * time.Minute, Remaining: time.Duration(left.Mean() * 1e9), Left: left, Basis: restart.ByAge,
		}},
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: curve, Age: age}, Work: 1},
	}
	fmt.Println(restart.Decide(task, restart.Phase{Interval: 5 * time.Second, Slots: 4, FreeSlots: 3}))
	// Output:
	// copy idle-slot basis=age remaining=180s fresh=59s slot-seconds=611.177 threshold=333.86 gain=121s
}
