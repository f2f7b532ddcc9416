package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// On which machines should no task start? A phase joins the record, so that the keys of its attempts are unique, and
// reports three tasks on each of four machines. Machine 3 takes 5 times as long. When machine 3 has left, the host
// forgets it.
func ExampleRecord_AppendAvoid() {
	record, err := machines.New(machines.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	phase := record.Join()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for task := range 12 {
		machine, ran := task%4, 20*time.Second
		if machine == 3 {
			ran *= 5
		}
		attempt := machines.Attempt{Ran: ran, Usual: 20 * time.Second}
		record.End(now, machine, phase.Key(task, 0), attempt, machines.Finished)
	}
	fmt.Println("avoid", record.AppendAvoid(nil))
	record.Forget(3)
	fmt.Println("avoid", record.AppendAvoid(nil))
	// Output:
	// avoid [3]
	// avoid []
}
