package tracker

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"iter"
	"time"

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
	limits := restart.Limits{
		Restarts:   cmp.Or(c.Limits.Restarts, reads.Limits.Restarts),
		Copies:     cmp.Or(c.Limits.Copies, reads.Limits.Copies),
		FreeTrials: cmp.Or(c.Limits.FreeTrials, reads.Limits.FreeTrials),
		LossShare:  cmp.Or(c.Limits.LossShare, reads.Limits.LossShare),
	}
	if err := limits.Validate(); err != nil {
		return nil, fmt.Errorf("restart/tracker: Config.Limits: %w", err)
	}
	if limits.LossShare != restart.Off { // the bound reads what the default reads
		reads.Facts |= rules.Fresh | rules.Left | rules.Trials
	}
	record, own := c.Record, (*machines.Record)(nil)
	if record == nil && c.Machines > 0 && reads.Has(rules.Trials|rules.Left) {
		own, _ = machines.New(machines.Config{MaxMachines: min(c.Machines, mostOwn)})
		record, c.UnitTimes.Factors = own, own
	}
	rates, err := estimate.NewUnitTimes(c.UnitTimes)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Config.UnitTimes: %w", err)
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
		budget: c.Budget,
	}
	if least, is := c.Policy.(restart.LeastCost); is {
		t.judge.least = &least
	}
	t.judge.trials.on = reads.Has(rules.Trials)
	x.forecast.ages.even = t.judge.trials.on
	t.judge.trials.pupil = x.forecast.pupil
	x.book.tries = t.judge.trials.on
	t.judge.facts = restart.Phase{Interval: c.Interval, Tasks: c.Tasks, Stream: c.Stream, Limits: limits}
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

// Start records that a copy of the task has begun to run on a machine (negative if not known): the first copy of a task
// that waited, or one more of a task that runs. It returns the attempt's number, or -1 if the task is not to be run
// because it has ended, was given up, or does not exist, which is counted as ignored. It is [Tracker.Submit] and
// [Tracker.Begin] at once.
func (t *Tracker) Start(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Started, Time: now, Task: task, Machine: machine}).Attempt
}

// Submit records that a copy of the task was handed to an engine that queues what it is to run, for a machine or, if
// that is negative, for any. It returns what [Tracker.Start] does. The copy counts as one from now on: it holds a slot,
// the task no longer waits, and no policy of package restart asks for the same copy again. But it has no age: until
// [Tracker.Begin] its Elapsed is 0 and its Remaining unknown, and it is no sample of anything. A task of whose copies none
// has begun is kept with the reason [restart.NotRunning].
//
// Mantri waits for such a copy as it does after any launch, for CopyPause intervals beyond its begin; that needs a
// Config.Interval above 0. O(log n), no allocation in steady state.
func (t *Tracker) Submit(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Submitted, Time: now, Task: task, Machine: machine}).Attempt
}

// Begin records that a submitted attempt has left the engine's queue and begun to run, on a machine or, if that is
// negative, on the one that it was submitted for. Its age counts from now. The begin of an attempt that has begun
// already, or that does not run, changes nothing and is counted as ignored. A [Tracker.Report] of an attempt that has
// not begun begins it too. O(1), no allocation.
func (t *Tracker) Begin(now time.Time, task, attempt, machine int) {
	t.Apply(Event{Kind: Begun, Time: now, Task: task, Attempt: attempt, Machine: machine})
}

// Report takes a progress report and answers what to do about the task. [restart.Restart] and [restart.Kill] are to be
// carried out on Answer.Attempt, and then told to the tracker. [restart.Copy] says that the task is worth a copy:
// launch one, or let [Tracker.Next] choose among all such tasks when a slot is free.
//
// A report, even one that makes no sense, is a sign that its attempt runs: one that was submitted and has not begun
// begins now. What it has done by then has taken no time and gives no rate, so tell of the begin first if you know when
// it was.
//
// In a phase of 64 tasks or more restart.LeastCost keeps most attempts by bounds, with the reason [restart.NotSlow]
// ([restart.LeastCost.NotSlow]). Then Remaining is by the attempt's progress alone, Value is at least what it costs to keep the
// task, and Threshold what an action would cost if it did cost that. No action differs from that of a full decision.
func (t *Tracker) Report(now time.Time, task, attempt int, r Report) (a Answer) {
	t.apply(&Event{Kind: Reported, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
	return a
}

// Record is Report, except that nothing is decided: the copy's progress is taken in, and what to do about its task is
// asked by the next [Tracker.Decide] or [Tracker.Sweep]. A host that polls an engine records what it sees, and sweeps
// once.
func (t *Tracker) Record(now time.Time, task, attempt int, r Report) {
	var a Answer
	t.apply(&Event{Kind: Recorded, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
}

// Finish records that an attempt has ended its task with success. It returns the numbers of the task's other running or
// submitted attempts, which the host should kill and which the tracker takes as ended; they hold until the next event.
// An attempt that never began may finish; it is no sample of a run time. A success that comes after the tracker was
// told of the attempt's end is a success all the same, and counted in [Ledger.Late]: the task is done, and no longer
// waits.
func (t *Tracker) Finish(now time.Time, task, attempt int) (overtaken []int) {
	return t.Apply(Event{Kind: Finished, Time: now, Task: task, Attempt: attempt}).Overtaken
}

// Fail records that an attempt failed. If no other copy of the task runs, the task waits again. Its time is no sample.
func (t *Tracker) Fail(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Failed, Time: now, Task: task, Attempt: attempt})
}

// Kill records that an attempt was killed: because a decision said so, or for the host's own reasons. If no other copy
// of the task runs, the task waits again.
func (t *Tracker) Kill(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Killed, Time: now, Task: task, Attempt: attempt})
}

