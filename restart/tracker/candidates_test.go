package tracker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A host knows on which machine the data of each task is. It gives a free slot to a task that is worth a copy and has
// its data there.
func ExampleTracker_Candidates() {
	t, err := tracker.New(tracker.Config{
		Tasks: 6, Slots: 10, Interval: 10 * time.Second, Policy: rules.Spark{Quantile: 0.5, MinRuntime: time.Second},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for task := range 6 {
		t.Start(now, task, task)
	}
	for task := range 4 {
		t.Finish(now.Add(10*time.Second), task, 0)
	}
	now = now.Add(time.Minute)
	t.Report(now, 4, 0, tracker.Report{Done: 0.2})
	t.Report(now, 5, 0, tracker.Report{Done: 0.1})

	hasDataOn := func(task, machine int) bool { return task == 5 && machine == 1 }
	for _, machine := range []int{1, 2} { // machines with a free slot
		pick := -1
		for task := range t.Candidates() {
			if pick < 0 || hasDataOn(task, machine) {
				pick = task
			}
		}
		if pick >= 0 && t.Decide(now, pick).Action == restart.Copy {
			fmt.Println("machine", machine, "runs a copy of task", pick)
			t.Start(now, pick, machine)
		}
	}
	// Output:
	// machine 1 runs a copy of task 5
	// machine 2 runs a copy of task 4
}

// Candidates are the tasks from which Next would choose. A restored tracker has the same candidates.
func TestCandidatesAreTheTasksOfNext(t *testing.T) {
	s := newSteady(t, 1000, rules.LATE{MinAge: restart.Off})
	list := func(tr *tracker.Tracker) []int { return slices.Sorted(tr.Candidates()) }
	var want []int
	for task := range 1000 {
		if a := s.tracker.Decide(s.now, task); a.Action == restart.Copy || a.Reason == restart.NoFreeSlot {
			want = append(want, task)
		}
	}
	assert.Greater(t, len(want), 100)
	assert.Equal(t, want, list(s.tracker))
	assert.Contains(t, want, s.tracker.Next(s.now, 3).Task)

	data, err := s.tracker.MarshalBinary()
	assert.NoError(t, err)
	restored, err := tracker.Restore(tracker.Config{}, data)
	assert.NoError(t, err)
	assert.Equal(t, want, list(restored))
	seen := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for task := range s.tracker.Candidates() {
			if seen += task; task < 0 {
				break
			}
		}
	}))
	s.tracker.Close(s.now)
	assert.Empty(t, list(s.tracker))
}
