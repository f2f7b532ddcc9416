package tracker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/pages"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// AppendBinary appends a snapshot of the tracker to dst. The snapshot contains all facts that the tracker has from
// events. It does not contain the parts that the host supplies, which [Restore] gets as arguments. AppendBinary fails
// only for a Tracker that [New] did not make. O(n) for n tasks, some 60 bytes for each.
func (t *Tracker) AppendBinary(dst []byte) ([]byte, error) {
	if t.phase.judge.policy == nil {
		return dst, errors.New("restart/tracker: a Tracker that New did not make has no snapshot")
	}
	return snapshot.Append(dst, snapshot.Version, func(c *snapshot.Codec) {
		policy := t.phase.judge.policy
		h := header{policy: describe(policy), settings: describe(rules.Effective(policy)), config: t.config}
		h.config.Tasks, h.first = len(t.phase.book.tasks), t.config.Tasks
		h.code(c)
		t.phase.code(c)
	})
}

// MarshalBinary returns a snapshot of the tracker; see [Tracker.AppendBinary].
func (t *Tracker) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// Restore returns a tracker with the state of a snapshot. It gives the same answers as if it had never stopped. The
// snapshot contains the configuration, except the parts that are no plain data. Restore takes these parts from c: a
// Policy that the host has written, UnitTimes.Prior, Knowledge, Path, Budget and OnEvent.
//
// If c.Policy is nil, the phase goes on under the policy of the snapshot. Otherwise the phase goes on under c.Policy.
// This may be the same policy with other settings, or another policy, if the snapshot has what that policy reads. If
// not, the error contains what is missing. [Tracker.PolicyBefore] says whether the policy or its settings have changed.
//
// Every later release reads the snapshots of a release. The host itself must save and restore Budget and Knowledge.
// Restore changes only the Knowledge: it adds the stakes of the tracker's open trials. The stake of a trial is the slot
// time that the trial puts at risk. The snapshot of a Knowledge does not contain stakes, so that a phase that is never
// restored leaves no stakes in it.
//
// If a part other than OnEvent is nil, but was not nil when the snapshot was made, Restore returns an error that
// contains the name of the field. To do without such a part, give an empty one: a new Knowledge, a
// Path that returns 1, or a [Budget] whose Share and Rate are Off. If data is not a snapshot of a tracker, Restore
// returns an error. O(n) for n tasks. The memory that Restore uses is at most a multiple of the length of data.
func Restore(c Config, data []byte) (*Tracker, error) {
	in := snapshot.Codec{In: snapshot.NewReader("restart/tracker: Tracker", snapshot.Version, data)}
	h := header{config: c}
	h.code(&in)
	if err := h.settle(&in, c.Policy); err != nil {
		return nil, err
	}
	if h.config.Tasks == 0 {
		h.config.Work = []float64{} // a phase without tasks
	}
	t, err := open(h.config)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Restore: %w", err)
	}
	if h.config.Recent > 0 {
		t.config.Tasks = h.first
	}
	t.phase.code(&in)
	if describe(rules.Effective(h.config.Policy)) != h.settings {
		t.policyBefore, t.phase.ranking = h.settings, ranking{}
	}
	if in.In.Close() == nil {
		t.phase.complete(&in)
	}
	switch err := in.In.Close(); {
	case err != nil && t.policyBefore != "":
		return nil, fmt.Errorf("%w; the snapshot is of a phase under %.80s, and Config.Policy may read more", err, h.settings)
	case err != nil:
		return nil, err
	}
	t.phase.link.resume(t.phase.trials.tally())
	return t, nil
}

// PolicyBefore returns the text of the policy before the phase was restored, with the value of each setting, such as
// "least-cost,price=0.5,idle-price=3". It returns "" if the phase was not restored, or goes on under the same policy
// with the same settings. The default of a setting may change from release to release, so the text may differ although
// the host has changed nothing. A policy that the host has written has the text "custom".
func (t *Tracker) PolicyBefore() string { return t.policyBefore }

// describe returns a text that identifies a policy, as [rules.Text] does; "custom" for a policy that is not of this library.
func describe(policy restart.Policy) string { return cmp.Or(rules.Text(policy), "custom") }

// header is the part of a snapshot that is needed to make the tracker.
type header struct {
	policy   string // the text of the policy
	settings string // the text of the policy with each zero field replaced by its default
	config   Config
	first    int                 // the number of tasks with which a growing phase began
	present  [len(dataless)]bool // which of the parts in the list dataless the tracker had
}

