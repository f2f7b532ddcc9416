package tracker

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

const snapshotVersion = 3

// AppendBinary appends a snapshot of the tracker to dst: all that it was told, except what the host gave it, which
// [Restore] takes again. It fails for a Tracker that [New] did not make, and for no other. O(n), some 60 bytes a task.
func (t *Tracker) AppendBinary(dst []byte) ([]byte, error) {
	if t.rates == nil {
		return dst, errors.New("restart/tracker: a Tracker that New did not make has no snapshot")
	}
	c := snapshot.Codec{Dst: append(dst, snapshotVersion)}
	h := header{policy: describe(t.policy), config: t.config}
	h.code(&c)
	t.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot; see [Tracker.AppendBinary].
func (t *Tracker) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// Restore returns the tracker of a snapshot: it answers as if it had never stopped. Of the configuration it takes what
// has no data: a Policy of the host's own, Rates.Prior, Record, Shape, Path, Budget and Observe; all else stands in the
// snapshot. A Policy must be the one that was written. Budget, Record and Shape are the host's to save and restore;
// they are told nothing here. It is an error that names the field if one is nil, Observe aside, that was not nil when
// the tracker was written. To go on without, say so by one that knows or bounds nothing: a new Record or Shape, a Path
// of 1, a [Budget] whose Share and Rate are Off. What is not a snapshot is an error. O(n); memory is bounded by a
// multiple of the length of data.
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
	h.config.Budget = nil // it knows of the phase
	t, err := New(h.config)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Restore: %w", err)
	}
	t.config.Budget = c.Budget
	t.code(&in)
	if in.OK() {
		t.complete(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	return t, nil
}

// describe names a policy so that another one can be told from it.
func describe(policy restart.Policy) string {
	return cmp.Or(rules.Text(policy), "custom")
}

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
	{"Rates.Prior", func(c *Config) bool { return c.Rates.Prior != nil }},
	{"Record", func(c *Config) bool { return c.Record != nil }},
	{"Shape", func(c *Config) bool { return c.Shape != nil }},
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
	c.Number(&config.Clones, 1, maxClones)
	for _, d := range []*time.Duration{
		&config.Interval, &config.Lag, &config.Model.Window, &config.Model.Grace, &config.Model.WrapUp,
	} {
		c.Duration(d)
	}
	phase := int(config.Phase)
	c.Number(&phase, 0, snapshot.Any)
	config.Phase = uint64(phase)
	c.Number(&config.Rates.MinSamples, 1, snapshot.Any)
	c.Amount(&config.Rates.Floor)
	c.Bool(&config.Rates.FixedOverhead)
	c.Bool(&config.Rates.KeepFirstWave)
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

// leastTask is the least that a task takes in a snapshot: its work, and a byte for each of the rest.
const leastTask = 8 + 8

// code codes what the tracker was told.
func (t *Tracker) code(c *snapshot.Codec) {
	if c.In == nil {
		c.Dst = snapshot.AppendClock(c.Dst, t.clock)
	} else {
		t.clock = c.In.Clock()
		t.now = t.clock.Since
	}
	c.Number(&t.phase.Slots, 0, maxTasks)
	c.Number(&t.phase.Machines, 0, maxTasks)
	c.Number(&t.started, 0, len(t.tasks))
	c.Bool(&t.reported)
	c.Bool(&t.smallUnits)
	c.Number(&t.progressed, 0, snapshot.Any)
	snapshot.List(c, &t.cloning, 1, func(task *int32) { c.Index(task, len(t.tasks)) })
	c.Part(t.rates)
	c.Part(&t.wrapUp)
	c.Duration(&t.model.WrapUp)
	c.Amount(&t.lag.sum)
	c.Amount(&t.lag.n)
	t.ledger.code(c)
	t.counts.code(c)
	t.places.code(c)
	t.peers.code(c)
	t.times.code(c)
	snapshot.List(c, &t.histories, 6, func(h *history) { h.code(c) })
	snapshot.List(c, &t.copies.all, 2, func(s *copyState) { t.codeCopy(c, s) })
	c.Index(&t.copies.free, len(t.copies.all))
	for i := range t.tasks {
		if !c.OK() {
			return
		}
		t.codeTask(c, &t.tasks[i])
	}
	snapshot.List(c, &t.candidates.list, 1, func(task *int32) { c.Index(task, len(t.tasks)) })
}

func (l *Ledger) code(c *snapshot.Codec) {
	for _, n := range []*int{
		&l.Started, &l.Finished, &l.Copies, &l.Restarts, &l.Clones, &l.Won, &l.Lost, &l.Pruned, &l.Failed, &l.Late, &l.Ignored,
		&l.BadUnits, &l.BadAnswers, &l.SmallUnits, &l.ClockSteps,
	} {
		c.Number(n, 0, snapshot.Any)
	}
	c.Duration(&l.Used)
	c.Duration(&l.Wasted)
}

func (s *counts) code(c *snapshot.Codec) {
	for action := range s {
		for reason := range s[action] {
			c.Number(&s[action][reason], 0, snapshot.Any)
		}
	}
}

func (p *places) code(c *snapshot.Codec) {
	snapshot.List(c, &p.numbers, 1, func(number *int) { c.Number(number, 0, snapshot.Any) })
	if c.In != nil {
		p.index = make(map[int]int32, len(p.numbers))
		for i, number := range p.numbers {
			p.index[number] = int32(i)
		}
		c.Check(len(p.index) == len(p.numbers), "names a machine twice")
		p.leaves, p.refused = make([]time.Duration, len(p.numbers)), make([]bool, len(p.numbers))
	}
	for i := range p.numbers {
		c.Duration(&p.leaves[i])
		refused := p.refused[i]
		if c.Bool(&refused); c.In != nil {
			p.refuse(int32(i), refused)
		}
	}
}

func (p *peers) code(c *snapshot.Codec) {
	for _, e := range []*estimate.Empirical{&p.durations, &p.finishedRates, &p.progressRates, &p.machineTotals.heard} {
		c.Part(e)
	}
	c.Number(&p.machineTotals.idle, 0, maxTasks)
	snapshot.List(c, &p.machineTotal, 8, c.Amount)
	c.Real(&p.scores)
	c.Amount(&p.workDone)
	c.Amount(&p.workTime)
}

func (h *history) code(c *snapshot.Codec) {
	c.Duration(&h.lastCopy)
	c.Index(&h.restarts, anyIndex)
	c.Index(&h.duplicates, anyIndex)
	c.Index(&h.killed, anyIndex)
	c.Index(&h.killedOn, anyIndex)
	h.saved.code(c)
}

func (p *part) code(c *snapshot.Codec) {
	n := int(*p)
	c.Number(&n, 0, mostPart)
	*p = part(n)
}

// anyIndex is beyond every index.
const anyIndex = 1<<31 - 1

func (t *Tracker) codeCopy(c *snapshot.Codec, s *copyState) {
	c.Index(&s.task, len(t.tasks))
	c.Index(&s.next, len(t.copies.all))
	if s.task == none {
		return // a free place
	}
	c.Index(&s.machine, len(t.places.numbers))
	c.Index(&s.attempt, anyIndex)
	c.Index(&s.sample, anyIndex)
	c.Bool(&s.begun)
	c.Bool(&s.badUnits)
	for _, d := range []*time.Duration{&s.start, &s.readAll, &s.remaining} {
		c.Duration(d)
	}
	c.Amount(&s.score)
	s.resumed.code(c)
	codeFloat(c, &s.told)
	implied := float64(s.implied)
	c.Real(&implied)
	s.implied = float32(implied)
	c.Part(&s.progress)
	if t.times.on {
		c.Part(&s.trail)
		codeFloat(c, &s.atStage)
	}
	right := s.start >= 0 && s.start <= t.now || s.start == noTime && !s.begun
	c.Check(right && (s.readAll == noTime || s.readAll >= 0) && s.attempt != none, "holds a copy of another time")
}

func (t *Tracker) codeTask(c *snapshot.Codec, s *taskState) {
	c.Amount(&s.work)
	flags := int(s.flags &^ (queued | cloning))                // who waits is queued anew, and who is cloned is listed
	if c.Number(&flags, 0, int(knownWork<<1-1)); c.In != nil { // to write changes nothing
		s.flags = taskFlags(flags)
	}
	c.Index(&s.copies, len(t.copies.all))
	c.Index(&s.attempts, anyIndex)
	c.Index(&s.original, anyIndex)
	c.Index(&s.history, len(t.histories))
	tried := 0
	for tried < maxTried && s.tried[tried] != none {
		tried++
	}
	c.Number(&tried, 0, maxTried)
	for i := range tried {
		c.Index(&s.tried[i], len(t.places.numbers))
	}
}

// complete works out what follows from what was read, and refuses what does not fit together.
func (t *Tracker) complete(c *snapshot.Codec) {
	t.ledger.ClockSteps = t.clock.Steps
	for _, leaves := range t.places.leaves {
		if leaves != noTime {
			t.leaving++
		}
	}
	t.phase.Finished, t.waiting.heap, t.waiting.waits = 0, t.waiting.heap[:0], 0
	for i := range t.tasks {
		t.completeTask(c, int32(i))
	}
	places := 0
	for i := t.copies.free; i != none && places <= len(t.copies.all); i = t.copies.all[i].next {
		c.Check(t.copies.all[i].task == none, "lists a copy among the free places")
		places++
	}
	c.Check(places+t.running == len(t.copies.all), "lists its copies wrong")
	for i, task := range t.candidates.list {
		if task == none || t.tasks[task].candidate != none || !t.runs(&t.tasks[task]) {
			c.Check(false, "lists a candidate that is none")
			return
		}
		t.tasks[task].candidate = int32(i)
	}
	for _, task := range t.cloning {
		if task == none || t.tasks[task].flags&cloning != 0 {
			c.Check(false, "lists a task wrong that is cloned")
			return
		}
		t.tasks[task].flags |= cloning
	}
	if n := len(t.peers.machineTotal); t.peers.reads.Has(rules.Machines) {
		c.Check(n == len(t.places.numbers) && t.peers.machineTotals.heard.Len() == n, "lacks the progress of machines")
	}
	t.phase.Speculative = max(t.running-t.first, 0)
	t.phase.FreeSlots = max(t.phase.Slots-t.running, 0)
}

func (t *Tracker) completeTask(c *snapshot.Codec, task int32) {
	s := &t.tasks[task]
	s.candidate = none
	s.flags &^= queued | cloning
	copies := 0
	for i := s.copies; i != none && c.OK(); i = t.copies.all[i].next {
		one := &t.copies.all[i]
		copies++
		if one.sample != estimate.NoSample {
			t.sampled++
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
		t.phase.Finished++
	}
	if copies > 0 {
		t.active++
		t.running += copies
		t.first += t.firsts(s)
		if t.runs(s) {
			t.working++
		}
	}
	if isWaiting {
		t.waiting.enter(task)
	}
}

// codeFloat codes a number that is finite and not negative.
func codeFloat(c *snapshot.Codec, v *float32) {
	wide := float64(*v)
	c.Amount(&wide)
	*v = float32(wide)
}

func (m *times) code(c *snapshot.Codec) {
	c.Amount(&m.mean)
	c.Amount(&m.longest)
	if !m.on {
		return
	}
	c.Part(m.shape)
	c.Part(&m.curve)
	c.Duration(&m.fitted)
	c.Number(&m.since, 0, snapshot.Any)
	snapshot.List(c, &m.closed, 17, func(l *life) {
		codeFloat(c, &l.seconds)
		c.Bool(&l.ended)
		c.Amount(&l.work)
	})
}
