package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// How copies end, and what else can happen to a task.

// finish ends a task with success and returns its other attempts.
func (t *Tracker) finish(task, attempt int) (overtaken []int) {
	if s := t.ended(task, attempt); s != nil {
		return t.finishLate(s, task)
	}
	i := t.find(task, attempt)
	if i == none {
		return nil
	}
	s, c := &t.tasks[task], &t.copies.all[i]
	if c.attempt != s.original && !t.isClone(c) {
		t.ledger.Won++
	}
	overtaken = t.overtake(s, i)
	if c.begun {
		t.learn(s, c, t.age(c))
	}
	t.peers.dropPace(c)
	t.setScore(s, c, 1)
	t.peers.addPace(1, t.age(c))
	s.flags |= finished
	t.end(s, i, true)
	t.active--
	t.phase.Finished++
	t.ledger.Finished++
	t.count()
	t.candidates.drop(int32(task))
	return overtaken
}

// overtake ends the copies of a task except one, or all, and returns their attempts.
func (t *Tracker) overtake(s *taskState, winner int32) []int {
	overtaken := t.numbers[:0]
	for i := s.copies; i != none; {
		next := t.copies.all[i].next
		if i != winner {
			overtaken = append(overtaken, int(t.copies.all[i].attempt))
			if c := &t.copies.all[i]; c.attempt != s.original && !t.isClone(c) {
				t.ledger.Lost++
			}
			t.learnKilled(s, &t.copies.all[i])
			t.end(s, i, false)
		}
		i = next
	}
	t.numbers = overtaken
	return overtaken
}

// ended returns the task if the attempt is one that was taken as ended while the task goes on.
func (t *Tracker) ended(task, attempt int) *taskState {
	if task < 0 || task >= len(t.tasks) {
		return nil
	}
	s := &t.tasks[task]
	if attempt < 0 || attempt >= int(s.attempts) || s.flags&finished != 0 {
		return nil
	}
	for i := s.copies; i != none; i = t.copies.all[i].next {
		if int(t.copies.all[i].attempt) == attempt {
			return nil
		}
	}
	return s
}

// finishLate ends a task by the result of an attempt that was killed, but not soon enough. It is no sample.
func (t *Tracker) finishLate(s *taskState, task int) (overtaken []int) {
	if s.copies != none {
		t.active--
	}
	overtaken = t.overtake(s, none)
	t.waiting.leave(s)
	s.flags |= finished
	s.flags &^= givenUp
	t.peers.scores += t.furthest(s)
	t.phase.Finished++
	t.ledger.Finished++
	t.ledger.Late++
	t.count()
	t.candidates.drop(int32(task))
	return overtaken
}

func (t *Tracker) fail(task, attempt int) {
	if i := t.find(task, attempt); i != none {
		t.ledger.Failed++
		t.abandon(task, i, false)
	}
}

func (t *Tracker) kill(task, attempt int) {
	i := t.find(task, attempt)
	if i == none {
		return
	}
	if s := &t.tasks[task]; t.copies.all[s.copies].next != none { // another copy goes on
		t.history(s).lastCopy = t.now
	}
	t.ledger.Pruned++
	t.abandon(task, i, true)
}

func (t *Tracker) restart(task, attempt int) {
	i := t.find(task, attempt)
	if i == none {
		return
	}
	s := &t.tasks[task]
	if t.copies.all[s.copies].next != none {
		t.history(s).lastCopy = t.now
	}
	t.history(s).restarts++
	t.ledger.Restarts++
	t.abandon(task, i, true)
}

// abandon ends a copy that did not finish.
func (t *Tracker) abandon(task int, i int32, killed bool) {
	s, c := &t.tasks[task], &t.copies.all[i]
	if killed {
		t.learnKilled(s, c)
	} else {
		t.learnFailed(s, c)
	}
	t.end(s, i, false)
	if s.copies == none {
		t.active--
		t.waiting.enter(int32(task))
	}
	if !t.runs(s) {
		t.candidates.drop(int32(task))
	}
	t.count()
}

