package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// A job of a single task runs each night. There are no other tasks to compare it with, but earlier nights show that
// it takes some 100 s. So after 250 s the tracker knows that the task is slow.
func ExampleKnowledge() {
	night := func(know *tracker.Knowledge, begin time.Time, ran time.Duration) tracker.Answer {
		t, err := tracker.New(tracker.Config{Tasks: 1, Slots: 2, Interval: 10 * time.Second, Knowledge: know, Kind: "nightly report"})
		if err != nil {
			fmt.Println(err)
		}
		t.Start(begin, 0, 0)
		a := t.Decide(begin.Add(ran), 0)
		t.Finish(begin.Add(ran), 0, 0)
		t.Close(begin.Add(ran)) // the phase is over; the knowledge stays
		return a
	}
	know, begin := new(tracker.Knowledge), time.Unix(0, 0)
	for i, seconds := range []int{95, 100, 105, 98} {
		night(know, begin.Add(time.Duration(24*i)*time.Hour), time.Duration(seconds)*time.Second)
	}
	fmt.Println("known kind:  ", night(know, begin.Add(96*time.Hour), 250*time.Second))
	fmt.Println("unknown kind:", night(nil, begin.Add(96*time.Hour), 250*time.Second))
	// Output:
	// known kind:   task=0 copy idle-slot basis=age remaining=1000s fresh=99.5s slot-seconds=2111.29 threshold=856.694 gain=900.5s avoid=0
	// unknown kind: task=0 keep no-estimate remaining=? fresh=?
}
