package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// complete works out what follows from what was read, and refuses what does not fit together.
func (x *phase) complete(c *snapshot.Codec) {
	b := &x.book
	b.finished, b.waiting.heap, b.waiting.waits = 0, b.waiting.heap[:0], 0
	for i := range b.tasks {
		x.completeTask(c, int32(i))
	}
	places := 0
	for i := b.copies.free; i != none && places <= len(b.copies.all); i = b.copies.all[i].next {
		c.Check(b.copies.all[i].task == none, "lists a copy among the free places")
		places++
	}
	c.Check(places+b.running == len(b.copies.all), "lists its copies wrong")
	for i, task := range b.candidates.list {
		if task == none || b.tasks[task].candidate != none || !b.runs(&b.tasks[task]) {
			c.Check(false, "lists a candidate that is none")
			return
		}
		b.tasks[task].candidate = int32(i)
	}
	for _, task := range b.cloning {
		if task == none || b.tasks[task].flags&cloning != 0 {
			c.Check(false, "lists a task wrong that is cloned")
			return
		}
		b.tasks[task].flags |= cloning
	}
	x.charged = b.speculative()
}

func (x *phase) completeTask(c *snapshot.Codec, task int32) {
	b := &x.book
	s := &b.tasks[task]
	s.candidate = none
	copies := 0
	for i := s.copies; i != none && c.OK(); i = b.copies.all[i].next {
		one := &b.copies.all[i]
		copies++
		if one.sample != estimate.NoSample {
			x.forecast.sampled++
		}
		c.Check(one.task == task && one.attempt < s.attempts && copies <= int(s.attempts), "lists a copy wrong")
	}
	isWaiting := s.flags&waits != 0
	switch {
	case !c.OK():
		return
	case s.attempts < 0 || copies > 0 && (isWaiting || s.flags&(finished|givenUp) != 0) || isWaiting && s.flags&finished != 0:
		c.Check(false, "holds a task that both waits and does not")
		return
	}
	if s.flags&finished != 0 {
		b.finished++
	}
	if copies > 0 {
		b.active++
		b.running += copies
		b.first += b.firsts(s)
		if b.runs(s) {
			b.working++
		}
	}
	if isWaiting {
		b.waiting.enter(task)
	}
}
