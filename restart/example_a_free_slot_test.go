package restart_test

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// A slot is free. Which task should get it?
func ExampleNext() {
	took := estimate.Fresh{UnitTime: distuv.Uniform{Min: 20, Max: 40}, Work: 1}
	running := []restart.Task{
		{Attempts: []restart.Attempt{{Machine: 0, Elapsed: time.Minute, Remaining: 80 * time.Second}}, Fresh: took},
		{Attempts: []restart.Attempt{{Machine: 1, Elapsed: time.Minute, Remaining: 300 * time.Second}}, Fresh: took},
		{Attempts: []restart.Attempt{{Machine: 2, Elapsed: time.Minute, Remaining: 5 * time.Second}}, Fresh: took},
	}
	phase := restart.Phase{Interval: 10 * time.Second, FreeSlots: 1}
	i, d := restart.Next(restart.Mantri{}, running, nil, phase)
	fmt.Println("task", i, d)

	// While tasks wait, only a copy that saves resources goes before them. Otherwise the largest waiting task is first.
	waiting := []float64{128, 512, 256} // megabytes
	phase.Waiting = len(waiting)
	i, d = restart.Next(restart.Mantri{}, running[2:], waiting, phase)
	fmt.Println("task", i, d)
	// Output:
	// task 1 copy idle-slot remaining=300s fresh=30s bar=60s gain=270s avoid=1
	// task 1 start next-waiting
}
