package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

func ExampleRecord() {
	var file bytes.Buffer // os.Create, in a scheduler
	config := tracker.Config{Tasks: 3, Slots: 2, Interval: 10 * time.Second}
	journal := Record(&config, &file)
	t, err := tracker.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	t.Start(now, 0, 7)
	t.Start(now, 1, 8)
	t.Finish(now.Add(40*time.Second), 0, 0)
	t.Decide(now.Add(50*time.Second), 1)
	if err := journal.Flush(); err != nil {
		fmt.Println(err)
	}
	fmt.Print(file.String())
	// Output:
	// phase tasks=3 slots=2 interval=10s policy=least-cost
	// since 1970-01-01T00:00:00Z
	// 0s start task=0 machine=7
	// 0s start task=1 machine=8
	// 40s finish task=0 attempt=0
	// 50s decide task=1
	//     keep no-estimate remaining=? fresh=?
}
