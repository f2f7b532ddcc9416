package tracker

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

const snapshotVersion = 20

// AppendBinary appends a snapshot of the tracker to dst: all that it was told, except what the host gave it, which
// [Restore] takes again. It fails for a Tracker that [New] did not make, and for no other. O(n), some 60 bytes a task.
func (t *Tracker) AppendBinary(dst []byte) ([]byte, error) {
	if t.judge.book == nil {
		return dst, errors.New("restart/tracker: a Tracker that New did not make has no snapshot")
	}
	return snapshot.Append(dst, snapshotVersion, func(c *snapshot.Codec) {
		h := header{policy: describe(t.judge.policy), config: t.config}
		h.code(c)
		t.phase.code(c)
		t.judge.code(c)
	})
}

// MarshalBinary returns a snapshot; see [Tracker.AppendBinary].
func (t *Tracker) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// Restore returns the tracker of a snapshot: it answers as if it had never stopped. Of the configuration it takes what
// has no data: a Policy of the host's own, UnitTimes.Prior, Record, Shape, Experience, Path, Budget and OnEvent; all else
// stands in the snapshot. A Policy must be the one that was written. Budget, Record, Shape and Experience are the host's
// to save and restore; they are told nothing here, except the Experience what trials may cost that have not come out:
// its own snapshot does not hold that, so that phases which never come back leave none behind. It is an error that
// names the field if one is nil, OnEvent aside, that was not nil when the tracker was written. To go on without, say so
// by one that knows or bounds nothing: a new Record, Shape or Experience, a Path of 1, a [Budget] whose Share and Rate
// are Off. What is not a snapshot is an error. O(n); memory is bounded by a multiple of the length of data.
func Restore(c Config, data []byte) (*Tracker, error) {
	in := snapshot.Codec{In: snapshot.NewReader("restart/tracker: Tracker", snapshotVersion, data)}
	h := header{config: c}
	h.code(&in)
	if err := h.settle(&in, c.Policy); err != nil {
		return nil, err
	}
	if check.Nil(c.Budget) {
		return nil, check.Bad(place, "Budget", fmt.Sprintf("a nil %T", c.Budget), "a limiter, or nil itself for none")
	}
	if h.config.Tasks == 0 {
		h.config.Work = []float64{} // a phase without tasks
	}
	t, err := open(h.config)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Restore: %w", err)
	}
	t.phase.code(&in)
	t.judge.code(&in)
	if in.OK() {
		t.phase.complete(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	t.judge.trials.pupil.resume(&t.judge.trials)
	return t, nil
}

// describe names a policy so that another one can be told from it.
func describe(policy restart.Policy) string { return named{&policy}.String() }

// header is what a tracker is made from.
type header struct {
	policy string
	config Config
	had    [len(dataless)]bool
}

// dataless are the parts of a configuration that a snapshot can't hold, and does not do without.
var dataless = [...]struct {
	name  string
	given func(c *Config) bool
}{
	{"UnitTimes.Prior", func(c *Config) bool { return c.UnitTimes.Prior != nil }},
	{"Record", func(c *Config) bool { return c.Record != nil }},
	{"Shape", func(c *Config) bool { return c.Shape != nil }},
	{"Experience", func(c *Config) bool { return c.Experience != nil }},
	{"Path", func(c *Config) bool { return c.Path != nil }},
	{"Budget", func(c *Config) bool { return c.Budget != nil }},
}

func (h *header) code(c *snapshot.Codec) {
	c.Text(&h.policy)
	config := &h.config
	config.Work = nil
	config.Tasks = c.Size(config.Tasks, leastTask)
	c.Number(&config.Slots, 0, maxTasks)
	c.Number(&config.Machines, 0, maxTasks)
	c.Bool(&config.Stream)
	c.Number(&config.Clones, 1, maxClones)
	for _, n := range []*int{&config.Limits.Restarts, &config.Limits.Copies, &config.Limits.FreeTrials} {
		c.Number(n, restart.Off, snapshot.Any)
	}
	c.Real(&config.Limits.LossShare)
	for _, d := range []*time.Duration{
		&config.Interval, &config.Lag, &config.Model.Window, &config.Model.Grace, &config.Model.WrapUp,
	} {
		c.Duration(d)
	}
	c.Number(&config.UnitTimes.MinSamples, 1, snapshot.Any)
	c.Amount(&config.UnitTimes.Floor)
	c.Bool(&config.UnitTimes.FixedOverhead)
	c.Bool(&config.UnitTimes.KeepFirstWave)
	for i := range dataless {
		h.had[i] = dataless[i].given(config) // the host's, if it is read
		c.Bool(&h.had[i])
	}
}

// settle finds the policy of what was read.
func (h *header) settle(c *snapshot.Codec, given restart.Policy) error {
	if !c.OK() {
		return c.In.Close()
	}
	if given == nil {
		policy, err := rules.Parse(h.policy)
		if err != nil {
			return fmt.Errorf("restart/tracker: Restore: the policy is %.40q, want it in Config.Policy", h.policy)
		}
		given = policy
	}
	if describe(given) != h.policy {
		return fmt.Errorf("restart/tracker: Restore: Config.Policy is %s, want %.40q", describe(given), h.policy)
	}
	h.config.Policy = given
	for i, part := range dataless {
		if h.had[i] && !part.given(&h.config) {
			return fmt.Errorf("restart/tracker: Restore: Config.%s is nil, want the one that the tracker had, or another", part.name)
		}
	}
	return nil
}

// leastTask is how many bytes a task takes at least in a snapshot: its work, and a byte each for its flags, copies,
// attempts, original, history and the number of machines that it was tried on.
const leastTask = 8 + 6

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
	snapshot.List(c, &b.copies.all, func(s *attemptState) { x.codeCopy(c, s) })
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
	snapshot.Small(c, &r.refusal.compared.Measure, 0, math.MaxUint8)
	c.Real(&r.refusal.compared.Value)
	c.Real(&r.refusal.compared.Threshold)
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
		c.Duration(&m.beaten)
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
		codeTrial(c, &h.trial)
	}
}

// anyIndex is beyond every index.
const anyIndex = 1<<31 - 1

func (x *phase) codeCopy(c *snapshot.Codec, s *attemptState) {
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

func codeTrial(c *snapshot.Codec, x *restart.Trial) {
	snapshot.Small(c, &x.Action, 0, int(restart.Kill))
	c.Number(&x.Lost, 0, anyIndex)
	c.Number(&x.Copies, 0, anyIndex)
	c.Bool(&x.Counted)
	for _, d := range []*time.Duration{&x.Stake, &x.Left, &x.Whole, &x.Typical} {
		c.Duration(d)
	}
	c.Check((x.Action == restart.Keep) == (x.Copies == 0) && x.Stake >= 0, "holds a trial that is none")
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
			r.AtRisk = num.Add(r.AtRisk, b.histories[i].trial.Stake)
		}
	}
}

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
