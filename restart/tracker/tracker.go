package tracker

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
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
// ([estimate.UnitTimes] says what the worst report costs), and do not allocate in steady state. A task takes under 240
// bytes with the policies of package restart, which read only some of the facts.
//
// Not safe for concurrent use; one per phase.
type Tracker struct {
	config Config
	phase  phase
	judge  judge
	found  []Answer // the answer to a Sweep
}

// mostOwn is how many machines a tracker remembers by itself, where the host keeps no record.
const mostOwn = 1 << 12

// New returns a tracker of a phase of which nothing has started, or an error that names the field of Config, or of the
// policy, that is out of range. O(n) in the number of tasks.
func New(c Config) (*Tracker, error) {
	t, err := open(c)
	if err != nil {
		return nil, err
	}
	if record := t.phase.fleet.record; record != nil {
		t.phase.fleet.member = record.Join()
	}
	if c.Budget != nil {
		c.Budget.SlotsChanged(c.Slots)
	}
	return t, nil
}

// open makes a tracker, and tells nothing of it to what it shares with others.
func open(c Config) (*Tracker, error) {
	given := c.Work
	if err := c.fill(); err != nil {
		return nil, err
	}
	reads := rules.Describe(c.Policy)
	record, own := c.Record, (*machines.Record)(nil)
	if record == nil && c.Machines > 0 && reads.Has(rules.Trials|rules.Left) {
		own, _ = machines.New(machines.Config{MaxMachines: min(c.Machines, mostOwn)})
		record, c.UnitTimes.Factors = own, own
	}
	rates, err := estimate.NewUnitTimes(c.UnitTimes)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Config.UnitTimes: %w", err)
	}
	if err := reads.Limits.Validate(); err != nil {
		return nil, err
	}
	known := func(task int) bool { return given == nil || num.Known(given[task]) }
	t := &Tracker{config: c}
	t.config.Work, t.config.UnitTimes = nil, rates.Config()
	x := &t.phase
	x.book, x.peers, x.budget = newBook(c.Work, known, c.Slots, c.Clones), newPeers(reads.Facts), c.Budget
	x.fleet = fleet{known: c.Machines, record: record, own: own, path: c.Path}
	if reads.Has(rules.Machines) {
		x.fleet.pace = &pace{totals: totals{idle: c.Machines}}
	}
	x.forecast = forecast{
		book: &x.book, fleet: &x.fleet, interval: c.Interval, learns: reads.Has(rules.Fresh) || record != nil,
		expects: c.UnitTimes.Prior != nil, model: c.Model, rates: rates, lag: lag{prior: c.Lag}, ages: newAges(&c, reads),
		pupil: newPupil(&c, num.Sized(given)),
	}
	t.judge = judge{
		book: &x.book, fleet: &x.fleet, forecast: &x.forecast, peers: &x.peers, policy: c.Policy, reads: reads,
		limits: reads.Limits.Effective(), budget: c.Budget,
	}
	t.judge.trials.on = reads.Has(rules.Trials)
	x.forecast.ages.even = t.judge.trials.on
	t.judge.trials.pupil = x.forecast.pupil
	x.book.tries = t.judge.trials.on
	t.judge.facts.Interval, t.judge.facts.Tasks, t.judge.facts.Stream = c.Interval, c.Tasks, c.Stream
	return t, nil
}

// Config returns the configuration with its defaults filled in; its Work is nil.
func (t *Tracker) Config() Config { return t.config }

// Phase returns the facts of the phase as a policy sees them now.
func (t *Tracker) Phase() restart.Phase {
	if t.judge.book == nil {
		return restart.Phase{}
	}
	return *t.judge.phase()
}

// Ledger returns the account of what was launched, won and wasted so far.
func (t *Tracker) Ledger() Ledger {
	l := t.phase.account()
	l.BadAnswers = t.judge.bad
	return l
}

// UnitTimes returns what the tracker has learned of the time that a unit of work takes. Read it only.
func (t *Tracker) UnitTimes() *estimate.UnitTimes { return t.phase.forecast.rates }
