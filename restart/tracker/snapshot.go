package tracker

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// snapshotVersion is the version of the format of snapshots. Restore rejects any other version.
const snapshotVersion = 25

// AppendBinary appends a snapshot of the tracker to dst. The snapshot contains all facts that the tracker has from
// events. It does not contain the parts that the host supplies, which [Restore] gets as arguments. AppendBinary fails
// only for a Tracker that [New] did not make. O(n) for n tasks, some 60 bytes for each.
func (t *Tracker) AppendBinary(dst []byte) ([]byte, error) {
	if t.phase.judge.policy == nil {
		return dst, errors.New("restart/tracker: a Tracker that New did not make has no snapshot")
	}
	if t.phase.recent.grows() {
		return dst, errors.New("restart/tracker: a phase that grows has no snapshot")
	}
	return snapshot.Append(dst, snapshotVersion, func(c *snapshot.Codec) {
		h := header{policy: describe(t.phase.judge.policy), config: t.config}
		h.code(c)
		t.phase.code(c)
	})
}

// MarshalBinary returns a snapshot of the tracker; see [Tracker.AppendBinary].
func (t *Tracker) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// Restore returns a tracker with the state of a snapshot. It gives the same answers as if it had never stopped. The
// snapshot contains the configuration, except the parts that are no plain data. Restore takes these parts from c: a
// Policy that the host has written, UnitTimes.Prior, Record, Shape, Experience, Path, Budget and OnEvent.
//
// The Policy must be the policy of the snapshot. The host itself must save and restore Budget, Record, Shape and
// Experience. Restore changes only the Experience: it adds the stakes of the tracker's open trials. The stake of a
// trial is the slot time that the trial puts at risk. The snapshot of an Experience does not contain stakes, so that
// a phase that is never restored leaves no stakes in it.
//
// If a part other than OnEvent is nil, but was not nil when the snapshot was made, Restore returns an error that
// contains the name of the field. To do without such a part, give an empty one: a new Record, Shape or Experience, a
// Path that returns 1, or a [Budget] whose Share and Rate are Off. If data is not a snapshot of a tracker, Restore
// returns an error. O(n) for n tasks. The memory that Restore uses is at most a multiple of the length of data.
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
	if in.OK() {
		t.phase.complete(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	t.phase.link.resume(t.phase.trials.tally())
	return t, nil
}

// describe returns a text that identifies a policy.
func describe(policy restart.Policy) string { return named{&policy}.String() }

// header is the part of a snapshot that is needed to make the tracker: its policy and its configuration. The field
// present says which parts in the list dataless the tracker had.
type header struct {
	policy  string
	config  Config
	present [len(dataless)]bool
}

// dataless lists the parts of a configuration that a snapshot cannot contain, because they are no plain data, but
// that a restored tracker needs.
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

// code encodes or decodes the header.
func (hd *header) code(c *snapshot.Codec) {
	c.Text(&hd.policy)
	config := &hd.config
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
		hd.present[i] = dataless[i].given(config) // a decoding replaces this value
		c.Bool(&hd.present[i])
	}
}

// settle sets the policy of a restored tracker. It returns an error if the host has given another policy, or not all
// parts that the tracker had.
func (hd *header) settle(c *snapshot.Codec, given restart.Policy) error {
	if !c.OK() {
		return c.In.Close()
	}
	if given == nil {
		policy, err := rules.Parse(hd.policy)
		if err != nil {
			return fmt.Errorf("restart/tracker: Restore: the policy is %.40q, want it in Config.Policy", hd.policy)
		}
		given = policy
	}
	if describe(given) != hd.policy {
		return fmt.Errorf("restart/tracker: Restore: Config.Policy is %s, want %.40q", describe(given), hd.policy)
	}
	hd.config.Policy = given
	for i, part := range dataless {
		if hd.present[i] && !part.given(&hd.config) {
			return fmt.Errorf("restart/tracker: Restore: Config.%s is nil, want the part that the tracker had, or a new one",
				part.name)
		}
	}
	return nil
}