// end takes a copy out of its task's list and of all sums.
func (t *Tracker) end(s *taskState, i int32, success bool) {
	c := &t.copies.all[i]
	ran := t.age(c)
	t.ledger.Used = num.Add(t.ledger.Used, ran)
	before := t.furthest(s)
	ranBefore := t.runs(s)
	if !success {
		t.ledger.Wasted = num.Add(t.ledger.Wasted, ran)
		t.peers.dropPace(c)
		t.addMachine(c, 0)
	}
	if c.sample != estimate.NoSample {
		t.sampled--
	}
	t.first -= t.firsts(s)
	for link := &s.copies; *link != none; link = &t.copies.all[*link].next {
		if *link == i {
			*link = c.next
			break
		}
	}
	t.first += t.firsts(s)
	t.peers.scores += t.furthest(s) - before
	if ranBefore && !t.runs(s) {
		t.working--
	}
	t.copies.give(i)
	t.running--
}

func (t *Tracker) giveUp(task int) {
	s := t.task(task)
	switch {
	case s == nil:
	case s.flags&waits == 0:
		t.ledger.Ignored++
	default:
		t.waiting.leave(s)
		s.flags |= givenUp
	}
}

// loseMachine ends what runs on a machine and returns the tasks that wait again, in ascending order.
func (t *Tracker) loseMachine(machine int) (waiting []int) {
	place := t.places.seen(machine)
	if place == none {
		return nil
	}
	t.places.refuse(place, false) // its slots go by SetSlots, and it may come back another
	lost := t.lost[:0]
	for i := range t.copies.all {
		if c := &t.copies.all[i]; c.task != none && c.machine == place {
			lost = append(lost, int32(i))
		}
	}
	slices.SortFunc(lost, func(i, j int32) int { // by task, the newest first
		a, b := &t.copies.all[i], &t.copies.all[j]
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(b.attempt, a.attempt))
	})
	t.lost, waiting = lost, t.numbers[:0]
	for _, i := range lost {
		task := int(t.copies.all[i].task)
		t.ledger.Failed++
		t.abandon(task, i, false)
		if t.tasks[task].copies == none {
			waiting = append(waiting, task)
		}
	}
	t.numbers = waiting
	return waiting
}

func (t *Tracker) loseOutput(task int) {
	s := t.task(task)
	switch {
	case s == nil:
	case s.flags&finished == 0:
		t.ledger.Ignored++
	default:
		t.peers.scores -= t.furthest(s)
		s.flags &^= finished
		t.phase.Finished--
		t.waiting.enter(int32(task))
	}
}

func (t *Tracker) setSlots(slots int) {
	slots = min(max(slots, 0), maxTasks)
	if t.config.Budget != nil {
		t.config.Budget.SlotsChanged(slots - t.phase.Slots)
	}
	t.phase.Slots = slots
	t.count()
}

func (t *Tracker) setEligible(e *Event) {
	s := t.task(e.Task)
	if s == nil {
		return
	}
	s.flags &^= noDuplicate | noRestart
	if e.NoDuplicate {
		s.flags |= noDuplicate
	} else if t.config.Clones > 1 && s.copies != none {
		t.mayLackClones(int32(e.Task)) // it may have been passed over
	}
	if e.NoRestart {
		s.flags |= noRestart
	}
}

func (t *Tracker) leave(machine int, at time.Time) {
	place := t.places.seen(machine)
	switch {
	case machine < 0:
		t.ledger.Ignored++
		return
	case at.IsZero() && place == none:
		return // there is nothing to take back
	case place == none:
		place = t.heardOf(machine)
	}
	if t.places.leaves[place] != noTime {
		t.leaving--
	}
	t.places.leaves[place] = noTime
	if !at.IsZero() {
		t.leaving++
		t.places.leaves[place] = num.Add(t.now, at.Sub(t.clock.Last))
	}
}
