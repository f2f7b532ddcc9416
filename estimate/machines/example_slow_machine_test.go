package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
)

// Machine 7 is slow, and every attempt there is killed early. The record computes its factor from the progress of
// the killed attempts.
func ExampleRecord() {
	record, err := machines.New(machines.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	usual := 20 * time.Second // the typical time of the task's work, by the phase's other tasks
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for key := range uint64(3) {
		now = now.Add(usual)
		for machine := range 4 {
			record.End(now, machine, key, machines.Attempt{Ran: usual, Usual: usual}, machines.Finished)
		}
		record.End(now, 7, key, machines.Attempt{Ran: 8 * time.Second, Usual: usual, Done: .05}, machines.Killed)
	}
	fmt.Println(record.Judge(7))
	fmt.Println(record.Judge(2))

	// How long would a new attempt take, on machine 7 and elsewhere?
	times, _ := estimate.NewUnitTimes(estimate.UnitTimesConfig{MinSamples: 1, Factors: record})
	times.Finish(estimate.NoSample, estimate.Run{Age: usual, Work: 1, Machine: 2})
	there := estimate.Fresh{UnitTime: times, Work: 1, Location: record.Factor(7)}
	best, _ := record.Elsewhere(7)
	elsewhere := estimate.Fresh{UnitTime: times, Work: 1, Location: best}
	fmt.Println(there.Expected().Round(time.Second), elsewhere.Expected())
	// Output:
	// slow class-factor=8 threshold=2 attempts=2.99985
	// normal class-factor=1 threshold=2 attempts=2.99985
	// 2m40s 20s
}
