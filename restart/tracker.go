package restart

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Config describes a phase to a [Tracker]: facts first, then choices.
type Config struct {
	// Tasks is how many tasks the phase has. It may be left 0 if Work is given.
	Tasks int
	// Work is d of each task, in units of your choice: bytes, records. It is copied. A work that is not a positive finite
	// number is unknown and counts as the mean of the others. Nil: all tasks have the work 1, and progress is a share.
	Work []float64
	// Slots is how many copies of the phase's tasks may run at once.
	Slots int
	// Machines is how many machines there are; 0 if not known. Machines are numbered from 0.
	Machines int
	// Interval is Δ, the period of progress reports; the paper has a task report "once every 10s or ten times in [its]
	// lifetime, whichever is smaller" [Mantri §5].
	Interval time.Duration
	// Lag is schedLag, the usual delay between a decision to start a copy and its start.
	Lag time.Duration

	// Policy decides; nil means Mantri{}.
	Policy Policy
	// Model estimates t_rem. A Window of 0 means 10 intervals here, and a Grace of 0 means 2. Its WrapUp is learned.
	Model estimate.Linear
	// Rates says how t_new is learned. A Floor of 0 means a tenth of the mean work here.
	Rates estimate.RatesConfig
	// Factors knows how slow each machine is. Share one among the phases of a cluster. Nil: all are alike.
	Factors *estimate.Machines
	// Budget bounds the copies of all the phases that share it. Nil: no bound.
	Budget *Budget
}

// Tracker keeps the books of one phase for a host that does not want to: it is told what happens to the copies, holds
// the facts that a [Policy] asks for, and answers with decisions. It acts on nothing: carry a decision out and tell it.
//
// The order of a copy's life is Start, any number of Reports, and one of Finish, Fail, Kill, Restart. Where an engine
// queues a copy before it runs it, Submit and Begin stand in the place of Start: in between the copy holds its slot, but
// has no age, since queueing is not straggling. It may end at any point. Attempts of a task are numbered from 0 in the
// order of Start and Submit. What makes no sense (a report of an attempt that has ended, an index out of range) changes
// nothing and is counted in [Ledger.Ignored]. Time is the first argument everywhere; where it steps back, it stands still
// until it has caught up.
//
// A decision may be ignored: the tracker goes by what it is told has happened, and says the same again at the task's next
// report, Decide or Sweep for as long as it holds. It may be told of copies that it did not ask for, and of ends that it
// did not ask for, alike.
//
// Report, Decide, Start, Submit, Begin and the ends of a copy take O(log n) in the number of tasks, amortised
// ([estimate.Rates] says what the worst report costs), and do not allocate in steady state; Next takes O(candidates)
// besides: the tasks whose last decision was Duplicate, or would have been but for the slot. A task takes under 200 bytes
// with the policies of this package, which read only some of the facts.
//
// Not safe for concurrent use; one per phase.
type Tracker struct {
	config Config
	policy Policy
	needs  needs
	model  estimate.Linear
	wrapUp estimate.WrapUp
	rates  *estimate.Rates
	others estimate.Others // of the task that is looked at

	durations     estimate.Empirical // of finished tasks
	finishedRates estimate.Empirical // their time per unit of work
	progressRates estimate.Empirical // LATE's score/age, of running and finished
	machineTotals estimate.Empirical // LATE's total progress by machine
	machineTotal  []float64
	scores        float64 // sum over tasks that run or have finished, each counting its furthest copy, or 1
	workDone      float64 // by finished tasks
	workTime      float64 // their run time in seconds

	tasks      []taskState
	copies     []copyState
	freeCopy   int32
	histories  []history
	waiting    []int32 // heap by work, then index; may hold tasks that no longer wait
	candidates []int32 // tasks whose last decision was Duplicate, or would have been but for the slot

	phase    Phase // facts, kept up to date
	running  int   // copies, also those that wait in an engine's queue
	active   int   // tasks with such a copy
	working  int   // tasks with a copy that has begun
	started  int   // tasks that have ever begun, for the first wave
	reported bool  // some copy has reported progress
	begun    bool
	epoch    time.Time     // of the first event
	now      time.Duration // since epoch; never falls
	ledger   Ledger

	scratch [scratchCopies]Copy
	tried   [maxTried]int
}