// Restart records that an attempt was killed in order to run the task again. If no other copy of it runs, the task
// waits; otherwise it goes on in the others, and gets its new copy by a Start, at once or after a later decision.
func (t *Tracker) Restart(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Restarted, Time: now, Task: task, Attempt: attempt})
}

// GiveUp records that a task that waits will not be run again, because it has failed too often, say. It is no longer
// counted as waiting, which keeps some policies from making copies, nor is it started by [Tracker.Next]. It never
// counts as finished. A task that does not wait, because it has a copy that has not ended, has finished or was given up
// before, is not given up, which is counted as ignored. O(1), no allocation.
func (t *Tracker) GiveUp(now time.Time, task int) {
	t.Apply(Event{Kind: GivenUp, Time: now, Task: task})
}

// LoseMachine records that a machine is gone with all that ran on it or was submitted for it. It returns the tasks that
// lost their last copy, which wait again, in ascending order; they hold until the next event. Its slots are the host's
// to take off, by [Tracker.SetSlots]; when it is back, tell of these alone. O(copies).
func (t *Tracker) LoseMachine(now time.Time, machine int) (waiting []int) {
	return t.Apply(Event{Kind: MachineLost, Time: now, Machine: machine}).Waiting
}

// LoseOutput records that the output of a finished task is lost. The task waits, and must run again. All its attempts so
// far are over for good: a Finish of one of them that comes later, such as a Finish that is told twice, is ignored.
func (t *Tracker) LoseOutput(now time.Time, task int) {
	t.Apply(Event{Kind: OutputLost, Time: now, Task: task})
}

// Leave records that a machine is about to leave, at a known time: it is drained, or its spot price has gone. Tasks
// that are not expected to end there before that are worth a copy elsewhere, with the reason [restart.Leaving] and
// whatever the policy says of them, within its [restart.Limits]; no waiting task starts there that would not end in
// time, and copies avoid it. A task of which the policy's facts say nothing is expected to take what the longest took
// that has ended, or as long again as it has run; before any has ended, it is copied. A zero time takes it back. When
// it has left, tell so by [Tracker.LoseMachine].
func (t *Tracker) Leave(now time.Time, machine int, at time.Time) {
	t.Apply(Event{Kind: MachineLeaves, Time: now, Machine: machine, Leaves: at})
}

// Merge records that the phase's record of machines takes in what another process has seen of them, by
// [machines.Record.Merge]. It is counted as ignored if the record does not, or there is none: then the record's own Merge
// says why. A record that phases share takes a delta once, however many of them tell of it; tell of it here so that it
// stands in this phase's journal, and its replay decides as it did. It allocates.
func (t *Tracker) Merge(now time.Time, delta []byte) {
	t.Apply(Event{Kind: Merged, Time: now, Delta: base64.RawURLEncoding.EncodeToString(delta)})
}

// SetSlots changes how many copies of the phase's tasks may run at once. A negative number counts as 0.
func (t *Tracker) SetSlots(slots int) { t.Apply(Event{Kind: SlotsSet, Slots: slots}) }

// SetEligible says whether a task may be copied and restarted. At first every task may be both.
func (t *Tracker) SetEligible(task int, copies, restart bool) {
	t.Apply(Event{Kind: EligibleSet, Task: task, NoCopy: !copies, NoRestart: !restart})
}

