package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How does a journal replay if its phase began with experience? The second phase of a cluster begins with the
// record and the budget of the first. Both are saved when it begins, and the replay reads them back. In package
// restarttest, OptionsFor takes the same options for each file.
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