// leastTask is the least number of bytes of a task in a snapshot: 8 for its work, and 1 each for its flags, its
// newest attempt, the number of its attempts, its original attempt, its history, and the number of its machines.
const leastTask = 8 + 6

// The methods called code list the fields of each part of the tracker. The same list encodes and decodes a snapshot.
// If c.In is not nil, the method decodes.

// code writes or reads the facts that the tracker has learned from events.
func (x *phase) code(c *snapshot.Codec) {
	b := &x.book
	c.Clock(&b.clock)
	if c.In != nil {
		b.now = b.clock.Since
	}
	c.Duration(&b.lastChange)
	c.Check(b.lastChange >= 0 && b.lastChange <= b.now, "changed at a time before its first event or after its last")
	c.Number(&b.slots, 0, maxTasks)
	c.Number(&b.started, 0, len(b.tasks))
	x.codeLedger(c)
	x.fleet.code(c, num.Add(b.now, x.forecast.interval))
	x.peers.code(c)
	x.codeForecast(c)
	snapshot.List(c, &b.histories, func(h *history) { h.code(c, x.trials.on) })
	snapshot.List(c, &b.attempts.all, func(a *attemptState) { x.codeAttempt(c, a) })
	c.Index(&b.attempts.free, len(b.attempts.all))
	for i := range b.tasks {
		if !c.OK() {
			return
		}
		x.codeTask(c, &b.tasks[i])
	}
	snapshot.List(c, &b.candidates, func(task *int32) { c.Index(task, len(b.tasks)) })
	snapshot.List(c, &b.cloning, func(task *int32) { c.Index(task, len(b.tasks)) })
	c.Number(&x.judge.badAnswers, 0, snapshot.Any)
	x.judge.counts.code(c)
	x.trials.code(c, b.histories)
	x.ranking.code(c, len(b.tasks))
}

