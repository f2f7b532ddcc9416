package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// What an event does to the parts.

// find returns the place of a copy that has not ended, or none, which is counted.
func (t *Tracker) find(task, attempt int) int32 {
	i := t.book.find(task, attempt)
	if i == none {
		t.ledger.Ignored++
	}
	return i
}

// submit takes in a new copy, which begins at once or later. It returns the attempt's number, or none.
func (t *Tracker) submit(task, machine int, begins bool) int {
	s := t.book.task(task)
	if s == nil || s.flags&(finished|givenUp) != 0 {
		t.ledger.Ignored++
		return none
	}
	if s.attempts == 0 && t.config.Budget != nil {
		t.config.Budget.TaskStarted()
	}
	place := t.fleet.of(machine)
	c, as := t.book.submit(int32(task), place)
	switch as {
	case clone:
		t.ledger.Clones++
	case extra:
		t.ledger.Copies++
	}
	t.ledger.Started++
	t.fleet.refuse(place, false)
	t.charge()
	if begins {
		t.book.begin(c)
	}
	return int(c.attempt)
}

// charge tells the budget of the copies that have come or gone.
func (t *Tracker) charge() {
	speculative := t.book.speculative()
	for ; t.charged < speculative; t.charged++ {
		if t.config.Budget != nil {
			t.config.Budget.CopyLaunched()
		}
	}
	for ; t.charged > speculative; t.charged-- {
		if t.config.Budget != nil {
			t.config.Budget.CopyEnded()
		}
	}
}

// begin lets a submitted copy run.
func (t *Tracker) begin(task, attempt, machine int) {
	i := t.find(task, attempt)
	if i == none {
		return
	}
	c := &t.book.copies.all[i]
	if c.begun {
		t.ledger.Ignored++
		return
	}
	if machine >= 0 {
		c.machine = t.fleet.of(machine)
	}
	if c.start != noTime {
		t.forecast.lag.observe(t.book.now - c.start)
	}
	t.book.begin(c)
}

// report takes in what a copy reports, which begins if it has not, and tells whether there is such a copy.
func (t *Tracker) report(e *Event) bool {
	i := t.find(e.Task, e.Attempt)
	if i == none {
		return false
	}
	s, c := &t.book.tasks[e.Task], &t.book.copies.all[i]
	if !c.begun {
		t.book.begin(c)
	}
	if !e.Report.valid() {
		t.ledger.Ignored++
		return true
	}
	t.peers.dropPace(c)
	score := t.forecast.report(s, c, &e.Report)
	t.score(s, c, score)
	t.peers.addPace(c.score, t.book.age(c))
	return true
}

// score takes a copy's progress score into the mean score and its machine's total.
func (t *Tracker) score(s *taskState, c *copyState, score float64) {
	before := t.peers.furthest(&t.book, s)
	t.fleet.score(t.book.clock.Last, c, score)
	c.score = score
	t.peers.scores += t.peers.furthest(&t.book, s) - before
}

// finish ends a task with success and returns its other attempts.
func (t *Tracker) finish(task, attempt int) (overtaken []int) {
	if s := t.book.over(task, attempt); s != nil { // killed, but not soon enough: it is no sample
		overtaken = t.overtake(s, none)
		t.ledger.Late++
		t.book.finish(int32(task))
		t.peers.scores += t.peers.furthest(&t.book, s)
		t.charge()
		return overtaken
	}
	i := t.find(task, attempt)
	if i == none {
		return nil
	}
	s, c := &t.book.tasks[task], &t.book.copies.all[i]
	if t.book.isExtra(s, c) {
		t.ledger.Won++
	}
	overtaken = t.overtake(s, i)
	age := t.book.age(c)
	if c.begun {
		t.forecast.finished(s, c)
		w := s.stint(c.resumed)
		t.peers.finish(age.Seconds(), s, w, t.forecast.done(w, c))
	}
	t.peers.dropPace(c)
	t.score(s, c, 1)
	t.peers.addPace(1, age)
	t.ledger.Used = num.Add(t.ledger.Used, age)
	t.book.end(i)
	t.book.finish(int32(task))
	t.charge()
	return overtaken
}

