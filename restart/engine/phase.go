package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase runs the tasks of one phase on an engine. It decides which attempts should run, and compares them with the
// attempts that the engine shows. The zero value is a phase without tasks. A Phase is not safe for concurrent use.
type Phase struct {
	config   Config
	machines *Machines
	tracker  *tracker.Tracker
	// Records the journal; nil if Config.Journal is false.
	recorder *journal.Recorder
	// For a restored phase: the journal from before the snapshot.
	recorded []byte

	book    book
	time    timeline
	timing  timing
	noticed noticed
	// The number of slots from SetSlots or Config. It is not used if the machines have slots.
	slots int
	// The number of slots that was last reported to the tracker.
	told int
	// The number of reports that were ignored because they made no sense.
	ignored int
	// The time at which the policy was last asked about all tasks, or the constant never.
	decided time.Duration
	// No attempt has run for longer than its timeout before this time.
	overdue time.Duration

	// In shadow mode, the tasks for which Config.Shadow was called.
	shown map[int]bool
	// True if the phase was restored from a snapshot and has not been polled since.
	restored bool
	closed   bool
	// True if Release was called: the phase occupies no slots of machines any more.
	released bool
	scratch  scratch
}

// noticed contains the values of the counters of Machines at the last call. If a counter has changed since then, the
// phase acts.
type noticed struct {
	losses, departures int
	// For each machine, the time at which it will leave, as it was last reported to the tracker.
	leaves []time.Time
}

// scratch contains slices and a map whose memory is used again in each call.
type scratch struct {
	actions []Action
	events  []event
	// For each task that is not over, the ID of the attempt whose result the engine has published.
	chosen map[int]string
	// The waiting tasks in the order of Config.Order.
	order []int
	// The live attempts of a task.
	live []*attempt
	// The lists of a Turn.
	rests   []Rest
	givenUp []int
	// The machines on which the policy wanted no copy.
	refused []int
	// The machines on which a new attempt should not run.
	unwanted []int
	// The machines that are slow, as computed from earlier attempts (MachinesConfig.Knowledge).
	slow []int
}

// New returns a phase at its start. If a field of the configuration is out of range, it returns an error that states
// the field. O(n) for n tasks.
func New(c Config) (*Phase, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	p := &Phase{config: c, machines: c.Machines, timing: timing{period: c.Interval}, decided: never}
	config := c.tracker(p.observe)
	p.slots, p.told = config.Slots, config.Slots
	if c.Journal {
		p.recorder = journal.NewRecorder(config)
	}
	var err error
	if p.tracker, err = tracker.New(config); err != nil {
		return nil, err
	}
	p.book = newBook(max(c.Tasks, len(c.Work)), c.Recent > 0)
	for i, n := range c.Failures {
		p.book.task(i).failed = int32(min(max(n, 0), math.MaxInt32))
	}
	return p, nil
}

// observe passes an event of the tracker to the journal and to Config.OnEvent.
func (p *Phase) observe(e tracker.Event, a tracker.Answer) {
	if p.recorder != nil {
		p.recorder.OnEvent(e, a)
	}
	if p.config.OnEvent != nil {
		p.config.OnEvent(e, a)
	}
}

// ready creates the parts of a zero Phase, so that it is a phase without tasks. It returns the tracker.
func (p *Phase) ready() *tracker.Tracker {
	if p.tracker == nil {
		// This configuration is valid, so the error is nil.
		empty, _ := New(Config{Work: []float64{}, Interval: time.Second})
		*p = *empty
	}
	return p.tracker
}

// SetSlots changes how many attempts may run at once. It is for an engine that places attempts itself. A negative
// number is treated as 0. SetSlots changes nothing if the machines have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible sets whether a task may be copied and whether it may be restarted. At first both are allowed for every
// task. A task that may not be copied also gets no clones. After an attempt of such a task was cancelled, the task is
// submitted again only when the attempt is known to have ended, or when it has ignored the Cancel for a timeout.
func (p *Phase) SetEligible(task int, copies, restart bool) {
	spent := false
	if p.ready(); p.book.has(task) {
		t := p.book.task(task)
		t.alone, spent = !copies, t.spent
	}
	p.tracker.SetEligible(task, copies && !spent, restart)
}

// Done reports whether the phase was closed, or every task is over. A task is over if it was given up, or if its
// result is published. O(open requests).
func (p *Phase) Done() bool {
	return p.closed || p.book.over == p.book.count() && !slices.ContainsFunc(p.book.pending, func(a *attempt) bool {
		op, open := a.request(p.book.task(a.task))
		return open && op == Publish
	})
}

