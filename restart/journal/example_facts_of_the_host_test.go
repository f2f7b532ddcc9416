package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How does a journal replay if its phase began with knowledge? The second phase of a cluster begins with the
// Knowledge and the budget of the first. Both are saved when it begins, and the replay reads them back. In package
// restarttest, OptionsFor takes the same options for each file.
func ExampleOptions() {
	know, budget := new(tracker.Knowledge), new(tracker.Budget)
	var text, knowledgeThen, budgetThen []byte // of the last phase: three files that belong together
	for range 2 {
		var err error
		if knowledgeThen, err = know.MarshalBinary(); err != nil {
			fmt.Println(err)
			return
		}
		if budgetThen, err = budget.MarshalBinary(); err != nil {
			fmt.Println(err)
			return
		}
		config := tracker.Config{
			Tasks: 8, Slots: 4, Machines: 4, Interval: 10 * time.Second, Knowledge: know, Kind: "hourly", Budget: budget,
		}
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
		know, budget := new(tracker.Knowledge), new(tracker.Budget)
		if err := errors.Join(know.UnmarshalBinary(knowledgeThen), budget.UnmarshalBinary(budgetThen)); err != nil {
			fmt.Println(err)
		}
		c.Knowledge, c.Budget = know, budget
	}})
	fmt.Println(err, bytes.Equal(replayed, text))
	_, err = journal.Replay(text, journal.Options{})
	fmt.Println(err)

	// Output:
	// <nil> true
	// journal: line 1: the knowledge is custom, want Options.Configure to supply it as it was
}