// overtake ends the copies of a task except one, or all, and returns their attempts.
func (t *Tracker) overtake(s *taskState, winner int32) []int {
	overtaken := t.overtaken[:0]
	for i := s.copies; i != none; {
		c := &t.book.copies.all[i]
		next := c.next
		if i != winner {
			overtaken = append(overtaken, int(c.attempt))
			if t.book.isExtra(s, c) {
				t.ledger.Lost++
			}
			t.end(s, i, true)
		}
		i = next
	}
	t.overtaken = overtaken
	return overtaken
}

// end ends a copy that did not finish, because it was killed or has failed.
func (t *Tracker) end(s *taskState, i int32, killed bool) {
	c := &t.book.copies.all[i]
	if killed {
		t.forecast.killed(s, c)
	} else {
		t.forecast.failed(s, c)
	}
	ran, before := t.book.age(c), t.peers.furthest(&t.book, s)
	t.ledger.Used, t.ledger.Wasted = num.Add(t.ledger.Used, ran), num.Add(t.ledger.Wasted, ran)
	t.peers.dropPace(c)
	t.fleet.score(t.book.clock.Last, c, 0)
	t.book.end(i)
	t.peers.scores += t.peers.furthest(&t.book, s) - before
}

// abandon ends a copy that did not finish; if it was the last one of its task, that waits again.
func (t *Tracker) abandon(task int, i int32, killed bool) {
	s := &t.book.tasks[task]
	t.end(s, i, killed)
	if s.copies == none {
		t.book.waiting.enter(int32(task))
	}
	t.charge()
}

// kill ends a copy, and begins its task again if it was killed for that.
func (t *Tracker) kill(task, attempt int, restarts bool) {
	i := t.find(task, attempt)
	if i == none {
		return
	}
	s := &t.book.tasks[task]
	if t.book.several(s) { // another copy goes on
		t.book.history(s).lastCopy = t.book.now
	}
	if restarts {
		t.book.history(s).restarts++
		t.ledger.Restarts++
	} else {
		t.ledger.Pruned++
	}
	t.abandon(task, i, true)
}

// loseMachine ends what runs on a machine and returns the tasks that wait again, in ascending order.
func (t *Tracker) loseMachine(machine int) []int {
	place := t.fleet.seen(machine)
	if place == none {
		return nil
	}
	t.fleet.refuse(place, false) // its slots go by SetSlots, and it may come back another
	all, lost := t.book.copies.all, t.lost[:0]
	for i := range all {
		if c := &all[i]; c.task != none && c.machine == place {
			lost = append(lost, int32(i))
		}
	}
	slices.SortFunc(lost, func(i, j int32) int { // by task, the newest first
		return cmp.Or(cmp.Compare(all[i].task, all[j].task), cmp.Compare(all[j].attempt, all[i].attempt))
	})
	t.lost, t.waiting = lost, t.waiting[:0]
	for _, i := range lost {
		task := int(all[i].task)
		t.ledger.Failed++
		t.abandon(task, i, false)
		if t.book.tasks[task].copies == none {
			t.waiting = append(t.waiting, task)
		}
	}
	return t.waiting
}

// loseOutput lets a finished task wait again.
func (t *Tracker) loseOutput(task int) {
	s := t.book.task(task)
	if s == nil || s.flags&finished == 0 {
		t.ledger.Ignored++
		return
	}
	t.peers.scores -= t.peers.furthest(&t.book, s)
	t.book.unfinish(int32(task))
}

func (t *Tracker) setSlots(slots int) {
	slots = min(max(slots, 0), maxTasks)
	if t.config.Budget != nil {
		t.config.Budget.SlotsChanged(slots - t.book.slots)
	}
	t.book.slots = slots
}

// leave notes when a machine leaves; the zero time takes it back.
func (t *Tracker) leave(machine int, at time.Time) {
	switch {
	case machine < 0:
		t.ledger.Ignored++
	case at.IsZero():
		t.fleet.leave(machine, noTime)
	default:
		t.fleet.leave(machine, max(num.Add(t.book.now, at.Sub(t.book.clock.Last)), noTime+1))
	}
}