// dataless lists the parts of a configuration that a snapshot cannot contain, because they are no plain data, but
// that a restored tracker needs.
var dataless = [...]struct {
	name  string
	given func(c *Config) bool
}{
	{"UnitTimes.Prior", func(c *Config) bool { return c.UnitTimes.Prior != nil }},
	{"Knowledge", func(c *Config) bool { return c.Knowledge != nil }},
	{"Path", func(c *Config) bool { return c.Path != nil }},
	{"Budget", func(c *Config) bool { return c.Budget != nil }},
}

// code encodes or decodes the header.
func (hd *header) code(c *snapshot.Codec) {
	c.Field(1, "policy").Text(&hd.policy)
	c.Field(2, "settings").Text(&hd.settings)
	config := &hd.config
	config.Work = nil
	c.Field(3, "number of tasks").Number(&config.Tasks, 0, maxTasks)
	c.Check(c.Writes() || config.Tasks <= c.In.Len()/leastTask, "counts more tasks than it can hold")
	c.Field(4, "config").Fields(func() {
		c.Field(1, "slots").Number(&config.Slots, 0, maxTasks)
		c.Field(2, "machines").Number(&config.Machines, 0, maxTasks)
		c.Field(3, "stream").Bool(&config.Stream)
		c.Field(4, "clones").Number(&config.Clones, 1, maxClones)
		c.Field(5, "limits")
		for _, n := range [...]*int{&config.Limits.Restarts, &config.Limits.Copies, &config.Limits.FreeTrials} {
			c.Number(n, restart.Off, snapshot.Any)
		}
		c.Field(6, "loss-share").Real(&config.Limits.LossShare)
		c.Field(7, "interval").Duration(&config.Interval)
		c.Field(8, "lag").Duration(&config.Lag)
		c.Field(9, "model").All(&config.Model.Window, &config.Model.Grace, &config.Model.WrapUp)
		c.Field(10, "unit-times").Number(&config.UnitTimes.MinSamples, 1, snapshot.Any)
		c.Amount(&config.UnitTimes.Floor)
		c.All(&config.UnitTimes.FixedOverhead, &config.UnitTimes.KeepFirstWave)
		if c.Has(11, "recent", true) {
			c.Duration(&config.Recent)
			c.Check(config.Recent >= 0, "has a negative time")
		} else {
			config.Recent = 0
		}
		c.Field(12, "kind").Text(&config.Kind)
		c.Check(len(config.Kind) <= merge.MostName, "has a kind with a name that is too long")
		switch {
		case config.Recent > 0:
			c.Field(firstTasks, "first-tasks").Number(&hd.first, 0, maxTasks)
		case c.Has(firstTasks, "first-tasks", false):
			c.Check(false, "is of a growing phase, and field 4.11 (config.recent) is missing")
		}
	})
	c.Field(5, "parts")
	for i := range dataless {
		hd.present[i] = dataless[i].given(config) // a decoding replaces this value
		c.Bool(&hd.present[i])
	}
}

// firstTasks is the number of the field of a growing phase alone.
const firstTasks = 30

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
	c.Field(6, "clock").Clock(&b.clock)
	if !c.Writes() {
		b.now = b.clock.Since
	}
	c.Field(7, "last-change").Duration(&b.lastChange)
	c.Check(b.lastChange >= 0 && b.lastChange <= b.now, "changed at a time before its first event or after its last")
	c.Field(8, "slots").Number(&b.slots, 0, maxTasks)
	c.Field(9, "started").Number(&b.started, 0, x.mostTasks())
	c.Field(10, "ledger").Fields(func() { x.codeLedger(c) })
	c.Field(11, "fleet").Fields(func() { x.fleet.code(c, num.Add(b.now, x.forecast.interval)) })
	c.Field(12, "peers").Fields(func() { x.peers.code(c, x.mostTasks()) })
	c.Field(13, "forecast").Fields(func() { x.codeForecast(c) })
	c.Field(14, "histories").Fields(func() { x.codeHistories(c) })
	c.Field(15, "attempts").Fields(func() { x.codeAttempts(c) })
	c.Field(16, "tasks").Fields(func() { x.codeTasks(c) })
	index := func(task *int32) { c.Index(task, len(b.tasks)) }
	snapshot.List(c.Field(17, "candidates"), &b.candidates, index)
	snapshot.List(c.Field(18, "cloning"), &b.cloning, index)
	c.Field(19, "bad-answers").Number(&x.judge.badAnswers, 0, snapshot.Any)
	x.judge.counts.code(c.Field(20, "answers"))
	if x.trials.on {
		x.trials.code(c.Field(21, "trials"), b.histories)
	}
	x.ranking.code(c.Field(22, "ranking"), len(b.tasks))
	if c.Has(23, "sized", true) {
		c.Bool(&x.forecast.sized)
	} else { // all works are 1 if no work is known
		x.forecast.sized = slices.ContainsFunc(b.tasks, func(s taskState) bool { return s.work != 1 })
	}
	if x.recent.grows() {
		c.Field(24, "growth").Fields(func() { x.codeGrowth(c) })
	}
}

