package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// Options say how to replay.
type Options struct {
	Policy restart.Policy
	// LargestFirst starts waiting tasks by the size of their input, as Mantri does [Mantri §5.4], instead of in the
	// recorded order.
	LargestFirst bool
	// Clones is how many copies of each task are launched when it is first started; 0 counts as 1.
	Clones int
	// CopyShare is the share of the phase's slots that copies beside a running one may hold at once; 0: any.
	CopyShare float64
	// Progress is what copies report.
	Progress Progress
	// Shape is what is known of how progress runs in phases of the kind; nil: nothing.
	Shape *survival.Shape
	// Seed makes the draws for copies. The n-th drawn copy of a task that starts on the same machine, or of any if that
	// makes no difference to Phase.Draw, and in the same wave takes the same time under every policy.
	Seed uint64
	// Watch is called with every decision about the task of that index, and with what happens to its copies. Nil: nothing.
	Watch     func(at time.Duration, attempt int, what string)
	WatchTask int
	// Spans is called with every copy that has ended, in the order of their ends. Nil: nothing.
	Spans func(Span)
	// Witness sees what the tracker answers beside what will happen. Nil: nobody does.
	Witness Witness
}

// Result is what a replay came to.
type Result struct {
	// Time is the phase's completion time, from its first start, or of tasks that ran apart the sum of theirs.
	Time time.Duration
	// Used is the time that all copies ran, and Wasted the part of copies that did not end their task.
	Used, Wasted time.Duration
	// Tasks ran; Copies were launched beside a running copy, and Restarts were killed to start again.
	Tasks, Copies, Restarts int
	// Won counts the copies and restarts that ended their task before the attempt they were launched against would have.
	Won int
	// Tail is the part of Time in which the last tenth of the tasks ended.
	Tail time.Duration
	// Events that were simulated: starts, ends, reports and slots that opened.
	Events int
	// Known is what was known of how progress runs when the phase began; nil if nothing was asked of it.
	Known *survival.Shape
}

var epoch = time.Unix(0, 0)

// run is a replay in progress.
type run struct {
	phase   *Phase
	options Options
	tracker *tracker.Tracker
	queue   queue
	now     time.Duration
	result  Result

	copies  []simCopy
	free    []int32 // places in copies
	tasks   []simTask
	idle    []int32 // open slots without a copy, ascending
	uses    []int32 // how often each slot was used
	open    int     // slots that are open and not resting
	order   int     // entries of phase.Order before this one are spent
	ordinal []int32 // of each entry of phase.Order: which attempt of its task it is
	again   []int32 // tasks to be run again after a policy's decision, oldest first
	curves  draw
	silent  bool // nobody decides by reports, and nobody sees them
	source  *rand.PCG
	rand    *rand.Rand    // on source, which is seeded anew for each draw
	pending int           // tasks that have not ended
	apart   time.Duration // the sum of the times at which tasks ended
}

// progressSeed keeps the draws of progress apart from those of times, so that a model of progress changes nothing else.
const progressSeed = 1 << 40

// noSlot stands for the slot of its own that a clone runs on.
const noSlot = -1

type simTask struct {
	next     int32         // how many recorded attempts have been started
	drawn    int32         // how many copies have been drawn
	copies   int32         // running
	begun    int32         // in all
	ready    bool          // not running, and in the queue
	left     bool          // a policy has taken it from its recorded attempts
	done     bool          // has ended with success
	original time.Duration // when the recorded attempts would have succeeded
}

type simCopy struct {
	start, end time.Duration
	task, slot int32  // slot is noSlot for a clone
	attempt    int32  // the tracker's number; negative if this place is free
	life       uint32 // copies that have been in this place
	succeeds   bool
	curve      Curve
	extra      bool // launched because a policy decided so
}

// Run replays a phase.
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
		Policy: options.Policy, Limits: published.Limits(options.Policy), Shape: options.Shape, Budget: budget,
	})
	if err != nil {
		return Result{}, fmt.Errorf("%s %s: %w", phase.Job, phase.Name, err)
	}
	source := rand.NewPCG(0, 0)
	r := &run{
		phase: phase, options: options, tracker: t, tasks: make([]simTask, len(phase.Tasks)),
		uses: make([]int32, len(phase.Slots)), source: source, rand: rand.New(source), pending: len(phase.Tasks),
		ordinal: make([]int32, len(phase.Order)),
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
		r.ordinal[i] = r.tasks[task].drawn // borrowed as a counter
		r.tasks[task].drawn++
	}
	for i := range r.tasks {
		r.tasks[i] = simTask{ready: true}
	}
	for i, s := range phase.Slots {
		r.queue.push(s.Opens, opens, int32(i), 0)
	}
	for r.pending > 0 {
		e, ok := r.queue.pop()
		if !ok {
			return r.result, fmt.Errorf("%s %s: %d tasks were never started", phase.Job, phase.Name, r.pending)
		}
		r.now = e.at
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

// budget bounds the copies that run at once by the phase's slots alone, without the rate and the floor of a cluster.
func (o Options) budget(slots int) (tracker.Limiter, error) {
	if o.CopyShare == 0 {
		return nil, nil
	}
	return tracker.NewBudget(tracker.BudgetConfig{
		Slots: max(slots, 1), Share: o.CopyShare, Rate: restart.Off, Floor: restart.Off,
	})
}
