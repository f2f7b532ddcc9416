package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
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
	x.fleet.code(c, num.Add(b.now, f.interval))
	x.peers.code(c)
	f.code(c)
	snapshot.List(c, &b.histories, func(h *history) { h.code(c, b.tries) })
	snapshot.List(c, &b.copies.all, func(s *copyState) { x.codeCopy(c, s) })
	c.Index(&b.copies.free, len(b.copies.all))
	for i := range b.tasks {
		if !c.OK() {
			return
		}
		x.codeTask(c, &b.tasks[i])
	}
	snapshot.List(c, &b.candidates.list, func(task *int32) { c.Index(task, len(b.tasks)) })
	snapshot.List(c, &b.cloning, func(task *int32) { c.Index(task, len(b.tasks)) })
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
	snapshot.List(c, (*[]count)(s), func(one *count) {
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
	snapshot.List(c, &r.list, func(x *ranked) {
		c.Duration(&x.gain)
		c.Index(&x.task, tasks)
		c.Check(x.task != none, "ranks no task")
	})
}

// code codes what is known of machines. Due is the latest instant at which the record may be told of all copies again.
func (f *fleet) code(c *snapshot.Codec, due time.Duration) {
	c.Number(&f.known, 0, maxTasks)
	snapshot.Small(c, &f.member, 0, math.MaxUint16)
	if c.In != nil {
		f.index = map[int]int32{}
	}
	snapshot.List(c, &f.list, func(m *machine) {
		c.Number(&m.number, 0, snapshot.Any)
		c.Duration(&m.leaves)
		refused := m.refused
		c.Bool(&refused)
		snapshot.Small(c, &m.ended, 0, maxTasks)
		c.Bool(&m.behind)
		if f.pace != nil {
			c.Amount(&m.total)
		}
		if f.own != nil {
			c.Duration(&m.due)
			c.Check(m.due >= 0 && m.due <= due, "has told of a machine at another time")
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
	c.Bool(&m.evenSoFar)
	c.Number(&m.plain, 0, snapshot.Any)
	c.Number(&m.evens, 0, m.plain)
	c.Number(&m.since, 0, snapshot.Any)
	snapshot.List(c, &m.closed, func(l *life) {
		l.code(c)
		if c.Reading() && l.ended {
			m.ended++
		}
	})
	kin := new([]life)
	if f.pupil != nil {
		kin = &f.pupil.kin
	}
	snapshot.List(c, kin, func(l *life) { l.code(c) })
	c.Check(len(*kin) <= mostKin, "knows too many lives of others")
}
