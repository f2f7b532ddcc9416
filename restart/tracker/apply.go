package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Apply tells the tracker of an event, or asks it, and returns its answer. It is what each method of an event calls: use
// it for events that were stored, or that come from elsewhere. An event of no known kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	if t.judge.book == nil { // New did not make it
		t.phase.ledger.Ignored++
		a.Task, a.Attempt, a.Ignored = none, none, true
		return
	}
	ignored := t.phase.ledger.Ignored
	t.phase.book.told++
	if e.Kind.Timed() {
		t.tick(e)
	}
	a.Task = max(e.Task, none)
	copies := t.phase.ledger.Copies
	if t.judge.trials.on {
		t.judge.trials.pupil.hear(&t.judge.trials)
		t.judge.hears(e)
	}
	switch e.Kind {
	case Recorded:
		t.phase.report(e)
	case Reported:
		if a.Reason = restart.NotRunning; t.phase.report(e) {
			t.decide(a, int32(e.Task), t.judge.phase())
		}
	case Asked:
		if a.Reason = restart.NotRunning; t.phase.known(e.Task) && t.phase.book.tasks[e.Task].copies != none {
			t.decide(a, int32(e.Task), t.judge.phase())
		}
	case Offered:
		t.offer(e, a)
	case Swept:
		t.sweep(a)
	case Started, Submitted:
		a.Attempt = t.phase.submit(e.Task, e.Machine, e.Kind == Started)
	case Begun:
		t.phase.begin(e.Task, e.Attempt, e.Machine)
	case Finished:
		a.Overtaken = t.phase.finish(e.Task, e.Attempt)
	case Failed:
		t.phase.fail(e.Task, e.Attempt)
	case Killed, Restarted:
		t.phase.kill(e.Task, e.Attempt, e.Kind == Restarted)
	case GivenUp:
		t.phase.giveUp(e.Task)
	case OutputLost:
		t.phase.loseOutput(e.Task)
	case EligibleSet:
		t.phase.setEligible(e)
	default:
		a.Task = none
		t.applyToAll(e, a)
	}
	// The candidates stay in their order while slots are offered and given to them, and nothing else happens.
	t.judge.ranking.holds = t.judge.ranking.holds && (e.Kind == Offered || t.phase.ledger.Copies > copies)
	t.judge.trials.pupil.tell(t.phase.book.clock.Last, &t.judge.trials)
	a.Ignored = t.phase.ledger.Ignored != ignored
	if t.config.OnEvent != nil {
		t.config.OnEvent(*e, *a)
	}
}

// applyToAll tells of an event that is about no task.
func (t *Tracker) applyToAll(e *Event, a *Answer) {
	switch e.Kind {
	case MachineLost:
		a.Waiting = t.phase.loseMachine(e.Machine)
	case MachineLeaves:
		t.phase.leave(e.Machine, e.Leaves)
	case SlotsSet:
		t.phase.setSlots(e.Slots)
	case Closed:
		t.phase.close()
	case Merged:
		if t.phase.fleet.merge(e) != nil {
			t.phase.ledger.Ignored++
		}
	default:
		a.Task = e.Task
		t.phase.ledger.Ignored++
	}
}

// tick takes the time of an event. Where the host's clock steps back, time goes on from there. An event without a time
// is given the last one, so that who observes it can record it.
func (t *Tracker) tick(e *Event) {
	t.phase.book.now = t.phase.book.clock.At(e.Time)
	if e.Time.IsZero() {
		e.Time = t.phase.book.clock.Last
	}
}

// decide decides about a running task, and keeps the list of candidates.
func (t *Tracker) decide(a *Answer, task int32, p *restart.Phase) {
	v := t.judge.decide(task, askNone, p)
	if v.wants {
		t.phase.book.candidates.add(task)
	} else {
		t.phase.book.candidates.drop(task)
	}
	t.answer(a, &v)
}

// answer takes a verdict for the answer, and counts it.
func (t *Tracker) answer(a *Answer, v *verdict) {
	a.Decision, a.Task = v.Decision, v.task
	t.judge.counts.add(&v.Decision)
}

// sweep decides about every running task.
func (t *Tracker) sweep(a *Answer) {
	found, p := t.found[:0], t.judge.phase()
	all := t.phase.book.copies.all
	for i := range all {
		task := all[i].task
		if task == none || t.phase.book.tasks[task].copies != int32(i) {
			continue // a free place, or not the first copy of its task
		}
		var one Answer
		if t.decide(&one, task, p); one.Action != restart.Keep {
			found = append(found, one)
		}
	}
	t.found = found
	a.Task, a.Found = none, found
}

// offer answers what to do with a free slot.
func (t *Tracker) offer(e *Event, a *Answer) {
	v := verdict{task: none}
	v.Reason = restart.NothingToDo
	if machine := max(e.Machine, none); t.phase.book.slots > 0 {
		if v = t.judge.best(machine); v.task == none {
			t.start(&v, machine)
		}
	} else if t.phase.book.waiting.waits+len(t.phase.book.candidates.list) > 0 { // none may run: it is closed, or has no slots yet
		v.Reason = restart.NoFreeSlot
	}
	t.answer(a, &v)
}

// start finds a waiting task for a free slot, or else one that lacks a clone.
func (t *Tracker) start(v *verdict, machine int) {
	place := t.phase.fleet.seen(machine)
	task, why := t.phase.book.waiting.first(place), restart.LargestWork
	if task == none {
		task, why = t.phase.book.nextClone(place), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := t.judge.unwanted(machine, task)
	if unwanted {
		v.Decision, place = d, t.phase.fleet.of(machine) // it counts among those that are refused
	} else {
		v.Decision, v.task = restart.Decision{Action: restart.Start, Reason: why}, int(task)
	}
	t.phase.fleet.refuse(place, unwanted)
}

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
func (x *phase) score(s *taskState, c *attemptState, score float64) {
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
	byExtra := winner != none && x.book.isExtra(s, &x.book.copies.all[winner])
	for i := s.copies; i != none; {
		c := &x.book.copies.all[i]
		next := c.next
		if i != winner {
			overtaken = append(overtaken, int(c.attempt))
			if x.book.isExtra(s, c) {
				x.ledger.Lost++
			} else if byExtra && c.machine != none {
				x.fleet.list[c.machine].beaten = x.book.now
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
	if e.NoCopy {
		dont |= noCopy
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
