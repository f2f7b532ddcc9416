package tracker

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Tracker keeps the books of one phase for a host that does not want to: it is told what happens to the copies, holds
// the facts that a [restart.Policy] asks for, and answers with decisions. It acts on nothing: carry a decision out and
// tell it.
//
// The order of a copy's life is Start, any number of Reports, and one of Finish, Fail, Kill, Restart. Where an engine
// queues a copy before it runs it, Submit and Begin stand in the place of Start: in between the copy holds its slot,
// but has no age, since queueing is not straggling. It may end at any point. Attempts of a task are numbered from 0 in
// the order of Start and Submit. What makes no sense (a report of an attempt that has ended, an index out of range)
// changes nothing and is counted in [Ledger.Ignored]. Time is the first argument everywhere; where it steps back, it
// goes on from there, as in golang.org/x/time/rate, and the step is counted in [Ledger.ClockSteps].
//
// A decision may be ignored: the tracker goes by what it is told has happened, and says the same again at the task's
// next report, Decide or Sweep for as long as it holds. It may be told of copies that it did not ask for, and of ends
// that it did not ask for, alike.
//
// All of it is [Tracker.Apply] of an [Event], under methods with names and types; each of them is one event.
//
// Report, Decide, Start, Submit, Begin and the ends of a copy take O(log n) in the number of tasks, amortised
// ([estimate.UnitTimes] says what the worst report costs), and do not allocate in steady state; Next may take
// O(candidates) besides: the tasks whose last decision was Duplicate, or would have been but for the slot. A task takes
// under 240 bytes with the policies of package restart, which read only some of the facts.
//
// Not safe for concurrent use; one per phase.
type Tracker struct {
	// What each report reads stands together, and what few do comes last: a host has hundreds of trackers, and they
	// do not all fit the processor's cache.
	tasks    []taskState
	copies   pool
	clock    clock.Clock
	now      time.Duration // since the first event; never falls
	told     int           // events so far
	policy   restart.Policy
	model    estimate.Linear
	rates    *estimate.UnitTimes
	limits   restart.Limits
	reported bool          // some copy has reported progress
	phase    restart.Phase // facts, kept up to date
	running  int           // copies, also those that wait in an engine's queue
	active   int           // tasks with such a copy
	first    int           // copies that are their task's first, at least one of each of those
	working  int           // tasks with a copy that has begun
	started  int           // tasks that have ever begun, for the first wave
	sampled  int           // copies that are samples of rates while they run

	tried      [maxTried]int
	others     estimate.PeerTimes // of the task that is looked at
	places     places
	candidates candidates
	waiting    queue
	lag        lag
	config     Config
	times      times // how long tasks take, by ages and by the shape of progress; if the policy reads t_rem as a distribution
	scratch    [scratchCopies]restart.Copy

	ledger     Ledger
	peers      peers
	counts     counts
	wrapUp     estimate.WrapUp
	histories  []history
	leaving    int     // machines that are known to leave
	progressed int     // copies that ended with success and had reported progress late
	smallUnits bool    // of most of them it said nothing
	cloning    []int32 // tasks that may lack some of their first copies, in the order of their starts
	numbers    []int
	lost       []int32
	found      []Answer
	behind     behind
	rest       taskState // a task as one of its copies found it
}

// New returns a tracker of a phase of which nothing has started, or an error that names the field of Config, or of the
// policy, that is out of range. O(n) in the number of tasks.
func New(c Config) (*Tracker, error) {
	given := c.Work
	if err := c.fill(); err != nil {
		return nil, err
	}
	rates, err := estimate.NewUnitTimes(c.Rates)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Config.Rates: %w", err)
	}
	t := &Tracker{
		config: c, policy: c.Policy, model: c.Model, lag: lag{prior: c.Lag}, rates: rates,
		peers: newPeers(rules.Describe(c.Policy), c.Machines),
		tasks: make([]taskState, c.Tasks), copies: pool{all: make([]copyState, 0, min(c.Tasks, c.Slots)), free: none},
		phase: restart.Phase{
			Interval: c.Interval, Tasks: c.Tasks, Slots: c.Slots, FreeSlots: c.Slots, Machines: c.Machines,
		},
	}
	t.config.Work, t.config.Rates = nil, rates.Config()
	t.limits = rules.Describe(c.Policy).Limits
	t.times = newTimes(&c)
	for i := range t.tasks {
		t.tasks[i] = taskState{
			work: c.Work[i], copies: none, candidate: none, history: none, tried: [maxTried]int32{none, none, none, none},
		}
		if given == nil || num.Known(given[i]) {
			t.tasks[i].flags |= knownWork
		}
	}
	t.waiting = newQueue(t.tasks)
	t.candidates = candidates{tasks: t.tasks}
	if c.Budget != nil {
		c.Budget.SlotsChanged(c.Slots)
	}
	return t, nil
}

// Config returns the configuration with its defaults filled in; its Work is nil.
func (t *Tracker) Config() Config { return t.config }

// Phase returns the facts of the phase as a policy sees them now.
func (t *Tracker) Phase() (p restart.Phase) {
	t.facts(&p)
	return p
}

// Ledger returns the account of what was launched, won and wasted so far.
func (t *Tracker) Ledger() Ledger { return t.ledger }

// Rates returns what the tracker has learned of the time that a unit of work takes. Read it only.
func (t *Tracker) Rates() *estimate.UnitTimes { return t.rates }

// task returns the state of a task; a number out of range is counted and gives nil.
func (t *Tracker) task(task int) *taskState {
	if task < 0 || task >= len(t.tasks) {
		t.ledger.Ignored++
		return nil
	}
	return &t.tasks[task]
}

// history returns what was done about a task so far, to add to it.
func (t *Tracker) history(s *taskState) *history {
	if s.history == none {
		s.history = int32(len(t.histories))
		t.histories = append(t.histories, history{lastCopy: noTime, killed: estimate.NoSample, killedOn: none})
	}
	return &t.histories[s.history]
}

// find returns the index of a copy that has not ended, or none, which is counted.
func (t *Tracker) find(task, attempt int) int32 {
	if s := t.task(task); s != nil {
		for i := s.copies; i != none; i = t.copies.all[i].next {
			if int(t.copies.all[i].attempt) == attempt {
				return i
			}
		}
		t.ledger.Ignored++
	}
	return none
}

// tick takes the time of an event. Where the host's clock steps back, time goes on from there. What stands in the event
// instead of no time at all is what who observes it can record.
func (t *Tracker) tick(e *Event) {
	t.now = t.clock.At(e.Time)
	t.ledger.ClockSteps = t.clock.Steps
	if e.Time.IsZero() {
		e.Time = t.clock.Last
	}
}

// count brings the phase's counts up to date after copies came or went, and tells the budget.
func (t *Tracker) count() {
	speculative := t.running - t.first
	for ; t.phase.Speculative < speculative; t.phase.Speculative++ {
		if t.config.Budget != nil {
			t.config.Budget.CopyLaunched()
		}
	}
	for ; t.phase.Speculative > speculative; t.phase.Speculative-- {
		if t.config.Budget != nil {
			t.config.Budget.CopyEnded()
		}
	}
	t.phase.FreeSlots = max(t.phase.Slots-t.running, 0)
}
