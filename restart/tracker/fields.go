package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
)

// code encodes or decodes a ring.
func (r *ring[T]) code(c *snapshot.Codec, item func(*T)) {
	list := make([]T, r.n)
	for i := range list {
		list[i] = *r.at(i)
	}
	if snapshot.List(c, &list, item); !c.Writes() {
		*r = ring[T]{list: list, n: len(list)}
	}
}

// codeLedger encodes or decodes the ledger, and the numbers of the ledger that other parts count. The number of a
// counter's field is its position in the list of counters.
func (x *phase) codeLedger(c *snapshot.Codec) {
	l := x.counts()
	for i, n := range l.counts() {
		if n.of != &l.BadAnswers && n.of != &l.ClockSteps { // the judge and the clock encode these two
			c.Field(i+1, n.key).Number(n.of, 0, snapshot.Any)
		}
	}
	c.Field(100, "slot time").All(&l.Used, &l.Wasted)
	c.Check(l.Wasted >= 0 && l.Wasted <= l.Used, "wasted more slot time than it used")
	c.Check(l.Lost <= l.Copies-l.Won && l.Won <= l.Finished, "counts more ends of copies than copies, or than ends")
	if !c.Writes() {
		x.ledger, x.book.successes = l, l.Finished
		x.units.tooLarge, x.units.tooSmall = l.BadUnits, l.SmallUnits
	}
}

// code encodes or decodes how often each answer was given.
func (cs *counts) code(c *snapshot.Codec) {
	last := -1
	snapshot.List(c, (*[]count)(cs), func(one *count) {
		snapshot.Small(c, &one.action, 0, int(restart.Start))
		snapshot.Small(c, &one.reason, 0, int(reasons)-1)
		c.Number(&one.n, 1, snapshot.Any)
		at := int(one.action)*int(reasons) + int(one.reason)
		c.Check(at > last, "counts answers out of order")
		last = at
	})
}

// code encodes or decodes the sorted list of the tasks that are worth a copy; tasks is the number of tasks in the
// phase.
func (rk *ranking) code(c *snapshot.Codec, tasks int) {
	c.Bool(&rk.holds)
	if !rk.holds {
		return
	}
	c.Duration(&rk.at)
	c.Bool(&rk.allowed)
	snapshot.Small(c, &rk.refusal.reason, 0, int(reasons)-1)
	snapshot.Small(c, &rk.refusal.compared.Measure, 0, math.MaxUint8)
	c.Real(&rk.refusal.compared.Value)
	c.Real(&rk.refusal.compared.Threshold)
	snapshot.List(c, &rk.list, func(x *ranked) {
		c.Duration(&x.gain)
		c.Index(&x.task, tasks)
		c.Check(x.task != none, "ranks no task")
	})
}

// code encodes or decodes the facts of the phase's machines. Due is the largest valid value of machine.due.
func (fl *fleet) code(c *snapshot.Codec, due time.Duration) {
	c.Field(1, "count").Number(&fl.count, 0, maxTasks)
	snapshot.Small(c.Field(2, "member"), &fl.member, 0, math.MaxUint16)
	if !c.Writes() {
		fl.index = map[int]int32{}
	}
	snapshot.List(c.Field(3, "machines"), &fl.machines, func(m *machine) {
		c.Number(&m.number, 0, snapshot.Any)
		c.Duration(&m.leaves)
		refused := m.refused
		c.Bool(&refused)
		snapshot.Small(c, &m.suspicion.ended, 0, maxTasks)
		c.Bool(&m.suspicion.suspect)
		c.Duration(&m.beatenUntil)
		if c.Writes() {
			return
		}
		c.Check(fl.find(m.number) == none, "names a machine twice")
		index := int32(len(fl.index))
		fl.index[m.number] = index
		if m.leaves != noTime {
			fl.leaving++
		}
		fl.refuse(index, refused)
	})
	if fl.own {
		snapshot.Each(c.Field(4, "due"), fl.machines, func(m *machine) {
			c.Duration(&m.due)
			c.Check(m.due >= 0 && m.due <= due, "holds an observation of a machine too far ahead")
		})
		c.Field(5, "record").Part(fl.record)
	}
	if fl.pace != nil {
		snapshot.Each(c.Field(6, "progress"), fl.machines, func(m *machine) { c.Amount(&m.total) })
		c.Field(7, "totals").Part(&fl.pace.totals.appeared)
		c.Field(8, "idle").Number(&fl.pace.totals.idle, 0, maxTasks)
		c.Check(fl.pace.totals.appeared.Len() == len(fl.machines), "lacks the progress of machines")
	}
}

