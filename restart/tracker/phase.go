package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// phase owns the parts of the tracker's state. A part does not know the other parts: it gets values, and returns values.
// The methods of phase in this file apply an event to all parts. If a part needs the state from before the event, the
// method changes that part first.
type phase struct {
	book      book
	fleet     fleet
	forecast  forecast
	ages      ages
	even      evenness
	units     unitCheck
	recent    recent
	lag       lag
	link      *link // nil if the phase shares no run times
	peers     peers
	trials    trials
	judge     judge
	ranking   ranking
	ledger    Ledger
	facts     facts
	budget    Limiter // bounds the copies of several phases; a nil *Budget: no bound
	charged   int     // number of running copies that the budget knows of
	lost      []int32 // memory of loseMachine: indices of the attempts on the machine
	overtaken []int   // memory of the answer to a Finished event
	waiting   []int   // memory of the answer to a MachineLost event
}

// find returns the index of an attempt that has not ended. If there is no such attempt, find returns none, and counts
// the event as ignored.
func (x *phase) find(task, attempt int) int32 {
	i := x.book.find(task, attempt)
	if i == none {
		x.ledger.Ignored++
	}
	return i
}

// submit adds a new attempt of a task on a machine, and returns the number of the attempt. If begins is set, the
// attempt also begins to run. If no attempt of the task may start, submit returns none, and counts the event as
// ignored.
func (x *phase) submit(task, machine int, begins bool) int {
	s := x.book.task(task)
	if s == nil || s.flags&(finished|givenUp) != 0 {
		x.ledger.Ignored++
		return none
	}
	if s.launched >= x.book.clones {
		x.beginTrial(int32(task), restart.Copy)
	}
	if s.launched == 0 {
		x.budget.TaskStarted()
	}
	index := x.fleet.add(machine)
	a, as := x.book.submit(int32(task), index)
	switch as {
	case asClone:
		x.ledger.Clones++
	case asCopy:
		x.ledger.Copies++
	}
	x.ledger.Started++
	x.fleet.refuse(index, false)
	x.charge()
	if begins {
		x.book.begin(a, none)
	}
	return int(a.attempt)
}

// charge tells the budget how many copies were launched and how many ended since the last call of charge.
func (x *phase) charge() {
	copies := x.book.copies()
	for ; x.charged < copies; x.charged++ {
		x.budget.CopyLaunched()
	}
	for ; x.charged > copies; x.charged-- {
		x.budget.CopyEnded()
	}
}

// begin records that a submitted attempt has begun to run on a machine. If machine is negative, the attempt runs on
// the machine that it was submitted for.
func (x *phase) begin(task, attempt, machine int) {
	i := x.find(task, attempt)
	if i == none {
		return
	}
	a := &x.book.attempts.all[i]
	if a.begun {
		x.ledger.Ignored++
		return
	}
	if a.start != noTime {
		x.lag.observe(x.book.now - a.start)
	}
	x.book.begin(a, x.fleet.add(machine))
}

// report applies the progress report of an attempt. If the attempt has not begun, the report begins it. The result
// says whether the attempt exists and has not ended.
func (x *phase) report(task int, e *Event) bool {
	i := x.find(task, e.Attempt)
	if i == none {
		return false
	}
	s, a := &x.book.tasks[task], &x.book.attempts.all[i]
	if !a.begun {
		x.book.begin(a, none)
	}
	if !e.Report.valid() {
		x.ledger.Ignored++
		return true
	}
	x.dropPace(a)
	x.score(s, a, x.learnReport(s, a, &e.Report))
	x.peers.addPace(a.score, x.book.age(a))
	return true
}

// score sets the progress score of an attempt. It also updates the sum of the scores of all tasks, and the sum of the
// scores on the attempt's machine.
func (x *phase) score(s *taskState, a *attemptState, score float64) {
	before := x.furthest(s)
	x.fleet.score(x.book.clock.Last, a.machine, a.score, score)
	x.book.setScore(a, score)
	x.peers.addScore(before, x.furthest(s))
}

// furthest returns the share of a task that is done, for the sum of the scores of all tasks. It is 0 if the policy does
// not read this sum.
func (x *phase) furthest(s *taskState) float64 {
	if !x.peers.reads.Has(rules.Scores) {
		return 0
	}
	return x.book.furthest(s)
}

// dropPace removes the progress rate of a running attempt.
func (x *phase) dropPace(a *attemptState) { x.peers.dropPace(a.score, a.track.progress.At()) }