// Published confirms that the engine has carried out the Publish of the attempt with this ID. Until Published is
// called, or a report has Attempt.Published set, Poll returns the Publish again and [Phase.Done] is false. If the
// attempt is not the winner of its task, Published changes nothing. O(1).
func (p *Phase) Published(id string) {
	if a := p.book.attempts[id]; a != nil && p.book.task(a.task).winner == a {
		a.published = true
	}
}

// GiveUp gives up a task that waits for the end of its back-off: the next [Turn] contains it as given up. An adapter calls it
// if another phase will run the task, so that a phase need not wait for a long back-off. If the task does not wait for
// the end of its back-off, GiveUp changes nothing.
func (p *Phase) GiveUp(task int) {
	if p.closed || !p.book.has(task) || !p.book.task(task).resting {
		return
	}
	p.book.giveUp(task)
}

// Attempts returns the attempts that the phase has submitted or adopted, as they were last reported, by their tasks and
// in the order in which they were submitted. Their times are on the clock of the caller. Progress is left out. An
// attempt that is not known to have ended is Queued or Running. O(n log n) for n attempts.
func (p *Phase) Attempts() []Attempt {
	when := func(d time.Duration) time.Time {
		if d == never {
			return time.Time{}
		}
		return p.time.epoch.Add(d)
	}
	all := slices.SortedFunc(maps.Values(p.book.attempts), func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.number, b.number), cmp.Compare(a.id, b.id))
	})
	list := make([]Attempt, len(all))
	for i, a := range all {
		list[i] = Attempt{
			ID: a.id, Task: a.task, Machine: p.machines.set.Name(a.machine), Begun: when(a.since), Ended: when(a.until),
			State: a.fate, Published: a.published,
		}
		if a.fate == Queued && a.begun {
			list[i].State = Running
		}
	}
	return list
}

// Winner returns the ID of the attempt that has won the task. This is the attempt whose result is published. Result
// ok is false if the task has no winner.
func (p *Phase) Winner(task int) (id string, ok bool) {
	if !p.book.has(task) || p.book.task(task).winner == nil {
		return "", false
	}
	return p.book.task(task).winner.id, true
}

// Outstanding returns the requests that the engine does not yet show as carried out. Poll repeats them after some
// time. They are:
//
//   - a Submit of an attempt that no list has shown,
//   - a Cancel of an attempt that is not known to have ended,
//   - a Publish that is not confirmed.
//
// O(open requests).
func (p *Phase) Outstanding() (all []Action) {
	for _, a := range p.book.pending {
		if op, open := a.request(p.book.task(a.task)); open {
			all = append(all, p.action(a, op))
		}
	}
	return all
}

// Ledger returns how many attempts were started, won and wasted so far. Its field Ignored includes the reports that
// were ignored because they made no sense. If a cancelled attempt wins, it is included twice among the started
// attempts.
func (p *Phase) Ledger() tracker.Ledger {
	l := p.ready().Ledger()
	l.Ignored += p.ignored
	l.ClockSteps += p.time.clock.Steps
	return l
}

// Facts returns the facts of the phase that a policy would receive now.
func (p *Phase) Facts() restart.Phase { return p.ready().Phase() }

// UnitTimes returns the estimate of the time that one unit of work takes. Do not change it.
func (p *Phase) UnitTimes() *estimate.UnitTimes { return p.ready().UnitTimes() }

// Journal returns the events that were reported to the tracker, and the tracker's answers. The text can be read by
// [journal.Replay] and package restarttest. If Config.Journal is false, the result is nil. The text is valid until
// the next call of Poll, Push, Close or SetEligible.
func (p *Phase) Journal() []byte {
	switch {
	case p.recorder == nil:
		return nil
	case len(p.recorded) == 0:
		return p.recorder.Bytes()
	}
	return slices.Concat(p.recorded, p.recorder.Bytes())
}

// TakeJournal returns the journal since the last call of TakeJournal, and drops it from memory. All parts that it has
// returned, one after another, are the journal of the phase. A part alone can be read by [journal.Resume], together with a
// snapshot of the tracker from the moment of the call before. If Config.Journal is false, the result is nil.
func (p *Phase) TakeJournal() []byte {
	text := slices.Clone(p.Journal())
	if p.recorder != nil {
		p.recorder.Reset()
		p.recorded = nil
	}
	return text
}

// Release frees the slots that the phase occupies on shared machines. Call it when nobody polls the phase any more.
// Otherwise cancelled attempts that are not known to have ended would occupy their slots for ever. A share of a
// Budget is returned by [Phase.Close]. O(attempts).
func (p *Phase) Release() {
	for _, a := range p.book.attempts {
		if !a.ended {
			p.occupy(a.machine, -1)
		}
	}
	p.released = true
}

// occupy adds n attempts to the number of attempts on a machine; n is 1 or -1.
func (p *Phase) occupy(machine, n int) {
	if machine != nowhere && !p.released {
		p.machines.set.Load(machine, n)
	}
}