// scoreNoise bounds the rounding error of the sum of the scores, which are added and subtracted.
const scoreNoise = 1e-6

// code encodes or decodes the statistics of all tasks; tasks is the number of tasks in the phase.
func (ps *peers) code(c *snapshot.Codec, tasks int) {
	if ps.durations != nil {
		c.Field(1, "durations").Part(ps.durations)
	}
	if ps.unitTimes != nil {
		c.Field(2, "unit-times").Part(ps.unitTimes)
	}
	if ps.progressRates != nil {
		c.Field(3, "progress-rates").Part(ps.progressRates)
	}
	c.Field(4, "scores").Real(&ps.scores)
	c.Check(ps.scores >= -scoreNoise && ps.scores <= float64(tasks)+scoreNoise, "holds scores that are out of range")
	c.Field(5, "work-done").Amount(&ps.workDone)
	c.Field(6, "work-time").Amount(&ps.workTime)
}

// codeForecast encodes or decodes the samples of unit times and the run times from which the estimates are made. A unit
// time is the time for a unit of work.
func (x *phase) codeForecast(c *snapshot.Codec) {
	f, m := &x.forecast, &x.ages
	c.Field(1, "reported").Bool(&f.reported)
	c.Field(2, "disbelieved").Bool(&x.units.disbelieved)
	c.Field(3, "judged").Number(&x.units.judged, 0, snapshot.Any)
	c.Field(4, "rates").Part(f.rates)
	c.Field(5, "wrap-ups").Part(&f.wrapUp)
	c.Field(6, "wrap-up").Duration(&f.model.WrapUp)
	c.Field(7, "lag").Amount(&x.lag.sum)
	c.Amount(&x.lag.n)
	c.Field(8, "mean-work").Amount(&f.meanWork)
	c.Field(9, "longest").Amount(&m.longest)
	if f.shape == nil {
		return
	}
	c.Field(10, "shape").Part(f.shape)
	c.Field(11, "curve").Part(&m.curve)
	c.Field(12, "fitted-at").Duration(&m.fittedAt)
	c.Field(13, "even").Number(&x.even.shown, 0, snapshot.Any)
	c.Number(&x.even.even, 0, x.even.shown)
	c.Field(14, "new-run-times").Number(&m.newRunTimes, 0, snapshot.Any)
	snapshot.List(c.Field(15, "run-times"), &m.runTimes, func(t *runTime) {
		t.code(c)
		if c.Reading() && t.ended {
			m.successes++
		}
	})
	others := new([]runTime)
	if x.link != nil {
		others = &x.link.others
	}
	snapshot.List(c.Field(16, "run-times-of-others"), others, func(t *runTime) { t.code(c) })
	c.Check(x.link == nil || len(*others) <= x.link.most, "holds too many run times of other phases")
}

// code encodes or decodes a run time.
func (rt *runTime) code(c *snapshot.Codec) {
	c.Amount32(&rt.seconds)
	c.Bool(&rt.ended)
	c.Amount(&rt.work)
}

// codeHistories encodes or decodes the histories of tasks: their copies, restarts, trials and other rare facts.
func (x *phase) codeHistories(c *snapshot.Codec) {
	list := &x.book.histories
	snapshot.List(c.Field(1, "copies"), list, func(h *history) {
		c.Duration(&h.lastCopy)
		for _, n := range [...]*int32{&h.restarts, &h.copies, &h.lost} {
			c.Index(n, anyIndex)
		}
	})
	snapshot.Each(c.Field(2, "killed"), *list, func(h *history) {
		c.Index(&h.killed.sample, anyIndex)
		c.Index(&h.killed.on, anyIndex)
	})
	snapshot.Each(c.Field(3, "saved"), *list, func(h *history) { snapshot.Small(c, &h.saved, 0, mostPart) })
	if x.trials.on {
		snapshot.Each(c.Field(4, "trial"), *list, func(h *history) { codeTrial(c, &h.trial) })
	}
}

// anyIndex is an upper bound of every index.
const anyIndex = 1<<31 - 1

