package journal_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A recorder watches a tracker. The program writes the bytes to a file from time to time.
func ExampleRecorder() {
	config := tracker.Config{
		Tasks: 6, Slots: 4, Machines: 4, Interval: 10 * time.Second, Policy: restart.Mantri{MaxRestarts: 1},
	}
	record := journal.NewRecorder(config)
	config.OnEvent = record.OnEvent
	t, err := tracker.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2010, time.October, 4, 9, 0, 0, 0, time.UTC)
	for task := range 4 {
		t.Start(now, task, task)
	}
	now = now.Add(10 * time.Second)
	for task := range 3 {
		t.Report(now, task, 0, tracker.Report{Done: 0.25})
	}
	t.Report(now, 3, 0, tracker.Report{Remaining: 8 * time.Minute}) // the program's own estimate

	fmt.Printf("%s", record.Bytes()) // or file.Write(record.Bytes())
	record.Reset()

	// Output:
	// phase tasks=6 slots=4 machines=4 interval=10s policy=mantri,max-restarts=1
	// since 2010-10-04T09:00:00Z
	// 0s start task=0 machine=0
	// 0s start task=1 machine=1
	// 0s start task=2 machine=2
	// 0s start task=3 machine=3
	// 10s report task=0 attempt=0 done=0.25
	//     keep no-estimate basis=early-progress fresh=?
	// 10s report task=1 attempt=0 done=0.25
	//     keep no-estimate basis=early-progress fresh=?
	// 10s report task=2 attempt=0 done=0.25
	//     keep not-slow basis=early-progress fresh=40s bar=50s probability=0 threshold=0.25
	// 10s report task=3 attempt=0 remaining=480s
	//     restart fresh-sooner attempt=0 remaining=480s fresh=40s bar=50s gain=440s avoid=3
}
