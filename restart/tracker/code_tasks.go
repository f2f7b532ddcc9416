package tracker

import (
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

func (l *life) code(c *snapshot.Codec) {
	c.Amount32(&l.seconds)
	c.Bool(&l.ended)
	c.Amount(&l.work)
}

func (h *history) code(c *snapshot.Codec, trials bool) {
	c.Duration(&h.lastCopy)
	for _, n := range []*int32{&h.restarts, &h.duplicates, &h.killed, &h.killedOn, &h.lost} {
		c.Index(n, anyIndex)
	}
	snapshot.Small(c, &h.saved, 0, mostPart)
	if trials {
		h.trial.code(c)
	}
}

// anyIndex is beyond every index.
const anyIndex = 1<<31 - 1

func (x *phase) codeCopy(c *snapshot.Codec, s *copyState) {
	c.Index(&s.task, len(x.book.tasks))
	c.Index(&s.next, len(x.book.copies.all))
	if s.task == none {
		return // a free place
	}
	c.Index(&s.machine, len(x.fleet.list))
	c.Index(&s.attempt, anyIndex)
	c.Index(&s.sample, anyIndex)
	c.Bool(&s.begun)
	c.Bool(&s.badUnits)
	for _, d := range []*time.Duration{&s.start, &s.readAll, &s.remaining} {
		c.Duration(d)
	}
	c.Amount(&s.score)
	snapshot.Small(c, &s.resumed, 0, mostPart)
	c.Amount32(&s.told)
	implied := float64(s.implied)
	c.Real(&implied)
	s.implied = float32(implied)
	c.Part(&s.progress)
	if x.forecast.ages.on {
		c.Part(&s.trail)
		c.Amount32(&s.atStage)
	}
	right := s.start >= 0 && s.start <= x.book.now || s.start == noTime && !s.begun
	c.Check(right && (s.readAll == noTime || s.readAll >= 0) && s.attempt != none, "holds a copy of another time")
}

func (x *phase) codeTask(c *snapshot.Codec, s *taskState) {
	c.Amount(&s.work)
	flags := int(s.flags &^ (queued | cloning))                // who waits is queued again, and who is cloned is listed
	if c.Number(&flags, 0, int(knownWork<<1-1)); c.In != nil { // to write changes nothing
		s.flags = taskFlags(flags)
		c.Check(s.flags&(queued|cloning) == 0, "holds a task that is in a list before there is one")
	}
	c.Index(&s.copies, len(x.book.copies.all))
	c.Index(&s.attempts, anyIndex)
	c.Index(&s.original, anyIndex)
	c.Index(&s.history, len(x.book.histories))
	tried := 0
	for tried < maxTried && s.tried[tried] != none {
		tried++
	}
	c.Number(&tried, 0, maxTried)
	for i := range tried {
		c.Index(&s.tried[i], len(x.fleet.list))
	}
}

func (x *trial) code(c *snapshot.Codec) {
	snapshot.Small(c, &x.kind, 0, int(byRestart))
	c.Index(&x.lost, anyIndex)
	c.Amount32(&x.implied)
	c.Duration(&x.began)
	c.Duration(&x.left)
	c.Duration(&x.stake)
}

func (r *trials) code(c *snapshot.Codec, b *book) {
	if !r.on {
		return
	}
	c.Bool(&r.own)
	c.Amount(&r.Won)
	c.Amount(&r.Lost)
	c.Duration(&r.Cost)
	c.Duration(&r.Longest)
	if c.In != nil {
		for i := range b.histories {
			r.stakes = r.stakes.plus(totalOf(b.histories[i].trial.stake))
		}
	}
}
