package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

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