// finish records that an attempt has ended its task with success. It ends the other attempts of the task, and returns
// their numbers.
func (x *phase) finish(task, attempt int) (overtaken []int) {
	if s := x.book.late(task, attempt); s != nil {
		x.endTrial(s, none)
		// The tracker already took this attempt as ended, for example as killed, but the attempt had finished before its
		// kill. Its run time is not known, so nothing is learnt from it.
		overtaken = x.overtake(s, none)
		x.ledger.Late++
		before := x.furthest(s)
		x.book.finish(int32(task))
		x.peers.addScore(before, x.furthest(s))
		x.charge()
		return overtaken
	}
	i := x.find(task, attempt)
	if i == none {
		return nil
	}
	s, a := &x.book.tasks[task], &x.book.attempts.all[i]
	x.endTrial(s, i)
	if x.book.isCopy(s, a) {
		x.ledger.Won++
	}
	overtaken = x.overtake(s, i)
	age := x.book.age(a)
	if a.begun {
		sample := x.learnFinish(s, a)
		figures := x.peers.finish(age.Seconds(), s.stint(a.resumed), s.flags&knownWork != 0, a.track.done)
		if x.recent.grows() {
			x.recent.note(learnt{x.book.now, int32(sample), true, a.machine, figures})
		}
	}
	x.dropPace(a)
	x.score(s, a, 1)
	x.peers.addPace(1, age)
	x.ledger.Used = num.Add(x.ledger.Used, age)
	x.book.end(i)
	x.book.finish(int32(task))
	x.charge()
	return overtaken
}

// overtake ends all attempts of a task except the winner, and returns the numbers of the ended attempts. If winner is
// none, all attempts end.
func (x *phase) overtake(s *taskState, winner int32) []int {
	overtaken := x.overtaken[:0]
	byCopy, on, lapses := false, int32(none), noTime
	if winner != none {
		a := &x.book.attempts.all[winner]
		byCopy, on = x.book.isCopy(s, a), a.machine
		lapses = num.Add(x.book.now, max(x.longest(s.stint(a.resumed)), x.book.age(a)))
	}
	for i := s.newest; i != none; {
		a := &x.book.attempts.all[i]
		next := a.next
		if i != winner {
			overtaken = append(overtaken, int(a.attempt))
			if x.book.isCopy(s, a) {
				x.ledger.Lost++
			} else if byCopy && a.machine != none && a.machine != on {
				x.fleet.beaten(a.machine, lapses)
			}
			x.end(s, i, wasKilled)
		}
		i = next
	}
	x.overtaken = overtaken
	return overtaken
}

// fate says how an attempt ended without success.
type fate uint8

const (
	hasFailed fate = iota // it failed, or was lost with its machine
	wasKilled             // it was killed or overtaken
	wasInVain             // it was a copy, and the host killed it while another attempt of the task went on
)

// end ends an attempt that has not finished with success. The fate says how it ended.
func (x *phase) end(s *taskState, i int32, how fate) {
	a := &x.book.attempts.all[i]
	if how == hasFailed {
		x.learnFailure(a)
	} else {
		x.learnKill(s, a, how == wasInVain)
	}
	ran, before := x.book.age(a), x.furthest(s)
	x.ledger.Used, x.ledger.Wasted = num.Add(x.ledger.Used, ran), num.Add(x.ledger.Wasted, ran)
	x.dropPace(a)
	x.fleet.score(x.book.clock.Last, a.machine, a.score, 0)
	x.book.end(i)
	x.peers.addScore(before, x.furthest(s))
}

// abandon ends an attempt that has not finished with success. If the task has no other attempt, the task waits again.
func (x *phase) abandon(task int, i int32, how fate) {
	s := &x.book.tasks[task]
	x.end(s, i, how)
	if s.newest == none {
		x.book.enter(int32(task))
	}
	x.charge()
}

// kill ends an attempt that the host has killed. If restarts is set, the host killed the attempt in order to run the
// task again.
func (x *phase) kill(task, attempt int, restarts bool) {
	i := x.find(task, attempt)
	if i == none {
		return
	}
	s := &x.book.tasks[task]
	how, several := wasKilled, x.book.several(s)
	switch {
	case several:
		x.killTrial(s, i)
		if x.book.isCopy(s, &x.book.attempts.all[i]) {
			how = wasInVain // another attempt goes on
		}
	case restarts:
		x.beginTrial(int32(task), restart.Restart)
	}
	x.book.noteKill(s, i, restarts)
	if restarts {
		x.ledger.Restarts++
	} else {
		x.ledger.Pruned++
	}
	x.abandon(task, i, how)
}

