package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// What happens to machines, slots and whole tasks.

// known reports whether there is such a task, and counts it if there is not.
func (x *phase) known(task int) bool {
	known := x.book.task(task) != nil
	if !known {
		x.ledger.Ignored++
	}
	return known
}

// loseMachine ends what runs on a machine and returns the tasks that wait again, in ascending order.
func (x *phase) loseMachine(machine int) []int {
	place := x.fleet.seen(machine)
	if place == none {
		return nil
	}
	x.fleet.refuse(place, false) // its slots go by SetSlots, and it may come back another
	all, lost := x.book.copies.all, x.lost[:0]
	for i := range all {
		if c := &all[i]; c.task != none && c.machine == place {
			lost = append(lost, int32(i))
		}
	}
	slices.SortFunc(lost, func(i, j int32) int { // by task, the newest first
		return cmp.Or(cmp.Compare(all[i].task, all[j].task), cmp.Compare(all[j].attempt, all[i].attempt))
	})
	x.lost, x.waiting = lost, x.waiting[:0]
	for _, i := range lost {
		task := int(all[i].task)
		x.ledger.Failed++
		x.abandon(task, i, hasFailed)
		if x.book.tasks[task].copies == none {
			x.waiting = append(x.waiting, task)
		}
	}
	return x.waiting
}

// loseOutput lets a finished task wait again.
func (x *phase) loseOutput(task int) {
	s := x.book.task(task)
	if s == nil || s.flags&finished == 0 {
		x.ledger.Ignored++
		return
	}
	x.peers.scores -= x.peers.furthest(&x.book, s)
	x.book.unfinish(int32(task))
	x.book.history(s).lost = s.attempts
}

func (x *phase) setSlots(slots int) {
	slots = min(max(slots, 0), maxTasks)
	if x.budget != nil {
		x.budget.SlotsChanged(slots - x.book.slots)
	}
	x.book.slots = slots
}

// leave notes when a machine leaves; the zero time takes it back.
func (x *phase) leave(machine int, at time.Time) {
	switch {
	case machine < 0:
		x.ledger.Ignored++
	case at.IsZero():
		x.fleet.leave(machine, noTime)
	default:
		x.fleet.leave(machine, max(num.Add(x.book.now, at.Sub(x.book.clock.Last)), noTime+1))
	}
}

func (x *phase) fail(task, attempt int) {
	if i := x.find(task, attempt); i != none {
		x.ledger.Failed++
		x.abandon(task, i, hasFailed)
	}
}

func (x *phase) giveUp(task int) {
	if !x.known(task) {
		return
	}
	s := &x.book.tasks[task]
	if s.flags&waits == 0 {
		x.ledger.Ignored++
		return
	}
	x.book.waiting.leave(s)
	s.flags |= givenUp
}

func (x *phase) setEligible(e *Event) {
	if !x.known(e.Task) {
		return
	}
	var dont taskFlags
	if e.NoDuplicate {
		dont |= noDuplicate
	}
	if e.NoRestart {
		dont |= noRestart
	}
	x.book.setEligible(int32(e.Task), dont)
}

func (x *phase) close() {
	for i := range x.book.tasks {
		s := &x.book.tasks[i]
		for s.copies != none {
			x.ledger.Pruned++
			x.abandon(i, s.copies, wasKilled)
		}
		if s.flags&waits != 0 {
			x.book.waiting.leave(s)
			s.flags |= givenUp
		}
	}
	x.setSlots(0)
}
