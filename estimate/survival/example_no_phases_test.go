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
func ExampleCurve() {
	const age = 180
	var curve survival.Curve // the host fits a new curve now and then
	for seconds := 55.; seconds < 64; seconds++ {
		curve.Observe(seconds, true)
	}
	curve.Observe(age, false)
	curve.Fit()

	left := survival.Residual{Curve: &curve, Age: age}
	task := restart.Task{
		Attempts: []restart.Attempt{{
			Machine: -1, Elapsed: age * time.Second, Remaining: time.Duration(left.Mean() * 1e9), Left: left, Basis: restart.ByAge,
		}},
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: &curve, Age: age}, Work: 1},
	}
	fmt.Println(restart.Decide(task, restart.Phase{Interval: 5 * time.Second, Slots: 4, FreeSlots: 3}))
	// Output:
	// copy idle-slot basis=age remaining=180s fresh=59s slot-seconds=611.177 threshold=333.86 gain=121s
}