const (
	none          = -1
	maxTried      = 4 // machines of earlier attempts that are remembered for a task
	scratchCopies = 8
)

// NewTracker returns a tracker of a phase of which nothing has started, or an error that names the field of Config, or
// of the policy, that is out of range. O(n) in the number of tasks.
func NewTracker(c Config) (*Tracker, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	rates, err := estimate.NewRates(c.Rates)
	if err != nil {
		return nil, fmt.Errorf("restart: Config.Rates: %w", err)
	}
	t := &Tracker{
		config: c, policy: c.Policy, needs: needsOf(c.Policy), model: c.Model, rates: rates,
		tasks: make([]taskState, c.Tasks), waiting: make([]int32, c.Tasks), freeCopy: none,
		copies: make([]copyState, 0, min(c.Tasks, c.Slots)),
	}
	t.config.Work = nil
	for i := range t.tasks {
		t.tasks[i] = taskState{
			work: c.Work[i], copies: none, candidate: none, history: none, flags: waits | queued,
			tried: [maxTried]int32{none, none, none, none},
		}
		t.waiting[i] = int32(i)
	}
	t.heapify()
	if t.needs&needMachines != 0 {
		t.machineTotal = make([]float64, c.Machines)
		for range t.machineTotal {
			t.machineTotals.Insert(0)
		}
	}
	t.phase = Phase{
		Interval: c.Interval, Tasks: c.Tasks, Waiting: c.Tasks, Slots: c.Slots, FreeSlots: c.Slots, Machines: c.Machines,
	}
	return t, nil
}

// Config returns the configuration with its defaults filled in; its Work is nil.
func (t *Tracker) Config() Config { return t.config }

// Phase returns the facts of the phase as a policy sees them now.
func (t *Tracker) Phase() Phase { return t.facts() }

// Ledger returns the account of what was launched, won and wasted so far.
func (t *Tracker) Ledger() Ledger { return t.ledger }

// Rates returns what the tracker has learned of the time that a unit of work takes. Read it only.
func (t *Tracker) Rates() *estimate.Rates { return t.rates }

// SetSlots changes how many copies of the phase's tasks may run at once. A negative number counts as 0.
func (t *Tracker) SetSlots(slots int) {
	t.phase.Slots = max(slots, 0)
	t.count()
}

// SetEligible says whether a task may be duplicated and restarted; at first every task may be both.
func (t *Tracker) SetEligible(task int, duplicate, restart bool) {
	s := t.task(task)
	if s == nil {
		return
	}
	s.flags &^= noDuplicate | noRestart
	if !duplicate {
		s.flags |= noDuplicate
	}
	if !restart {
		s.flags |= noRestart
	}
}

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
		t.histories = append(t.histories, history{lastCopy: noTime, expected: noTime})
	}
	return &t.histories[s.history]
}

// find returns the index of a copy that has not ended, or none, which is counted.
func (t *Tracker) find(task, attempt int) int32 {
	if s := t.task(task); s != nil {
		for i := s.copies; i != none; i = t.copies[i].next {
			if int(t.copies[i].attempt) == attempt {
				return i
			}
		}
		t.ledger.Ignored++
	}
	return none
}

// tick takes the time of an event. It never goes back.
func (t *Tracker) tick(now time.Time) {
	if !t.begun {
		t.begun, t.epoch = true, now
	}
	t.now = max(t.now, now.Sub(t.epoch))
}

// count brings the phase's counts up to date after copies came or went, and tells the budget.
func (t *Tracker) count() {
	speculative := t.running - t.active
	for ; t.phase.Speculative < speculative; t.phase.Speculative++ {
		t.config.Budget.CopyLaunched()
	}
	for ; t.phase.Speculative > speculative; t.phase.Speculative-- {
		t.config.Budget.CopyEnded()
	}
	t.phase.FreeSlots = max(t.phase.Slots-t.running, 0)
}
