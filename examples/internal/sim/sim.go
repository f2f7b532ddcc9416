package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/des"
	"github.com/straggler-go/straggler/examples/internal/published"
)

// Options describe a replay.
type Options struct {
	Policy restart.Policy
	// LargestFirst starts the waiting task with the largest input first, as Mantri does [Mantri §5.4], instead of in
	// the recorded order.
	LargestFirst bool
	// Clones is the number of first attempts of each task that start together; 0 is used as 1.
	Clones int
	// CopyShare is the largest share of the phase's slots that copies may use at once; 0: no bound.
	CopyShare float64
	// Progress is the model of the progress that attempts report.
	Progress Progress
	// Knowledge is what is known about the phases of the Kind; nil if nothing is known. The replay adds to it.
	Knowledge *tracker.Knowledge
	Kind      string
	// Seed is the seed for the times of copies that never ran. The n-th such copy of a task takes the same time under
	// every policy, if it starts in the same wave and on the same machine. The machine does not matter if Phase.Draw
	// ignores it.
	Seed uint64
	// Watch is called for every decision about the task WatchTask, and for every event of its attempts; nil: no
	// calls.
	Watch     func(at time.Duration, attempt int, what string)
	WatchTask int
	// Spans is called for every attempt that has ended, in the order of the ends; nil: no calls.
	Spans func(Span)
	// Witness sees the answers of the tracker together with the truth; nil: no calls.
	Witness Witness
}

// Result is the result of a replay.
type Result struct {
	// Time is the time of the phase, from its first start to its last end. For a phase of independent runs it is the
	// sum of the tasks' times.
	Time time.Duration
	// Used is the slot time of all attempts, and Wasted the slot time of attempts that did not end their task.
	Used, Wasted time.Duration
	// Tasks is the number of tasks, Copies the number of copies, and Restarts the number of attempts that were killed
	// to start their task anew.
	Tasks, Copies, Restarts int
	// Won is the number of copies and restarts that ended their task before the task's own attempt would have.
	Won int
	// Tail is the part of Time after all but a tenth of the tasks had ended.
	Tail time.Duration
	// Events is the number of simulated events: starts, ends, reports, and slots that opened.
	Events int
	// Known is a snapshot of Options.Knowledge as it was when the phase began; nil if it was not recorded.
	Known []byte
}

var epoch = time.Unix(0, 0)

// run is a running replay.
type run struct {
	phase   *Phase
	options Options
	tracker *tracker.Tracker
	queue   des.Queue
	now     time.Duration
	result  Result

	attempts []simAttempt
	free     []int32 // free places in attempts
	tasks    []simTask
	idle     []int32 // open slots without an attempt, ascending
	uses     []int32 // number of attempts that each slot has run
	taken    []int32 // number of recorded attempts among them
	open     int     // slots that are open and not resting
	order    int     // entries of phase.Order before this index have been started
	ordinal  []int32 // for each entry of phase.Order, the number of the attempt among the attempts of its task
	again    []int32 // tasks to start anew after a decision, oldest first
	curves   draw
	silent   bool // reports are left out, because the policy does not use them and nobody sees them
	source   *rand.PCG
	rand     *rand.Rand    // uses source, which gets a new seed for each draw
	pending  int           // number of tasks that have not ended
	apart    time.Duration // sum of the times at which tasks ended
}

// progressSeed makes the draws of progress independent of the draws of times, so that a model of progress changes
// nothing else.
const progressSeed = 1 << 40

// noSlot is the slot of a clone, which runs on a slot of its own beside the slots of the phase.
const noSlot = -1

// simTask is the state of a task.
type simTask struct {
	next     int32         // number of recorded attempts that have been started
	drawn    int32         // number of copies for which a time was drawn
	running  int32         // number of running attempts
	begun    int32         // number of attempts that were ever started
	ready    bool          // the task is in the queue and does not run
	left     bool          // a policy has killed an attempt, so further recorded attempts are not used
	done     bool          // the task has ended with success
	original time.Duration // when the recorded attempts would have ended the task
}

// simAttempt is an attempt that runs, or a free place for one.
type simAttempt struct {
	start, end time.Duration
	task, slot int32  // slot is noSlot for a clone
	attempt    int32  // number of the attempt in the tracker; negative if the place is free
	life       uint32 // number of attempts that have been in this place
	succeeds   bool
	curve      Curve
	extra      bool // a copy, a clone, or the attempt after a restart
}

// Run replays a phase. It returns an error if the policy is not valid, or if a task of the phase is never started.
func Run(phase *Phase, options Options) (Result, error) {
	work := make([]float64, len(phase.Tasks))
	for i := range work {
		work[i] = phase.Tasks[i].Work
	}
	budget, err := options.budget(len(phase.Slots))
	if err != nil {
		return Result{}, err
	}
	t, err := tracker.New(tracker.Config{
		Work: work, Slots: 0, Machines: phase.Machines, Interval: phase.Interval,
		Policy: options.Policy, Limits: published.Limits(options.Policy), Budget: budget,
		Knowledge: options.Knowledge, Kind: options.Kind,
	})
	if err != nil {
		return Result{}, fmt.Errorf("%s %s: %w", phase.Job, phase.Name, err)
	}
	source := rand.NewPCG(0, 0)
	r := &run{
		phase: phase, options: options, tracker: t, tasks: make([]simTask, len(phase.Tasks)),
		uses: make([]int32, len(phase.Slots)), taken: make([]int32, len(phase.Slots)), ordinal: make([]int32, len(phase.Order)),
		source: source, rand: rand.New(source), pending: len(phase.Tasks),
	}
	r.silent = options.Policy == restart.Policy(restart.Never{}) && options.Watch == nil && options.Witness == nil
	if options.Witness != nil {
		options.Witness.Begins(phase)
	}
	if options.Progress.begin == nil {
		r.options.Progress = Linear
	}
	r.source.Seed(mix(options.Seed, 0), mix(0, progressSeed))
	r.curves = r.options.Progress.begin(r.rand, phase)
	for i, task := range phase.Order {
		r.ordinal[i] = r.tasks[task].drawn // drawn counts attempts here, and is reset below
		r.tasks[task].drawn++
	}
	for i := range r.tasks {
		r.tasks[i] = simTask{ready: true}
	}
	for i, s := range phase.Slots {
		r.queue.PushByID(s.Opens, opens, int32(i))
	}
	for r.pending > 0 {
		e, ok := r.queue.Pop()
		if !ok { // nothing runs any more, so the tracker may take a slot that it refused before
			if r.fill(); r.queue.Len() > 0 {
				continue
			}
			return r.result, fmt.Errorf("%s %s: %d tasks were never started", phase.Job, phase.Name, r.pending)
		}
		r.now = e.At
		r.result.Events++
		r.handle(e)
	}
	r.result.Tail += r.now
	if r.result.Time = r.now; phase.Apart {
		r.result.Time, r.result.Tail = r.apart, 0
	}
	r.result.Tasks = len(phase.Tasks)
	ledger := t.Ledger()
	r.result.Used, r.result.Wasted = ledger.Used, ledger.Wasted
	r.result.Copies, r.result.Restarts = ledger.Copies, ledger.Restarts
	return r.result, nil
}

// budget returns a budget that bounds the copies by the slots of the phase. The rate and the floor of a cluster's
// budget are off.
func (o Options) budget(slots int) (tracker.Limiter, error) {
	if o.CopyShare == 0 {
		return nil, nil
	}
	return tracker.NewBudget(tracker.BudgetConfig{
		Slots: max(slots, 1), Share: o.CopyShare, Rate: restart.Off, Floor: restart.Off,
	})
}
