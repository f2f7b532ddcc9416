package worlds

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/byhand"
)

// hand is a tracker's replacement: it lets package byhand run a world.
type hand struct {
	byhand.Host
	works    []float64           // sizes of the tasks; nil: each is 1
	runs     [][]*byhand.Attempt // for each task, its attempts
	finished []bool
}

func newHand(world *host, tasks int, works []float64) *hand {
	slots := len(world.slots)
	h := &hand{works: works, runs: make([][]*byhand.Attempt, tasks), finished: make([]bool, tasks)}
	h.Tasks, h.Lag = make([]byhand.Task, tasks), time.Duration(world.Lag*1e9)
	h.Host.Phase = restart.Phase{
		Interval: time.Duration(world.interval() * 1e9), Tasks: tasks, Waiting: tasks, Slots: slots, FreeSlots: slots,
		Machines: slots / world.slotsEach(),
	}
	h.Model = estimate.Linear{Grace: 2 * h.Interval, Window: 6 * h.Interval}
	return h
}

func sinceStart(now time.Time) time.Duration { return now.Sub(time.Unix(0, 0)) }

func (h *hand) Start(now time.Time, task, machine int) int {
	if len(h.runs[task]) == 0 {
		h.Waiting--
	}
	h.FreeSlots--
	a := h.Host.Start(sinceStart(now), task, machine)
	a.Number = len(h.Tasks[task].PastMachines) - 1
	h.runs[task] = append(h.runs[task], a)
	return a.Number
}

func (h *hand) Submit(now time.Time, task, machine int) int { return h.Start(now, task, machine) }

// Begin corrects the age of an attempt that has waited for a slot.
func (h *hand) Begin(now time.Time, task, attempt, _ int) {
	h.find(task, attempt).Begun = sinceStart(now)
}

func (h *hand) find(task, attempt int) *byhand.Attempt {
	runs := h.runs[task]
	return runs[slices.IndexFunc(runs, func(a *byhand.Attempt) bool { return a.Number == attempt })]
}

func (h *hand) Report(now time.Time, task, attempt int, r tracker.Report) tracker.Answer {
	done := r.Done
	if h.works != nil {
		done /= h.works[task]
	}
	h.Host.Report(sinceStart(now), h.find(task, attempt), done)
	return h.decide(now, task)
}

func (h *hand) decide(now time.Time, task int) tracker.Answer {
	a := tracker.Answer{Task: task}
	d, _, of := h.Decide(sinceStart(now), task)
	if a.Decision = d; d.Action == restart.Restart || d.Action == restart.Kill {
		a.Attempt = of[d.Attempt].Number
	}
	return a
}

// end removes an attempt from its task, and tells the host how it ended.
func (h *hand) end(now time.Time, task, attempt int, action restart.Action) {
	a := h.find(task, attempt)
	h.runs[task] = slices.DeleteFunc(h.runs[task], func(o *byhand.Attempt) bool { return o == a })
	h.FreeSlots++
	if action == restart.Start {
		h.finished[task] = true
		h.Host.Finish(sinceStart(now), a)
	} else {
		h.Host.End(sinceStart(now), a, action)
	}
	if !h.finished[task] && len(h.runs[task]) == 0 {
		h.Waiting++
	}
}

func (h *hand) Finish(now time.Time, task, attempt int) (overtaken []int) {
	h.end(now, task, attempt, restart.Start) // restart.Start stands for success here
	for _, a := range slices.Clone(h.runs[task]) {
		overtaken = append(overtaken, a.Number)
		h.end(now, task, a.Number, restart.Kill)
	}
	return overtaken
}

func (h *hand) Fail(now time.Time, task, attempt int) { h.end(now, task, attempt, restart.Keep) }
func (h *hand) Kill(now time.Time, task, attempt int) { h.end(now, task, attempt, restart.Kill) }

func (h *hand) Restart(now time.Time, task, attempt int) {
	h.end(now, task, attempt, restart.Restart)
}

func (h *hand) LoseMachine(now time.Time, machine int) (waiting []int) {
	for task := range h.Tasks {
		for _, a := range slices.Clone(h.runs[task]) {
			if a.Machine == machine {
				h.end(now, task, a.Number, restart.Keep)
				waiting = append(waiting, task)
			}
		}
	}
	return waiting
}

// Sweep asks for a decision about every task. Without progress reports, there is no other call about a task.
func (h *hand) Sweep(now time.Time, visit func(tracker.Answer)) {
	for task := range h.Tasks {
		if len(h.runs[task]) > 0 {
			if a := h.decide(now, task); a.Action == restart.Restart || a.Action == restart.Kill {
				visit(a)
			}
		}
	}
}

// Next returns the copy that saves most, or the first waiting task that has not run on the machine.
func (h *hand) Next(now time.Time, machine int) tracker.Answer {
	best := tracker.Answer{Task: -1}
	for task := range h.Tasks {
		if len(h.runs[task]) > 0 {
			a := h.decide(now, task)
			if a.Action == restart.Copy && !a.Avoid.Has(machine) && (best.Task < 0 || a.Gain > best.Gain) {
				best = a
			}
		}
	}
	for task := range h.Tasks {
		waits := len(h.runs[task]) == 0 && !h.finished[task]
		if best.Task < 0 && waits && !restart.Avoid(h.Tasks[task].Task, h.Host.Phase).Has(machine) {
			best.Task, best.Action = task, restart.Start
		}
	}
	return best
}

func (h *hand) SetSlots(slots int) {
	h.FreeSlots += slots - h.Slots
	h.Slots = slots
}

func (h *hand) Phase() restart.Phase { return h.Host.Phase }

func (h *hand) Close(time.Time) {}