// counts returns the ledger of the phase. It adds the numbers that other parts of the phase count, such as finished
// tasks.
func (x *phase) counts() Ledger {
	l := x.ledger
	l.Finished, l.ClockSteps = x.book.successes, x.book.clock.Steps
	l.BadUnits, l.SmallUnits, l.BadAnswers = x.units.tooLarge, x.units.tooSmall, x.judge.badAnswers
	return l
}

// The methods below apply events of machines, of slots and of whole tasks.

// known reports whether a task with this index exists. If not, known counts the event as ignored.
func (x *phase) known(task int) bool {
	known := x.book.task(task) != nil
	if !known {
		x.ledger.Ignored++
	}
	return known
}

// loseMachine ends all attempts on a machine that is lost. It returns the tasks that lost their last attempt and wait
// again, in ascending order.
func (x *phase) loseMachine(machine int) []int {
	index := x.fleet.find(machine)
	if index == none {
		return nil
	}
	x.fleet.lost(index)
	all, lost := x.book.attempts.all, x.lost[:0]
	for i := range all {
		if a := &all[i]; a.task != none && a.machine == index {
			lost = append(lost, int32(i))
		}
	}
	slices.SortFunc(lost, func(i, j int32) int { // by task; attempts of one task, newest first
		return cmp.Or(cmp.Compare(x.book.index(all[i].task), x.book.index(all[j].task)), cmp.Compare(all[j].attempt, all[i].attempt))
	})
	x.lost, x.waiting = lost, x.waiting[:0]
	for _, i := range lost {
		task := int(all[i].task)
		x.fail(task, i)
		if x.book.tasks[task].newest == none {
			x.waiting = append(x.waiting, x.book.index(int32(task)))
		}
	}
	return x.waiting
}

// loseOutput records that the output of a finished task is lost. The task waits again.
func (x *phase) loseOutput(task int) {
	s := x.book.task(task)
	if s == nil || s.flags&finished == 0 {
		x.ledger.Ignored++
		return
	}
	before := x.furthest(s)
	if !x.book.voidEnd(int32(task)) {
		x.peers.addScore(0, 1) // the sum has forgotten the task
	}
	x.book.unfinish(int32(task))
	x.peers.addScore(before, x.furthest(s))
}

// setSlots sets how many attempts of the phase may run at once, and tells the budget by how much this number changed.
func (x *phase) setSlots(slots int) {
	x.budget.SlotsChanged(x.book.setSlots(slots))
}

// leave records the time at which a machine will leave. The zero time says that the machine stays after all.
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

// fail ends an attempt that has failed, or was lost with its machine.
func (x *phase) fail(task int, i int32) {
	if i != none {
		x.failTrial(&x.book.tasks[task], &x.book.attempts.all[i])
		x.ledger.Failed++
		x.abandon(task, i, hasFailed)
	}
}

// giveUp records that the host will not run a waiting task again. If the task does not wait, the event counts as
// ignored.
func (x *phase) giveUp(task int) {
	s := x.book.task(task)
	if s == nil || !x.book.giveUp(s) {
		x.ledger.Ignored++
		return
	}
	x.dropTrial(s)
}

// retry records that a task that was given up waits for a slot again. If the task was not given up, the event counts
// as ignored.
func (x *phase) retry(task int) {
	if x.book.task(task) == nil || !x.book.retry(int32(task)) {
		x.ledger.Ignored++
	}
}

// setEligible sets whether a task may be copied and whether it may be restarted.
func (x *phase) setEligible(task int, e *Event) {
	if !x.known(task) {
		return
	}
	var forbidden taskFlags
	if e.NoCopy {
		forbidden |= noCopy
	}
	if e.NoRestart {
		forbidden |= noRestart
	}
	x.book.setEligible(int32(task), forbidden)
}

// endAll ends all attempts of a task. They count as killed.
func (x *phase) endAll(task int) {
	s := &x.book.tasks[task]
	x.dropTrial(s)
	for s.newest != none {
		x.ledger.Pruned++
		x.abandon(task, s.newest, wasKilled)
	}
}

// close ends the phase. Running attempts count as killed, waiting tasks count as given up, and the phase has no
// slots.
func (x *phase) close() {
	for i := range x.book.tasks {
		x.endAll(i)
		x.book.giveUp(&x.book.tasks[i])
	}
	x.setSlots(0)
}
