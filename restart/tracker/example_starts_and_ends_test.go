package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// exampleHost runs attempts in simulated time. It knows only when attempts start and end. An attempt takes a minute,
// but the first attempt of task 8 hangs. Each of three machines runs two attempts at the same time.
type exampleHost struct {
	now     time.Time
	tracker *tracker.Tracker
	running []exampleAttempt
}

type exampleAttempt struct {
	task, attempt, machine int
	ends                   time.Time
}

// idle reports whether a machine has an idle slot.
func (h *exampleHost) idle(machine int) bool {
	n := 0
	for _, a := range h.running {
		if a.machine == machine {
			n++
		}
	}
	return n < 2
}

func (h *exampleHost) launch(task, attempt, machine int) {
	takes := time.Minute
	if task == 8 && attempt == 0 {
		takes = 1000 * time.Hour
	}
	h.running = append(h.running, exampleAttempt{task, attempt, machine, h.now.Add(takes)})
}

// kill ends an attempt.
func (h *exampleHost) kill(task, attempt int) {
	for i, a := range h.running {
		if a.task == task && a.attempt == attempt {
			h.running = append(h.running[:i:i], h.running[i+1:]...)
			return
		}
	}
}

// carryOut carries out an answer about a running attempt, and tells the tracker.
func (h *exampleHost) carryOut(a tracker.Answer) {
	switch a.Action {
	case restart.Restart:
		h.kill(a.Task, a.Attempt)
		h.tracker.Restart(h.now, a.Task, a.Attempt)
	case restart.Kill:
		h.kill(a.Task, a.Attempt)
		h.tracker.Kill(h.now, a.Task, a.Attempt)
	}
}

// fill asks the tracker what to do with each idle slot, until the tracker has nothing to do for it.
func (h *exampleHost) fill() {
	for machine := range 3 {
		for h.idle(machine) {
			a := h.tracker.Next(h.now, machine)
			if a.Action == restart.Keep {
				break
			}
			if a.Action == restart.Start || a.Action == restart.Copy {
				if a.Action == restart.Copy {
					fmt.Println(h.now.Format("04:05"), "one more copy of task", a.Task, "on machine", machine)
				}
				h.launch(a.Task, h.tracker.Start(h.now, a.Task, machine), machine)
			}
			h.carryOut(a)
		}
	}
}

// finish tells the tracker which attempts end now, and kills the other attempts of their tasks.
func (h *exampleHost) finish() {
	for _, a := range append([]exampleAttempt(nil), h.running...) {
		if a.ends.After(h.now) {
			continue
		}
		h.kill(a.task, a.attempt)
		for _, other := range h.tracker.Finish(h.now, a.task, a.attempt) {
			fmt.Println(h.now.Format("04:05"), "task", a.task, "is done, attempt", other, "is overtaken")
			h.kill(a.task, other)
		}
	}
}

// A host knows only when attempts start and end. Every ten seconds it calls Sweep, and fills the idle slots. It does
// not wait for the end of an attempt to do so, because a hung attempt never ends.
func Example_startsAndEnds() {
	know := new(tracker.Knowledge) // one Knowledge and one Budget for all phases of a cluster
	budget, err := tracker.NewBudget(tracker.BudgetConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := tracker.New(tracker.Config{
		Tasks: 12, Slots: 6, Machines: 3, Interval: 10 * time.Second, Knowledge: know, Budget: budget,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := &exampleHost{now: time.Unix(0, 0).UTC(), tracker: t}
	for t.Ledger().Finished < 12 {
		h.finish()
		t.Sweep(h.now, h.carryOut)
		h.fill()
		h.now = h.now.Add(10 * time.Second)
	}
	t.Close(h.now)
	fmt.Println(t.Ledger(), "budget holds", budget.Running())
	// Output:
	// 02:10 one more copy of task 8 on machine 0
	// 03:00 one more copy of task 8 on machine 2
	// 03:10 task 8 is done, attempt 2 is overtaken
	// 03:10 task 8 is done, attempt 0 is overtaken
	// started=14 finished=12 copies=2 won=1 lost=1 used=860s wasted=140s budget holds 0
}
