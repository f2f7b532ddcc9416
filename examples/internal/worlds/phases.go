package worlds

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// books is implemented by a tracker and by hand: a host tells it of events, and asks it for decisions.
type books interface {
	Submit(now time.Time, task, machine int) (attempt int)
	Start(now time.Time, task, machine int) (attempt int)
	Begin(now time.Time, task, attempt, machine int)
	Report(now time.Time, task, attempt int, r tracker.Report) tracker.Answer
	Finish(now time.Time, task, attempt int) (overtaken []int)
	Fail(now time.Time, task, attempt int)
	Kill(now time.Time, task, attempt int)
	Restart(now time.Time, task, attempt int)
	LoseMachine(now time.Time, machine int) (waiting []int)
	SetSlots(slots int)
	Sweep(now time.Time, visit func(tracker.Answer))
	Next(now time.Time, machine int) tracker.Answer
	Phase() restart.Phase
	Close(now time.Time)
}

// job is a running phase.
type job struct {
	number  int
	arrived float64
	tracker books
	tasks   []state
	left    int // number of tasks that have not ended
	slots   int // number of slots that the tracker knows
}

// state is the state of a running task.
type state struct {
	task
	copies int
	saved  float64 // share of the work in a checkpoint
}

// open handles the arrival of a phase.
func (h *host) open(number int) error {
	n := h.size(h.luck, number)
	j := &job{number: number, arrived: h.now, left: n, tasks: make([]state, n), slots: len(h.slots)}
	c := tracker.Config{
		Tasks: n, Slots: len(h.slots), Machines: len(h.slots) / h.slotsEach(), Interval: time.Duration(h.interval() * 1e9),
		Policy: h.Policy, Limits: published.Limits(h.Policy), Stream: h.Load > 0, Knowledge: h.knowledge,
	}
	if h.Phases > 1 {
		c.Kind = "all"
	}
	if record := h.knowledge.Machines(); record != nil && h.Classes {
		for m := range h.machines() {
			record.SetClass(m, min(m/(h.machines()-h.Fast), 1))
		}
	}
	for i := range j.tasks {
		j.tasks[i].task = h.task(h.luck, number, i)
		if h.Known || h.Told {
			c.Work = append(c.Work, j.tasks[i].told)
		}
	}
	if h.Paths {
		c.Path = func(task, machine int) float64 { return h.way(&j.tasks[task].task, machine) }
	}
	if h.ByHand {
		j.tracker = newHand(h, n, c.Work)
	} else {
		t, err := tracker.New(c)
		if err != nil {
			return err
		}
		j.tracker = t
	}
	// Which machine a host thinks of first has nothing to do with how good it is.
	h.shuffle(ofPhase, uint64(number), 1)
	if h.Asks == BadFirst || h.Asks == BadLast {
		last := func(s slot) int {
			if (s.machine < h.bad()) == (h.Asks == BadLast) {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(h.slots, func(a, b slot) int { return last(a) - last(b) })
	}
	if len(h.jobs) == 0 {
		h.look = h.now + h.interval()
	}
	h.jobs = append(h.jobs, j)
	h.change()
	h.fill()
	return nil
}

// close ends a phase in which all tasks have ended.
func (h *host) close(j *job) {
	j.tracker.Close(h.time())
	h.took = append(h.took, h.now-j.arrived)
	h.jobs = slices.DeleteFunc(h.jobs, func(other *job) bool { return other == j })
}

// responses returns the mean time of a phase, and the time that one of a hundred phases reaches.
func (h *host) responses() (mean, late float64) {
	slices.Sort(h.took)
	for _, took := range h.took {
		mean += took / float64(len(h.took))
	}
	return mean, h.took[len(h.took)*99/100]
}

// way returns the factor for the distance to a task's data, as the host knows it. Without a machine, it is the factor
// of the best machine.
func (h *host) way(t *task, machine int) float64 {
	if machine < 0 {
		return h.path(t, 1-t.half)
	}
	return h.path(t, machine)
}

// share tells a phase the number of slots that it may use: its own slots, and idle slots for which no phase waits.
func (h *host) share(j *job) {
	if h.Load == 0 {
		return
	}
	slots := 0
	for i := range h.slots {
		if s := &h.slots[i]; !s.dead && (!s.runs || s.job == j) {
			slots++
		}
	}
	if slots != j.slots {
		j.slots = slots
		j.tracker.SetSlots(slots)
	}
}
