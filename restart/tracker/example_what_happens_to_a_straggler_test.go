package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A Tracker collects the facts of a phase. The host tells it each event, and it answers with decisions.
func ExampleTracker() {
	tr, err := tracker.New(tracker.Config{
		Work: []float64{1, 1, 1, 1, 1}, Slots: 4, Machines: 8, Interval: 8 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0) // a host passes the time of its own clock
	for machine := range 4 {
		a := tr.Next(now, machine)
		fmt.Println("machine", machine, a)
		tr.Start(now, a.Task, machine)
	}
	// Ten seconds later three attempts are half done, and one has hardly begun. A copy would take 20 s.
	now = now.Add(10 * time.Second)
	for task := range 3 {
		tr.Report(now, task, 0, tracker.Report{Done: 0.5})
	}
	fmt.Println(tr.Report(now, 3, 0, tracker.Report{Done: 0.01}))

	// The three attempts end. Next gives the first free slot to the copy, and the next slot to the waiting task.
	now = now.Add(10 * time.Second)
	for task := range 3 {
		tr.Finish(now, task, 0)
	}
	for machine := range 2 {
		a := tr.Next(now, machine)
		fmt.Println("machine", machine, a)
		tr.Start(now, a.Task, machine)
	}

	// After two more reports the copy has shown that it ends first, and the old attempt is killed.
	for i := range 2 {
		now = now.Add(9 * time.Second)
		tr.Record(now, 3, 0, tracker.Report{Done: 0.02 + 0.01*float64(i)})
		if a := tr.Report(now, 3, 1, tracker.Report{Done: 0.45 * float64(i+1)}); a.Action == restart.Kill {
			fmt.Println(a)
			tr.Kill(now, a.Task, a.Attempt)
		}
	}
	now = now.Add(2 * time.Second)
	tr.Finish(now, 3, 1)
	tr.Finish(now, 4, 0)

	l := tr.Ledger()
	fmt.Println("finished", l.Finished, "copies", l.Copies, "used", l.Used, "wasted", l.Wasted)
	// Output:
	// machine 0 task=0 start next-waiting
	// machine 1 task=1 start next-waiting
	// machine 2 task=2 start next-waiting
	// machine 3 task=3 start next-waiting
	// task=3 copy saves-resources basis=early-progress remaining=90s fresh=20s slot-seconds=135 threshold=75.25 gain=70s avoid=3
	// machine 0 task=3 copy saves-resources basis=progress remaining=859.799s fresh=20s slot-seconds=1286.84 threshold=358.685 gain=839.799s avoid=3
	// machine 1 task=4 start next-waiting
	// task=3 kill copy-faster attempt=0 basis=progress remaining=14.681s fresh=20s saved-slot-seconds=24.2997 threshold=16
	// finished 5 copies 1 used 2m18s wasted 38s
}
