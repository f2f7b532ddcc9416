package journal_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
)

// A host that records puts a Recorder where it had a Tracker, and writes the bytes to a file from time to time.
func ExampleRecorder() {
	tracker, err := journal.NewRecorder(restart.Config{
		Tasks: 6, Slots: 4, Machines: 4, Interval: 10 * time.Second, Policy: restart.Mantri{MaxRestarts: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2010, time.October, 4, 9, 0, 0, 0, time.UTC)
	for task := range 4 {
		tracker.Start(now, task, task)
	}
	now = now.Add(10 * time.Second)
	for task := range 3 {
		tracker.Report(now, task, 0, restart.Progress{Done: 0.25})
	}
	tracker.Report(now, 3, 0, restart.Progress{Remaining: 8 * time.Minute}) // the host knows better

	fmt.Printf("%s", tracker.Bytes()) // or file.Write(tracker.Bytes())
	tracker.Reset()

	// Output:
	// phase tasks=6 slots=4 machines=4 interval=10s policy=mantri,max-restarts=1
	// 0s start task=0 machine=0
	// 0s start task=1 machine=1
	// 0s start task=2 machine=2
	// 0s start task=3 machine=3
	// 10s report task=0 attempt=0 done=0.25
	//     keep no-estimate remaining=30s fresh=?
	// 10s report task=1 attempt=0 done=0.25
	//     keep no-estimate remaining=30s fresh=?
	// 10s report task=2 attempt=0 done=0.25
	//     keep not-slow remaining=30s fresh=40s bar=50s value=0 threshold=0.25
	// 10s report task=3 attempt=0 remaining=480s
	//     restart fresh-sooner copy=0 remaining=480s fresh=40s bar=50s gain=440s avoid=3
}

// What would another policy have said to the same reports?
func ExampleReplay() {
	recorded := []byte(`phase tasks=3 slots=3 interval=1s policy=mantri
0s start task=0
0s start task=1
0s start task=2
10s finish task=0
10s finish task=1
# Task 2 has fallen silent.
31s decide task=2
    keep no-estimate remaining=? fresh=?
`)
	replayed, err := journal.Replay(recorded, journal.Options{Policy: restart.Spark{Quantile: 0.6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", replayed)

	// Output:
	// phase tasks=3 slots=3 interval=1s policy=mantri
	// 0s start task=0
	// 0s start task=1
	// 0s start task=2
	// 10s finish task=0
	// 10s finish task=1
	// # Task 2 has fallen silent.
	// 31s decide task=2
	//     duplicate beyond-peers value=31 threshold=30 gain=1s
}

// An error says where the text is wrong and what was wanted there.
func ExampleParse() {
	_, err := journal.Parse([]byte("phase tasks=3 slots=3\n0s start taks=0\n"))
	fmt.Println(err)

	events, _ := journal.Parse([]byte("phase tasks=3 slots=3\n1m30s start task=2 # on any machine\n"))
	text, _ := events[1].AppendText(nil)
	fmt.Printf("line %d: %s\n", events[1].Line, text)

	// Output:
	// journal: line 2: start has no field "taks=0", want one of task, machine, each with = and a value
	// line 2: 90s start task=2
}