// codeLedger encodes or decodes the ledger, and the numbers of the ledger that other parts count.
func (x *phase) codeLedger(c *snapshot.Codec) {
	l := x.counts()
	for _, n := range l.counts() {
		if n.of != &l.BadAnswers && n.of != &l.ClockSteps { // the judge and the clock encode these two
			c.Number(n.of, 0, snapshot.Any)
		}
	}
	c.Duration(&l.Used)
	c.Duration(&l.Wasted)
	if c.In != nil {
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
	c.Number(&fl.count, 0, maxTasks)
	snapshot.Small(c, &fl.member, 0, math.MaxUint16)
	if c.In != nil {
		fl.index = map[int]int32{}
	}
	snapshot.List(c, &fl.machines, func(m *machine) {
		c.Number(&m.number, 0, snapshot.Any)
		c.Duration(&m.leaves)
		refused := m.refused
		c.Bool(&refused)
		snapshot.Small(c, &m.suspicion.ended, 0, maxTasks)
		c.Bool(&m.suspicion.suspect)
		c.Duration(&m.beatenUntil)
		if fl.pace != nil {
			c.Amount(&m.total)
		}
		if fl.own != nil {
			c.Duration(&m.due)
			c.Check(m.due >= 0 && m.due <= due, "holds an observation of a machine too far ahead")
		}
		if c.In == nil {
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
	if fl.own != nil {
		c.Part(fl.own)
	}
	if fl.pace != nil {
		c.Part(&fl.pace.totals.appeared)
		c.Number(&fl.pace.totals.idle, 0, maxTasks)
		c.Check(fl.pace.totals.appeared.Len() == len(fl.machines), "lacks the progress of machines")
	}
}

// code encodes or decodes the statistics of all tasks.
func (ps *peers) code(c *snapshot.Codec) {
	for _, e := range []*estimate.Empirical{ps.durations, ps.unitTimes, ps.progressRates} {
		if e != nil {
			c.Part(e)
		}
	}
	c.Real(&ps.scores)
	c.Amount(&ps.workDone)
	c.Amount(&ps.workTime)
}

// codeForecast encodes or decodes the samples of unit times and the run times from which the estimates are made. A unit
// time is the time for a unit of work.
func (x *phase) codeForecast(c *snapshot.Codec) {
	f, m := &x.forecast, &x.ages
	c.Bool(&f.reported)
	c.Bool(&x.units.disbelieved)
	c.Number(&x.units.judged, 0, snapshot.Any)
	c.Part(f.rates)
	c.Part(&f.wrapUp)
	c.Duration(&f.model.WrapUp)
	c.Amount(&x.lag.sum)
	c.Amount(&x.lag.n)
	c.Amount(&f.meanWork)
	c.Amount(&m.longest)
	if f.shape == nil {
		return
	}
	c.Part(f.shape)
	c.Part(&m.curve)
	c.Duration(&m.fittedAt)
	c.Number(&x.even.shown, 0, snapshot.Any)
	c.Number(&x.even.even, 0, x.even.shown)
	c.Number(&m.newRunTimes, 0, snapshot.Any)
	snapshot.List(c, &m.runTimes, func(t *runTime) {
		t.code(c)
		if c.Reading() && t.ended {
			m.successes++
		}
	})
	others := new([]runTime)
	if x.link != nil {
		others = &x.link.others
	}
	snapshot.List(c, others, func(t *runTime) { t.code(c) })
	c.Check(len(*others) <= mostOthers, "holds too many run times of other phases")
}

// code encodes or decodes a run time.
func (rt *runTime) code(c *snapshot.Codec) {
	c.Amount32(&rt.seconds)
	c.Bool(&rt.ended)
	c.Amount(&rt.work)
}

// code encodes or decodes the history of a task: its copies, restarts and other rare facts. Trials says that the
// history contains the trials of the task.
func (h *history) code(c *snapshot.Codec, trials bool) {
	c.Duration(&h.lastCopy)
	for _, n := range []*int32{&h.restarts, &h.copies, &h.killed.sample, &h.killed.on, &h.lost} {
		c.Index(n, anyIndex)
	}
	snapshot.Small(c, &h.saved, 0, mostPart)
	if trials {
		codeTrial(c, &h.trial)
	}
}

// anyIndex is an upper bound of every index.
const anyIndex = 1<<31 - 1

// codeAttempt encodes or decodes one entry of the pool of attempts.
func (x *phase) codeAttempt(c *snapshot.Codec, a *attemptState) {
	c.Index(&a.task, len(x.book.tasks))
	c.Index(&a.next, len(x.book.attempts.all))
	if a.task == none {
		return // the entry is free
	}
	c.Index(&a.machine, len(x.fleet.machines))
	c.Index(&a.attempt, anyIndex)
	c.Index(&a.track.sample, anyIndex)
	c.Bool(&a.begun)
	c.Bool(&a.unit.bad)
	for _, d := range []*time.Duration{&a.start, &a.track.doneAt, &a.track.remaining} {
		c.Duration(d)
	}
	c.Amount(&a.score)
	c.Amount(&a.track.done)
	snapshot.Small(c, &a.resumed, 0, mostPart)
	c.Amount32(&a.recorded.at)
	implied := float64(a.track.implied)
	c.Real(&implied)
	a.track.implied = float32(implied)
	c.Part(&a.track.progress)
	if x.forecast.shape != nil {
		c.Part(&a.track.trail)
		c.Amount32(&a.track.atStage)
	}
	right := a.start >= 0 && a.start <= x.book.now || a.start == noTime && !a.begun
	c.Check(right && (a.track.doneAt == noTime || a.track.doneAt >= 0) && a.attempt != none, "holds an attempt that began before the first event or after the last")
}

// codeTask encodes or decodes the state of a task.
func (x *phase) codeTask(c *snapshot.Codec, s *taskState) {
	c.Amount(&s.work)
	flags := int(s.flags &^ (queued | cloning)) // the method complete computes these two flags after a decoding
	c.Number(&flags, 0, int(knownWork<<1-1))
	if c.In != nil { // encoding must not change the task
		s.flags = taskFlags(flags)
		c.Check(s.flags&(queued|cloning) == 0, "holds a task with a flag of a list")
	}
	c.Index(&s.newest, len(x.book.attempts.all))
	c.Index(&s.launched, anyIndex)
	c.Index(&s.original, anyIndex)
	c.Index(&s.history, len(x.book.histories))
	n := 0 // number of machines that are remembered for the task
	for n < maxMachines && s.machines[n] != none {
		n++
	}
	c.Number(&n, 0, maxMachines)
	for i := range n {
		c.Index(&s.machines[i], len(x.fleet.machines))
	}
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
	if !tr.on {
		return
	}
	c.Bool(&tr.ownResults)
	c.Amount(&tr.Won)
	c.Amount(&tr.Lost)
	c.Duration(&tr.Cost)
	c.Duration(&tr.Longest)
	if c.In != nil {
		for i := range histories {
			tr.AtRisk = num.Add(tr.AtRisk, histories[i].trial.Stake)
		}
	}
}

// complete computes the rest of the state from the fields that were decoded. It rejects fields that contradict each
// other.
func (x *phase) complete(c *snapshot.Codec) {
	b := &x.book
	b.finished, b.waiting.heap, b.waiting.waits, b.waiting.equal = 0, b.waiting.heap[:0], 0, sameWork(b.tasks)
	for i := range b.tasks {
		x.completeTask(c, int32(i))
	}
	free := 0
	for i := b.attempts.free; i != none && free <= len(b.attempts.all); i = b.attempts.all[i].next {
		c.Check(b.attempts.all[i].task == none, "lists an attempt among the free entries")
		free++
	}
	c.Check(free+b.running == len(b.attempts.all), "lists other attempts than its tasks have")
	for i, task := range b.candidates {
		if task == none || b.tasks[task].candidate != none || !b.runs(&b.tasks[task]) {
			c.Check(false, "lists a candidate that does not run, or lists it twice")
			return
		}
		b.tasks[task].candidate = int32(i)
	}
	for _, task := range b.cloning {
		if task == none || b.tasks[task].flags&cloning != 0 {
			c.Check(false, "lists a task that lacks clones twice")
			return
		}
		b.tasks[task].flags |= cloning
	}
	x.charged = b.copies()
}

// completeTask computes the rest of a task's state from the fields that were decoded. It rejects fields that
// contradict each other.
func (x *phase) completeTask(c *snapshot.Codec, task int32) {
	b := &x.book
	s := &b.tasks[task]
	s.candidate = none
	attempts := 0
	for i := s.newest; i != none && c.OK(); i = b.attempts.all[i].next {
		a := &b.attempts.all[i]
		attempts++
		if a.track.sample != estimate.NoSample {
			x.forecast.runningSamples++
		}
		c.Check(a.task == task && a.attempt < s.launched && attempts <= int(s.launched), "lists an attempt with a task that does not have it")
	}
	isWaiting := s.flags&waits != 0
	switch {
	case !c.OK():
		return
	case s.launched < 0, attempts > 0 && (isWaiting || s.flags&(finished|givenUp) != 0), isWaiting && s.flags&finished != 0:
		c.Check(false, "holds a task that waits, runs or has finished at once")
		return
	}
	if s.flags&finished != 0 {
		b.finished++
	}
	if attempts > 0 {
		b.active++
		b.running += attempts
		b.first += b.firsts(s)
		if b.runs(s) {
			b.working++
		}
	}
	if isWaiting {
		b.enter(task)
	}
}
