package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
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
		Policy: options.Policy, Shape: options.Shape, Budget: budget,
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

func (r *run) clock() time.Time { return epoch.Add(r.now) }

func (r *run) handle(e event) {
	switch e.kind {
	case opens:
		r.open++
		r.tracker.SetSlots(r.open)
		at, _ := slices.BinarySearch(r.idle, e.id)
		r.idle = slices.Insert(r.idle, at, e.id)
		r.fill()
	case wakes:
		r.tasks[e.id].ready = true
		r.fill()
	case ends:
		if r.lives(e) {
			r.ended(e.id)
		}
	case report:
		if r.lives(e) {
			r.reports(e)
		}
	}
}

// lives reports whether an event's copy still runs. One that was killed leaves events behind, which do not count.
func (r *run) lives(e event) bool {
	c := &r.copies[e.id]
	if c.attempt >= 0 && c.life == e.life {
		return true
	}
	r.result.Events--
	return false
}

// reports lets a copy report and carries out what the tracker answers.
func (r *run) reports(e event) {
	c := &r.copies[e.id]
	task, attempt := int(c.task), int(c.attempt)
	var d tracker.Answer
	share := 0.0
	if c.curve == nil {
		d = r.tracker.Decide(r.clock(), task)
	} else {
		share = c.curve(float64(r.now-c.start) / float64(c.end-c.start))
		if !c.succeeds {
			share /= 2 // an attempt that fails is taken to fail half way
		}
		d = r.tracker.Report(r.clock(), task, attempt, tracker.Report{Score: share})
	}
	if r.watched(task) {
		said := "   -  "
		if c.curve != nil {
			said = fmt.Sprintf("%5.1f%%", 100*share)
		}
		r.options.Watch(r.now, attempt, fmt.Sprintf("%s  %v", said, d))
	}
	r.witnessReport(d, c)
	r.queue.pushReport(r.now+r.phase.Interval, e.id, e.life)
	switch d.Action {
	case restart.Restart, restart.Kill:
		r.kill(d)
		r.fill()
	case restart.Duplicate:
		r.fill()
	}
}

func (r *run) watched(task int) bool { return r.options.Watch != nil && task == r.options.WatchTask }

// ended lets a copy end by itself.
func (r *run) ended(place int32) {
	c := r.copies[place]
	task := int(c.task)
	s := &r.tasks[task]
	if !c.succeeds {
		r.tracker.Fail(r.clock(), task, int(c.attempt))
		if r.watched(task) {
			r.options.Watch(r.now, int(c.attempt), "failed, as it did in the log")
		}
		r.release(place, Failed)
		if s.copies == 0 {
			r.queue.push(r.now+r.wait(task), wakes, int32(task), 0)
		}
		return
	}
	losers := r.tracker.Finish(r.clock(), task, int(c.attempt))
	if r.watched(task) {
		r.options.Watch(r.now, int(c.attempt), "finished")
	}
	if c.extra && r.now < s.original {
		r.result.Won++
	}
	r.release(place, Succeeded)
	for _, attempt := range losers {
		if r.watched(task) {
			r.options.Watch(r.now, attempt, "killed: another copy has finished")
		}
		r.release(r.placeOf(task, attempt), Killed)
	}
	s.done = true
	r.apart += r.now
	r.pending--
	if r.pending == (len(r.tasks)+9)/10 { // what is left is the last tenth
		r.result.Tail = -r.now
	}
}

// kill carries out a decision to restart a task or to prune a copy.
func (r *run) kill(a tracker.Answer) {
	r.witnessAction(a)
	task := a.Task
	place := r.placeOf(task, a.Attempt)
	if a.Action == restart.Restart {
		r.tracker.Restart(r.clock(), task, a.Attempt)
	} else {
		r.tracker.Kill(r.clock(), task, a.Attempt)
	}
	r.release(place, Killed)
	if s := &r.tasks[task]; s.copies == 0 {
		s.ready, s.left = true, true
		r.again = append(r.again, int32(task))
	}
}

func (r *run) placeOf(task, attempt int) int32 {
	return int32(slices.IndexFunc(r.copies, func(c simCopy) bool {
		return int(c.task) == task && int(c.attempt) == attempt
	}))
}

// release frees a copy's place, and its slot after a rest.
func (r *run) release(place int32, how Ending) {
	c := &r.copies[place]
	if r.options.Spans != nil {
		r.options.Spans(Span{
			Start: c.start, End: r.now, Task: c.task, Slot: c.slot, Attempt: c.attempt, Launched: c.extra, Ending: how,
		})
	}
	r.tasks[c.task].copies--
	c.attempt = -1
	r.free = append(r.free, place)
	if c.slot == noSlot {
		return
	}
	r.open--
	r.tracker.SetSlots(r.open)
	rest := r.phase.Rest
	if used := int(r.uses[c.slot]); used-1 < len(r.phase.Slots[c.slot].Rests) {
		rest = r.phase.Slots[c.slot].Rests[used-1]
	}
	if closes := r.phase.Slots[c.slot].Closes; closes == 0 || r.now+rest < closes {
		r.queue.push(r.now+rest, opens, c.slot, 0)
	}
}
