package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
)

// Machine 7 is slow, and every attempt there is killed early. The record knows its factor from the progress of the
// killed attempts.
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

// Two schedulers use the same machines. Neither sees enough of node-7 to call it slow; together they do.
func ExampleRecord_Merge() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	usual := 20 * time.Second
	learn := func(origin string, slow int) *machines.Record {
		record, _ := machines.New(machines.Config{Origin: origin})
		for machine := range 4 { // by this process's numbers
			record.SetName(machine, fmt.Sprintf("node-%d", machine+4))
			attempt := machines.Attempt{Ran: usual, Usual: usual}
			if machine == 3 {
				attempt.Ran *= 8
			}
			for range slow {
				record.End(now, machine, 0, attempt, machines.Finished)
			}
		}
		return record
	}
	a, b := learn("a", 2), learn("b", 1)
	fmt.Println(b.Judge(3))

	version := b.AppendVersion(nil)             // b sends the version of its knowledge,
	delta, _ := a.AppendDelta(nil, version)     // a answers with the rest,
	if err := b.Merge(now, delta); err != nil { // and then b knows all.
		fmt.Println(err)
	}
	fmt.Println(b.Judge(3))
	// Output:
	// unknown class-factor=1 threshold=2 attempts=1
	// slow class-factor=8 threshold=2 attempts=3
}