// codeAttempts encodes or decodes the pool of attempts. Only the first field has the entries that are free.
func (x *phase) codeAttempts(c *snapshot.Codec) {
	b := &x.book
	snapshot.List(c.Field(1, "task"), &b.attempts.all, func(a *attemptState) {
		c.Index(&a.task, len(b.tasks))
		c.Index(&a.next, len(b.attempts.all))
	})
	each := func(number int, name string, code func(a *attemptState)) {
		snapshot.Each(c.Field(number, name), b.attempts.all, func(a *attemptState) {
			if a.task != none {
				code(a)
			}
		})
	}
	each(2, "run", func(a *attemptState) {
		c.Index(&a.machine, len(x.fleet.machines))
		c.Index(&a.attempt, anyIndex)
		c.Bool(&a.begun)
		c.Duration(&a.start)
		snapshot.Small(c, &a.resumed, 0, mostPart)
		right := a.start >= 0 && a.start <= b.now || a.start == noTime && !a.begun
		c.Check(right && a.attempt != none, "holds an attempt that began before the first event or after the last")
	})
	each(3, "reports", func(a *attemptState) {
		c.Bool(&a.unit.bad)
		c.Amount(&a.score)
		c.Amount(&a.track.done)
		c.Duration(&a.track.doneAt)
		c.Duration(&a.track.remaining)
		c.Check(a.track.doneAt == noTime || a.track.doneAt >= 0, "holds a report from before the first event")
	})
	each(4, "estimates", func(a *attemptState) {
		c.Index(&a.track.sample, anyIndex)
		c.Amount32(&a.recorded.at)
		c.Real32(&a.track.implied)
		c.Item(&a.track.progress)
	})
	if x.forecast.shape != nil {
		each(5, "trail", func(a *attemptState) {
			c.Item(&a.track.trail)
			c.Amount32(&a.track.atStage)
		})
	}
	c.Field(6, "free").Index(&b.attempts.free, len(b.attempts.all))
}

// codeTasks encodes or decodes the state of each task.
func (x *phase) codeTasks(c *snapshot.Codec) {
	b := &x.book
	snapshot.Each(c.Field(1, "work"), b.tasks, func(s *taskState) { c.Amount(&s.work) })
	snapshot.Each(c.Field(2, "flags"), b.tasks, func(s *taskState) {
		flags := int(s.flags &^ (queued | cloning | forgotten)) // these three flags are computed after a decoding
		c.Number(&flags, 0, int(knownWork<<1-1))
		if !c.Writes() { // encoding must not change the task
			s.flags = taskFlags(flags)
			c.Check(s.flags&(queued|cloning) == 0, "holds a task with a flag of a list")
		}
	})
	snapshot.Each(c.Field(3, "attempts"), b.tasks, func(s *taskState) {
		c.Index(&s.newest, len(b.attempts.all))
		c.Index(&s.launched, anyIndex)
		c.Index(&s.original, anyIndex)
	})
	snapshot.Each(c.Field(4, "history"), b.tasks, func(s *taskState) { c.Index(&s.history, len(b.histories)) })
	snapshot.Each(c.Field(5, "machines"), b.tasks, func(s *taskState) {
		n := 0 // number of machines that are remembered for the task
		for n < maxMachines && s.machines[n] != none {
			n++
		}
		c.Number(&n, 0, maxMachines)
		for i := range n {
			c.Index(&s.machines[i], len(x.fleet.machines))
		}
	})
}

// codeTrial encodes or decodes the trial of a task.
func codeTrial(c *snapshot.Codec, x *restart.Trial) {
	snapshot.Small(c, &x.State, 0, int(restart.CopyOvertaken))
	c.Number(&x.Copies, 0, anyIndex)
	c.Bool(&x.Counted)
	c.Bool(&x.SlowMachine)
	for _, d := range []*time.Duration{&x.Stake, &x.Left, &x.Whole} {
		c.Duration(d)
	}
	c.Check((x.State == restart.NoTrial) == (x.Copies == 0) && x.Stake >= 0 && (x.Copies > 0 || x.Stake == 0), "holds an open trial without an attempt, or an attempt without a trial")
}

// code encodes or decodes the account of the trials. It does not encode AtRisk, the slot time that open trials put at
// risk. It computes AtRisk from the trials of the tasks.
func (tr *trials) code(c *snapshot.Codec, histories []history) {
	c.Bool(&tr.ownResults)
	c.Amount(&tr.Won)
	c.Amount(&tr.Lost)
	c.Duration(&tr.Cost)
	c.Duration(&tr.Longest)
	if !c.Writes() {
		for i := range histories {
			tr.AtRisk = num.Add(tr.AtRisk, histories[i].trial.Stake)
		}
	}
}
