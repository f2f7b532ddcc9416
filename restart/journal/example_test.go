package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
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
	//     keep no-estimate basis=progress fresh=?
	// 10s report task=1 attempt=0 done=0.25
	//     keep no-estimate basis=progress fresh=?
	// 10s report task=2 attempt=0 done=0.25
	//     keep not-slow basis=progress fresh=40s bar=50s probability=0 threshold=0.25
	// 10s report task=3 attempt=0 remaining=480s
	//     restart fresh-sooner attempt=0 remaining=480s fresh=40s bar=50s gain=440s avoid=3
}

// How would another policy have answered the same reports?
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
	replayed, err := journal.Replay(recorded, journal.Options{Policy: rules.Spark{Quantile: 0.6}})
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
	//     copy beyond-peers run-seconds=31 threshold=30 gain=1s
}

// How does a journal replay if its phase began with experience? The second phase of a cluster begins with the
// record and the budget of the first. Both are saved when it begins, and the replay reads them back. In package
// restarttest, RunFiles takes the same options for each file.
func ExampleOptions() {
	record, budget := new(machines.Record), new(tracker.Budget)
	var text, recordThen, budgetThen []byte // of the last phase: three files that belong together
	for range 2 {
		var err error
		if recordThen, err = record.MarshalBinary(); err != nil {
			fmt.Println(err)
			return
		}
		if budgetThen, err = budget.MarshalBinary(); err != nil {
			fmt.Println(err)
			return
		}
		config := tracker.Config{Tasks: 8, Slots: 4, Machines: 4, Interval: 10 * time.Second, Record: record, Budget: budget}
		recorder := journal.NewRecorder(config)
		config.OnEvent = recorder.OnEvent
		t, err := tracker.New(config)
		if err != nil {
			fmt.Println(err)
			return
		}
		now := time.Unix(0, 0)
		for task := range 8 {
			t.Start(now, task, task%4)
			now = now.Add(time.Duration(1+4*(task%4/3)) * time.Minute) // machine 3 is slow
			t.Finish(now, task, 0)
			t.Next(now, 3)
		}
		t.Close(now)
		text = recorder.Bytes()
	}
	replayed, err := journal.Replay(text, journal.Options{Configure: func(_ int, c *tracker.Config) {
		record, budget := new(machines.Record), new(tracker.Budget)
		if err := errors.Join(record.UnmarshalBinary(recordThen), budget.UnmarshalBinary(budgetThen)); err != nil {
			fmt.Println(err)
		}
		c.Record, c.Budget = record, budget
	}})
	fmt.Println(err, bytes.Equal(replayed, text))
	_, err = journal.Replay(text, journal.Options{})
	fmt.Println(err)

	// Output:
	// <nil> true
	// journal: line 1: the record of machines is custom, want Options.Configure to supply it
}

// An error states the line and the expected form.
func ExampleParse() {
	_, err := journal.Parse([]byte("phase tasks=3 slots=3\n0s start taks=0\n"))
	fmt.Println(err)

	phases, _ := journal.Parse([]byte("phase tasks=3 slots=3\n1m30s start task=2 # on any machine\n"))
	fmt.Printf("%s\n", journal.AppendEvent(nil, time.Unix(0, 0), phases[0].Events[0]))

	// Output:
	// journal: line 2: start has no field "taks", want one of task, machine, each with = and a value
	// 90s start task=2
}
