package tracker

import "github.com/straggler-go/straggler/estimate"

// How copies come and go in the book.

// role is what a new copy is to its task.
type role uint8

const (
	original role = iota // the only one
	clone                // one more of the first ones
	extra                // one that is made because the task is slow
)

// submit takes a new copy of a task to the book, for a place or none. It begins at once, or later.
func (b *book) submit(task, machine int32) (*copyState, role) {
	s, as := &b.tasks[task], original
	switch {
	case s.copies == none:
		b.active++
		b.waiting.leave(s)
		s.original = s.attempts
		b.mayLackClones(task)
	case s.attempts < b.clones:
		as = clone
	default:
		as = extra
		h := b.history(s)
		h.lastCopy = b.now
		h.duplicates++
		b.candidates.drop(task)
	}
	b.first -= b.firsts(s)
	submitted := b.now
	if b.running >= b.slots {
		submitted = noTime // it waits for a slot, which is no delay of the dispatch
	}
	i := b.copies.take(min(len(b.tasks), b.slots))
	c := &b.copies.all[i]
	*c = copyState{
		start: submitted, readAll: noTime, remaining: estimate.Unknown, sample: estimate.NoSample,
		task: task, next: s.copies, machine: machine, attempt: s.attempts,
	}
	s.copies = i
	s.attempts++
	b.first += b.firsts(s)
	b.running++
	s.tryMachine(machine)
	return c, as
}

// begin lets a copy run from now on. Whether it belongs to the first wave is seen by the tasks that have run, not by
// those that are queued, which may be all that there are.
func (b *book) begin(c *copyState) {
	s := &b.tasks[c.task]
	if !b.runs(s) {
		b.working++
	}
	if c.attempt == s.original {
		s.flags &^= firstWave
		if b.started < b.slots {
			s.flags |= firstWave
		}
	}
	if s.flags&hasRun == 0 {
		s.flags |= hasRun
		b.started++
	}
	c.start, c.begun, c.resumed = b.now, true, b.saved(s)
	b.moved = b.now
	s.tryMachine(c.machine)
}

// end takes a copy off its task. A task that loses its last one neither waits nor has ended until the queue or
// [book.finish] has it.
func (b *book) end(i int32) {
	c := &b.copies.all[i]
	s := &b.tasks[c.task]
	ran := b.runs(s)
	b.first -= b.firsts(s)
	for link := &s.copies; *link != none; link = &b.copies.all[*link].next {
		if *link == i {
			*link = c.next
			break
		}
	}
	b.first += b.firsts(s)
	if !b.runs(s) {
		if ran {
			b.working--
		}
		b.candidates.drop(c.task)
	}
	if s.copies == none {
		b.active--
	}
	b.copies.give(i)
	b.running--
	b.moved = b.now
}

// finish takes note that a task without copies has ended with success.
func (b *book) finish(task int32) {
	s := &b.tasks[task]
	b.waiting.leave(s)
	s.flags = s.flags&^givenUp | finished
	b.finished++
	b.ends++
}

// unfinish lets a task that has finished wait again.
func (b *book) unfinish(task int32) {
	b.tasks[task].flags &^= finished
	b.finished--
	b.waiting.enter(task)
}

// mayLackClones puts a task into the list of those that may lack some of their first copies.
func (b *book) mayLackClones(task int32) {
	if s := &b.tasks[task]; b.clones > 1 && s.flags&cloning == 0 && s.attempts < b.clones {
		s.flags |= cloning
		b.cloning = append(b.cloning, task)
	}
}

// lacksClone reports whether a task is to have one more of its first copies: each attempt that it has had counts as one.
func (b *book) lacksClone(s *taskState) bool {
	return s.copies != none && s.flags&(finished|noDuplicate) == 0 && s.attempts < b.clones
}

// nextClone returns a task that lacks one of its first copies, was not tried on the machine, and still runs; none if
// there is none. It passes over the tasks that were tried on the machine, and once over each that lacks none any more.
func (b *book) nextClone(place int32) int32 {
	kept, list := 0, b.cloning
	for i, task := range list {
		if s := &b.tasks[task]; !b.lacksClone(s) {
			s.flags &^= cloning
			continue
		} else if !s.wasTried(place) {
			copy(list[i-kept:i], list[:kept])
			b.cloning = list[i-kept:]
			return task
		}
		list[kept] = task
		kept++
	}
	b.cloning = list[:kept]
	return none
}

// setEligible says what must not be done to a task.
func (b *book) setEligible(task int32, dont taskFlags) {
	s := &b.tasks[task]
	if s.flags = s.flags&^(noDuplicate|noRestart) | dont; dont&noDuplicate == 0 && s.copies != none {
		b.mayLackClones(task) // it may have been passed over
	}
}