// Decide answers what to do about a task now, without a report: the same as [Tracker.Report], but for the new facts. A
// host whose copies may fall silent calls it, or [Tracker.Sweep], from time to time.
func (t *Tracker) Decide(now time.Time, task int) Answer {
	return t.Apply(Event{Kind: Asked, Time: now, Task: task})
}

// Next answers what to do with a free slot on a machine (negative if the machine does not matter): with Answer.Task,
// [restart.Copy] to run one more copy of it there; [restart.Restart] or [restart.Kill] of Answer.Attempt, after which
// ask again; [restart.Start] to run a waiting task; or [restart.Keep], with task -1 and the reason why nothing is to be
// done.
//
// Of the tasks whose last decision found them worth a copy, the one that gains most comes first, with ties to the
// lowest index, and a machine that runs a copy of it or ran one gets none. Otherwise it is the waiting task with the
// most work; one that was tried on this machine gives way to another that was not, if there is one near the front.
// Where none waits, it is one that lacks one of its Config.Clones, with the reason [restart.Cloned].
//
// A machine that the record holds to be failing, or so slow that a task which starts there now would end after the rest
// of the phase, gets no waiting task, and the answer is [restart.SlowMachine]; one that leaves too soon gets
// [restart.Leaving]. Ask again for the next machine. If nothing of the phase runs, any machine will do.
//
// Hadoop, as LATE has it, starts failed tasks before all others, to find those that always fail, and breaks ties by
// where a task's data is [LATE §2.1]. Here a failed task waits by its work, as every other does: [Tracker.GiveUp] is
// for those.
//
// The first slot takes a decision for each candidate. That order holds for the slots after it, for as long as nothing is
// told but the copies that they are given, and at most a 64th of an interval: each takes one decision then, eight where
// Config.Record knows of machines, and one for each candidate where Config.Path does. A slot that the policy refuses takes one
// decision if its rules.Description says CopiesOnly, as those of package rules do, and changes nothing. O(log n) besides.
func (t *Tracker) Next(now time.Time, machine int) Answer {
	return t.Apply(Event{Kind: Offered, Time: now, Machine: machine})
}

// Sweep decides about every running task, in no order of meaning but always the same, and calls visit with each answer
// that is not to keep. All are decided first; once visit has told the tracker of anything, the tasks that follow are
// decided anew, and visited if there is still something to do. O(copies) decisions.
func (t *Tracker) Sweep(now time.Time, visit func(Answer)) {
	found := t.Apply(Event{Kind: Swept, Time: now}).Found
	told := t.phase.book.told
	t.found = nil // visit may sweep in turn
	for _, a := range found {
		if t.phase.book.told != told {
			a = t.Decide(now, a.Task)
		}
		if a.Action != restart.Keep {
			visit(a)
		}
	}
	t.found = found[:0]
}

// Candidates ranges over the tasks that are worth a copy: those whose last decision was Duplicate, or would have been
// but for a slot, the cap, the budget or the machine that asked. It takes none. Count them to tell a queue or a pool
// how many slots the phase could use; pass over a phase without any where many phases share a slot; or pick one whose
// data is on the machine, ask
// [Tracker.Decide] about it, and Start it there. [Tracker.Next] picks the one that gains most.
//
// Tell the tracker of nothing within the loop. They come in no order of meaning, but always the same. O(candidates), no
// allocation.
func (t *Tracker) Candidates() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, task := range t.phase.book.candidates.list {
			if !yield(int(task)) {
				return
			}
		}
	}
}

// Close ends the phase, whether it is done or not: a job that was cancelled, or has ended. Its copies count as killed,
// its waiting tasks as given up, and it has no slots any more, so that it holds nothing of a shared [Config.Budget] and
// counts for nothing that runs in a shared [Config.Record]. What the machines have shown in it stays known: a killed
// copy would have taken at least so long. Ending the copies themselves is the host's.
//
// To close again changes nothing. The Ledger stays, and a result that comes late still ends its task. A closed phase
// starts nothing, except tasks of which [Tracker.LoseOutput] is told after it: then [Tracker.SetSlots] gives it slots
// again. O(n) in the number of tasks.
func (t *Tracker) Close(now time.Time) { t.Apply(Event{Kind: Closed, Time: now}) }

// Decisions ranges over how often each action was answered for each reason, in the order of their values, without those
// that never were: the counters that a host exports. Each answer counts once: a Sweep gives one for each task that it
// decided about, Next one for the slot. O(1).
func (t *Tracker) Decisions() iter.Seq2[restart.Decision, int] {
	return func(yield func(restart.Decision, int) bool) {
		for _, c := range t.judge.counts {
			if !yield(restart.Decision{Action: c.action, Reason: c.reason}, c.n) {
				return
			}
		}
	}
}
