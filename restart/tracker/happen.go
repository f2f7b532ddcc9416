package tracker

import "github.com/straggler-go/straggler/internal/num"

// phase is what has happened in a phase: what an event of a copy's life does to the book, the forecast, the fleet, the peers
// and the account of its cost. Each of its methods is one event; what reads the state before goes first.
type phase struct {
	book      book
	forecast  forecast
	fleet     fleet
	peers     peers
	ledger    Ledger
	budget    Limiter // nil: no bound
	charged   int     // copies that the budget knows of
	lost      []int32 // copies, in the order of their tasks
	overtaken []int   // the answer to a Finish
	waiting   []int   // the answer to a LoseMachine
}

// find returns the place of a copy that has not ended, or none, which is counted.
func (x *phase) find(task, attempt int) int32 {
	i := x.book.find(task, attempt)
	if i == none {
		x.ledger.Ignored++
	}
	return i
}

// submit takes in a new copy, which begins at once or later. It returns the attempt's number, or none.
func (x *phase) submit(task, machine int, begins bool) int {
	s := x.book.task(task)
	if s == nil || s.flags&(finished|givenUp) != 0 {
		x.ledger.Ignored++
		return none
	}
	if s.attempts == 0 && x.budget != nil {
		x.budget.TaskStarted()
	}
	place := x.fleet.of(machine)
	c, as := x.book.submit(int32(task), place)
	switch as {
	case clone:
		x.ledger.Clones++
	case extra:
		x.ledger.Copies++
	}
	x.ledger.Started++
	x.fleet.refuse(place, false)
	x.charge()
	if begins {
		x.book.begin(c)
	}
	return int(c.attempt)
}

// charge tells the budget of the copies that have come or gone.
func (x *phase) charge() {
	speculative := x.book.speculative()
	for ; x.charged < speculative; x.charged++ {
		if x.budget != nil {
			x.budget.CopyLaunched()
		}
	}
	for ; x.charged > speculative; x.charged-- {
		if x.budget != nil {
			x.budget.CopyEnded()
		}
	}
}

// begin lets a submitted copy run.
func (x *phase) begin(task, attempt, machine int) {
	i := x.find(task, attempt)
	if i == none {
		return
	}
	c := &x.book.copies.all[i]
	if c.begun {
		x.ledger.Ignored++
		return
	}
	if machine >= 0 {
		c.machine = x.fleet.of(machine)
	}
	if c.start != noTime {
		x.forecast.lag.observe(x.book.now - c.start)
	}
	x.book.begin(c)
}

// report takes in what a copy reports, which begins if it has not, and tells whether there is such a copy.
func (x *phase) report(e *Event) bool {
	i := x.find(e.Task, e.Attempt)
	if i == none {
		return false
	}
	s, c := &x.book.tasks[e.Task], &x.book.copies.all[i]
	if !c.begun {
		x.book.begin(c)
	}
	if !e.Report.valid() {
		x.ledger.Ignored++
		return true
	}
	x.peers.dropPace(c)
	score := x.forecast.report(s, c, &e.Report)
	x.score(s, c, score)
	x.peers.addPace(c.score, x.book.age(c))
	return true
}

// score takes a copy's progress score into the mean score and its machine's total.
func (x *phase) score(s *taskState, c *copyState, score float64) {
	before := x.peers.furthest(&x.book, s)
	x.fleet.score(x.book.clock.Last, c, score)
	c.score = score
	x.peers.scores += x.peers.furthest(&x.book, s) - before
}

// finish ends a task with success and returns its other attempts.
func (x *phase) finish(task, attempt int) (overtaken []int) {
	if s := x.book.over(task, attempt); s != nil { // killed, but not soon enough: it is no sample
		overtaken = x.overtake(s, none)
		x.ledger.Late++
		x.book.finish(int32(task))
		x.peers.scores += x.peers.furthest(&x.book, s)
		x.charge()
		return overtaken
	}
	i := x.find(task, attempt)
	if i == none {
		return nil
	}
	s, c := &x.book.tasks[task], &x.book.copies.all[i]
	if x.book.isExtra(s, c) {
		x.ledger.Won++
	}
	overtaken = x.overtake(s, i)
	age := x.book.age(c)
	if c.begun {
		x.forecast.finished(s, c)
		w := s.stint(c.resumed)
		x.peers.finish(age.Seconds(), s, w, x.forecast.done(w, c))
	}
	x.peers.dropPace(c)
	x.score(s, c, 1)
	x.peers.addPace(1, age)
	x.ledger.Used = num.Add(x.ledger.Used, age)
	x.book.end(i)
	x.book.finish(int32(task))
	x.charge()
	return overtaken
}

// overtake ends the copies of a task except one, or all, and returns their attempts.
func (x *phase) overtake(s *taskState, winner int32) []int {
	overtaken := x.overtaken[:0]
	for i := s.copies; i != none; {
		c := &x.book.copies.all[i]
		next := c.next
		if i != winner {
			overtaken = append(overtaken, int(c.attempt))
			if x.book.isExtra(s, c) {
				x.ledger.Lost++
			}
			x.end(s, i, wasKilled)
		}
		i = next
	}
	x.overtaken = overtaken
	return overtaken
}

// fate is why a copy has ended that did not finish.
type fate uint8

const (
	hasFailed fate = iota
	wasKilled
	wasInVain // a copy that was killed while another attempt of its task went on
)

// end ends a copy that did not finish.
func (x *phase) end(s *taskState, i int32, how fate) {
	c := &x.book.copies.all[i]
	if how == hasFailed {
		x.forecast.failed(s, c)
	} else {
		x.forecast.killed(s, c, how == wasInVain)
	}
	ran, before := x.book.age(c), x.peers.furthest(&x.book, s)
	x.ledger.Used, x.ledger.Wasted = num.Add(x.ledger.Used, ran), num.Add(x.ledger.Wasted, ran)
	x.peers.dropPace(c)
	x.fleet.score(x.book.clock.Last, c, 0)
	x.book.end(i)
	x.peers.scores += x.peers.furthest(&x.book, s) - before
}

// abandon ends a copy that did not finish; if it was the last one of its task, that waits again.
func (x *phase) abandon(task int, i int32, how fate) {
	s := &x.book.tasks[task]
	x.end(s, i, how)
	if s.copies == none {
		x.book.waiting.enter(int32(task))
	}
	x.charge()
}

// kill ends a copy, and begins its task again if it was killed for that.
func (x *phase) kill(task, attempt int, restarts bool) {
	i := x.find(task, attempt)
	if i == none {
		return
	}
	s := &x.book.tasks[task]
	how := wasKilled
	if x.book.several(s) { // another copy goes on
		x.book.history(s).lastCopy = x.book.now
		if x.book.isExtra(s, &x.book.copies.all[i]) {
			how = wasInVain
		}
	}
	if restarts {
		x.book.history(s).restarts++
		x.ledger.Restarts++
	} else {
		x.ledger.Pruned++
		if x.book.several(s) && x.book.oldest(s) == i { // a copy takes its place
			x.book.history(s).restarts++
		}
	}
	x.abandon(task, i, how)
}

// account returns the ledger, with what the parts count.
func (x *phase) account() Ledger {
	l := x.ledger
	l.Finished, l.ClockSteps = x.book.ends, x.book.clock.Steps
	l.BadUnits, l.SmallUnits = x.forecast.doubt.bad, x.forecast.doubt.small
	return l
}
