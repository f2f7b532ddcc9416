package tracker

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
)

// What a snapshot holds of each part: one list of fields writes and reads it.

// code codes what the tracker was told.
func (x *phase) code(c *snapshot.Codec) {
	b, f := &x.book, &x.forecast
	if c.Clock(&b.clock); c.In != nil {
		b.now = b.clock.Since
	}
	c.Duration(&b.moved)
	c.Check(b.moved >= 0 && b.moved <= b.now, "has moved at another time")
	c.Number(&b.slots, 0, maxTasks)
	c.Number(&b.started, 0, len(b.tasks))
	x.codeLedger(c)
	x.fleet.code(c)
	x.peers.code(c)
	f.code(c)
	snapshot.List(c, &b.histories, 6, func(h *history) { h.code(c, b.tries) })
	snapshot.List(c, &b.copies.all, 2, func(s *copyState) { x.codeCopy(c, s) })
	c.Index(&b.copies.free, len(b.copies.all))
	for i := range b.tasks {
		if !c.OK() {
			return
		}
		x.codeTask(c, &b.tasks[i])
	}
	snapshot.List(c, &b.candidates.list, 1, func(task *int32) { c.Index(task, len(b.tasks)) })
	snapshot.List(c, &b.cloning, 1, func(task *int32) { c.Index(task, len(b.tasks)) })
}

func (x *phase) codeLedger(c *snapshot.Codec) {
	l := x.account()
	for _, n := range l.counts() {
		if n.of != &l.BadAnswers && n.of != &l.ClockSteps { // the judge's, and the clock's
			c.Number(n.of, 0, snapshot.Any)
		}
	}
	c.Duration(&l.Used)
	c.Duration(&l.Wasted)
	if c.In != nil {
		x.ledger, x.book.ends = l, l.Finished
		x.forecast.doubt.bad, x.forecast.doubt.small = l.BadUnits, l.SmallUnits
	}
}

func (j *judge) code(c *snapshot.Codec) {
	c.Number(&j.bad, 0, snapshot.Any)
	j.counts.code(c)
	j.trials.code(c, j.book)
	j.ranking.code(c, len(j.book.tasks))
}

func (s *counts) code(c *snapshot.Codec) {
	last := -1
	snapshot.List(c, (*[]count)(s), 3, func(one *count) {
		snapshot.Small(c, &one.action, 0, int(restart.Start))
		snapshot.Small(c, &one.reason, 0, int(reasons)-1)
		c.Number(&one.n, 1, snapshot.Any)
		at := int(one.action)*int(reasons) + int(one.reason)
		c.Check(at > last, "counts answers in another order")
		last = at
	})
}

func (r *ranking) code(c *snapshot.Codec, tasks int) {
	if c.Bool(&r.holds); !r.holds {
		return
	}
	c.Duration(&r.at)
	c.Bool(&r.allowed)
	snapshot.Small(c, &r.refusal.reason, 0, int(reasons)-1)
	c.Real(&r.refusal.value)
	c.Real(&r.refusal.threshold)
	snapshot.List(c, &r.list, 2, func(x *ranked) {
		c.Duration(&x.gain)
		c.Index(&x.task, tasks)
		c.Check(x.task != none, "ranks no task")
	})
}

func (f *fleet) code(c *snapshot.Codec) {
	c.Number(&f.known, 0, maxTasks)
	snapshot.Small(c, &f.member, 0, math.MaxUint16)
	if c.In != nil {
		f.index = map[int]int32{}
	}
	snapshot.List(c, &f.list, 5, func(m *machine) {
		c.Number(&m.number, 0, snapshot.Any)
		c.Duration(&m.leaves)
		refused := m.refused
		c.Bool(&refused)
		snapshot.Small(c, &m.ended, 0, maxTasks)
		c.Bool(&m.behind)
		if f.pace != nil {
			c.Amount(&m.total)
		}
		if c.In == nil {
			return
		}
		c.Check(f.seen(m.number) == none, "names a machine twice")
		place := int32(len(f.index))
		f.index[m.number] = place
		if m.leaves != noTime {
			f.leaving++
		}
		f.refuse(place, refused)
	})
	if f.own != nil {
		c.Part(f.own)
	}
	if f.pace != nil {
		c.Part(&f.pace.totals.heard)
		c.Number(&f.pace.totals.idle, 0, maxTasks)
		c.Check(f.pace.totals.heard.Len() == len(f.list), "lacks the progress of machines")
	}
}