// mostTasks returns the largest number of tasks of which something may have been counted.
func (x *phase) mostTasks() int {
	if x.recent.grows() {
		return maxTasks
	}
	return len(x.book.tasks)
}

// codeGrowth encodes or decodes the tasks of a growing phase and what it is to forget.
func (x *phase) codeGrowth(c *snapshot.Codec) {
	b, r := &x.book, x.book.rows
	c.Field(1, "next").Number(&r.next, 0, maxTasks)
	indexes := slices.Clone(r.indexes)
	for row := range b.tasks {
		if b.tasks[row].flags&forgotten != 0 {
			indexes[row] = none
		}
	}
	if snapshot.List(c.Field(2, "indexes"), &indexes, func(index *int) { c.Number(index, none, r.next-1) }); !c.Writes() {
		r.indexes = indexes
	}
	free := slices.Clone(r.free)
	for row := range b.tasks { // a decoding has no forgotten task in the heap of waiting tasks
		if s := &b.tasks[row]; s.flags&(forgotten|queued) == forgotten|queued {
			free = append(free, int32(row))
		}
	}
	if snapshot.List(c.Field(3, "free"), &free, func(row *int32) { c.Index(row, len(b.tasks)) }); !c.Writes() {
		r.free = free
	}
	last := noTime
	r.ends.code(c.Field(4, "ends"), func(e *end) {
		c.Duration(&e.at)
		c.All(&e.finished, &e.void)
		c.Check(e.at >= last && e.at <= b.now && (e.finished || !e.void), "holds ends that are out of order")
		last = e.at
	})
	c.Field(5, "end of each task")
	if !c.Writes() {
		r.endOf = make([]int, len(b.tasks))
	}
	for i := range r.endOf {
		place := none
		if r.endOf[i] != none {
			place = max(r.endOf[i]-r.ends.first, none)
		}
		c.Number(&place, none, r.ends.n-1)
		if !c.Writes() {
			r.endOf[i] = place
		}
	}
	x.recent.learnt.code(c.Field(6, "learnt"), func(l *learnt) {
		c.Duration(&l.at)
		c.Index(&l.sample, anyIndex)
		c.Bool(&l.success)
		c.Index(&l.machine, len(x.fleet.machines))
		c.Amount(&l.figures.seconds)
		c.Real(&l.figures.perUnit)
		c.Amount(&l.figures.work)
	})
	if x.link.own {
		c.Field(7, "knowledge").Part(x.link.knowledge)
		x.link.kind = x.link.knowledge.kind("")
	}
	if c.Reading() {
		x.completeGrowth(c)
	}
}

// completeGrowth computes the rest of what a growing phase has, and rejects fields that contradict each other.
func (x *phase) completeGrowth(c *snapshot.Codec) {
	b, r := &x.book, x.book.rows
	c.Check(len(r.indexes) == len(b.tasks), "has other tasks than rows")
	if !c.OK() {
		return
	}
	r.ended, r.finished = 0, 0
	for i := range r.ends.n {
		if e := r.ends.at(i); !e.void {
			r.ended++
			if e.finished {
				r.finished++
			}
		}
	}
	r.of = pages.Index{}
	ends, used := map[int]bool{}, make([]bool, len(b.histories))
	for row, index := range r.indexes {
		s := &b.tasks[row]
		if s.history != none {
			c.Check(!used[s.history], "has two tasks of one history")
			used[s.history] = true
		}
		if index == none {
			c.Check(s.flags == 0 && s.newest == none && s.history == none, "has a task in a free row")
			s.flags = forgotten
			continue
		}
		r.of.Set(index, row)
		if at := r.endOf[row]; s.flags&finished != 0 && at >= 0 {
			e := r.ends.at(at)
			c.Check(e.finished && !e.void && !ends[at], "has a task that has finished without an end")
			ends[at] = true
		}
	}
	for _, row := range r.free {
		c.Check(row != none && r.indexes[row] == none, "has a task in a free row")
	}
	c.Check(r.of.Len()+len(r.free) == len(b.tasks), "has an index twice, or a free row twice")
	r.histories = nil
	for i := range used {
		if !used[i] {
			r.histories = append(r.histories, int32(i))
		}
	}
	learnt := make([]int32, len(x.fleet.machines))
	for i := range x.recent.learnt.n {
		if l := x.recent.learnt.at(i); l.success && l.machine != none {
			learnt[l.machine]++
		}
	}
	for i := range learnt {
		c.Check(learnt[i] <= x.fleet.machines[i].suspicion.ended, "has learnt from more attempts than have ended")
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