func (p *peers) code(c *snapshot.Codec) {
	for _, e := range []*estimate.Empirical{p.durations, p.unitTimes, p.progressRates} {
		if e != nil {
			c.Part(e)
		}
	}
	c.Real(&p.scores)
	c.Amount(&p.workDone)
	c.Amount(&p.workTime)
}

func (f *forecast) code(c *snapshot.Codec) {
	c.Bool(&f.reported)
	c.Bool(&f.doubt.on)
	c.Number(&f.doubt.progressed, 0, snapshot.Any)
	c.Part(f.rates)
	c.Part(&f.wrapUp)
	c.Duration(&f.model.WrapUp)
	c.Amount(&f.lag.sum)
	c.Amount(&f.lag.n)
	m := &f.ages
	c.Amount(&m.mean)
	c.Amount(&m.long)
	if !m.on {
		return
	}
	c.Part(m.shape)
	c.Part(&m.curve)
	apart := m.elsewhere != nil
	if c.Bool(&apart); apart {
		if c.Reading() {
			m.elsewhere = new(survival.Curve)
		}
		c.Part(m.elsewhere)
	}
	c.Duration(&m.fitted)
	c.Number(&m.since, 0, snapshot.Any)
	snapshot.List(c, &m.closed, 13, func(l *life) {
		l.code(c)
		if c.Reading() && l.ended {
			m.ended++
		}
	})
	kin := new([]life)
	if f.pupil != nil {
		kin = &f.pupil.kin
	}
	snapshot.List(c, kin, 13, func(l *life) { l.code(c) })
	c.Check(len(*kin) <= mostKin, "knows too many lives of others")
}

func (l *life) code(c *snapshot.Codec) {
	c.Amount32(&l.seconds)
	c.Bool(&l.ended)
	c.Amount(&l.work)
}

func (h *history) code(c *snapshot.Codec, trials bool) {
	c.Duration(&h.lastCopy)
	for _, n := range []*int32{&h.restarts, &h.duplicates, &h.killed, &h.killedOn} {
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
	c.Amount32(&x.chance)
	c.Bool(&x.likely)
	c.Duration(&x.began)
	c.Duration(&x.left)
	c.Duration(&x.risk)
	c.Duration(&x.saves)
}

func (r *trials) code(c *snapshot.Codec, b *book) {
	if !r.on {
		return
	}
	c.Bool(&r.sized)
	c.Amount(&r.same)
	c.Amount(&r.other)
	c.Number(&r.tried, 0, snapshot.Any)
	c.Number(&r.won, 0, snapshot.Any)
	c.Check(r.won <= r.tried, "has won more trials than there were")
	c.Duration(&r.cost)
	snapshot.List(c, &r.open, 1, func(h *int32) {
		c.Index(h, len(b.histories))
		c.Check(*h != none && c.OK() && b.histories[*h].trial.kind != noTrial, "lists a trial that is none")
	})
	if c.In != nil {
		listed, all := slices.Clone(r.open), 0
		slices.Sort(listed)
		for i := range b.histories {
			if x := &b.histories[i].trial; x.kind != noTrial {
				all++
				r.risk = r.risk.plus(x.counts())
			}
		}
		c.Check(len(slices.Compact(listed)) == all && len(r.open) == all, "lists its trials wrong")
	}
}
