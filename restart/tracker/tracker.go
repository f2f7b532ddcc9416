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

// Tracker keeps the facts of one phase for a host that does not keep them. The host tells the tracker each event. The
// tracker holds the facts that a [restart.Policy] reads, and answers with decisions. The tracker starts and kills
// nothing: the host carries a decision out, and tells the tracker.
//
// An attempt goes through Start, any number of Reports, and an end: Finish, Fail, Kill or Restart. If an engine queues
// attempts before it runs them, call Submit and Begin in place of Start. A submitted attempt holds its slot, but has
// no age, because time in a queue does not make it a straggler. An attempt may end at any point, also before its
// Begin. The attempts of a task are numbered from 0 in the order of Start and Submit.
//
// A call that makes no sense changes nothing, and counts in [Ledger.Ignored]: a report of an attempt that has ended,
// an index out of range. Time is the first argument of most calls. If the host's clock steps back, the tracker's time
// goes on from there, as in golang.org/x/time/rate, and the step counts in [Ledger.ClockSteps].
//
// The host may ignore a decision. The tracker goes by events alone. It repeats the decision at the task's next Report,
// Decide or Sweep, for as long as the decision holds. The host may also start attempts and end attempts without a
// decision.
//
// Each method with an event's name is [Tracker.Apply] of one [Event], with named and typed arguments.
//
// Report, Decide, Start, Submit, Begin and the ends of an attempt take O(log n) in the number of tasks, amortised, and
// do not allocate in steady state. [estimate.UnitTimes] states the worst case of a report. With the policies of
// package restart, which read only some of the facts, a task takes less than 240 bytes.
//
// A Tracker is not safe for concurrent use. Each phase has a Tracker of its own.
type Tracker struct {
	config Config
	phase  phase    // the state that events change; see there
	judge  judge    // decides by that state
	found  []Answer // the answers to a Sweep
}

// mostOwn is how many machines a tracker remembers if the host gives no Record.
const mostOwn = 1 << 12

// New returns a tracker of a phase in which nothing has started. It returns an error if a field of Config or of the
// policy is out of range; the error names the field. O(n) in the number of tasks.
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

// open makes a tracker. It leaves the shared parts (Record, Budget, Experience) as they are.
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
	if limits.LossShare != restart.Off { // the bound on losses reads the facts that LeastCost reads
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
	x.fleet = fleet{count: c.Machines, record: record, own: own, path: c.Path}
	if reads.Has(rules.Machines) {
		x.fleet.pace = &pace{totals: totals{idle: c.Machines}}
	}
	x.forecast = forecast{
		book: &x.book, fleet: &x.fleet, interval: c.Interval, readsRates: reads.Has(rules.Fresh) || record != nil,
		hasPrior: c.UnitTimes.Prior != nil, model: c.Model, rates: rates, lag: lag{prior: c.Lag}, ages: newAges(&c, reads),
		link: newLink(&c, num.Sized(given)),
	}
	t.judge = judge{
		book: &x.book, fleet: &x.fleet, forecast: &x.forecast, peers: &x.peers, policy: c.Policy, reads: reads,
		budget: c.Budget,
	}
	if least, is := c.Policy.(restart.LeastCost); is {
		t.judge.leastCost = &least
	}
	t.judge.trials.on = reads.Has(rules.Trials)
	x.forecast.ages.usesEvenness = t.judge.trials.on
	t.judge.trials.link = x.forecast.link
	x.book.keepsTrials = t.judge.trials.on
	t.judge.facts = restart.Phase{Interval: c.Interval, Tasks: c.Tasks, Stream: c.Stream, Limits: limits}
	return t, nil
}

// Config returns the configuration with its defaults filled in. Its Work is nil.
func (t *Tracker) Config() Config { return t.config }

// Phase returns the facts of the phase as a policy reads them now.
func (t *Tracker) Phase() restart.Phase {
	if t.judge.book == nil {
		return restart.Phase{}
	}
	return *t.judge.phaseFacts()
}

// Ledger returns the counts of attempts and the slot time so far.
func (t *Tracker) Ledger() Ledger {
	l := t.phase.account()
	l.BadAnswers = t.judge.badAnswers
	return l
}

// UnitTimes returns the tracker's distribution of the time that a unit of work takes. Do not change it.
func (t *Tracker) UnitTimes() *estimate.UnitTimes { return t.phase.forecast.rates }

// Start records that an attempt of the task has begun to run on a machine (negative if not known): the first attempt
// of a task that waits, or a further attempt of a task that runs. It returns the number of the attempt. It returns -1,
// and counts as ignored, if the task has ended, was given up or does not exist. Start is [Tracker.Submit] and
// [Tracker.Begin] at once.
func (t *Tracker) Start(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Started, Time: now, Task: task, Machine: machine}).Attempt
}

// Submit records that the host gave an attempt of the task to an engine with a queue, for a machine, or for any
// machine if the number is negative. Submit returns the same as [Tracker.Start]. From now on the attempt holds a slot,
// the task no longer waits, and no policy of package restart asks for the same copy again. But the attempt has no age:
// until [Tracker.Begin] its Elapsed is 0, its Remaining is unknown, and no estimate uses it. A task without any begun
// attempt is kept with the reason [restart.NotRunning].
//
// Mantri waits for a submitted copy as for any new copy, until CopyPause intervals after its Begin. This needs a
// Config.Interval above 0. O(log n), no allocation in steady state.
func (t *Tracker) Submit(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Submitted, Time: now, Task: task, Machine: machine}).Attempt
}

// Begin records that a submitted attempt has left the engine's queue and runs. A negative machine stands for the
// machine of the Submit. The attempt's age counts from now. If the attempt has begun already, or does not exist, Begin
// changes nothing and counts as ignored. A [Tracker.Report] also begins a submitted attempt. O(1), no allocation.
func (t *Tracker) Begin(now time.Time, task, attempt, machine int) {
	t.Apply(Event{Kind: Begun, Time: now, Task: task, Attempt: attempt, Machine: machine})
}

// Report takes a progress report and answers with the decision about the task. Carry out [restart.Restart] and
// [restart.Kill] on Answer.Attempt, and then tell the tracker. [restart.Copy] says that the task is worth a copy:
// launch a copy, or let [Tracker.Next] choose among all such tasks when a slot is free.
//
// Any report, even an invalid one, shows that its attempt runs, so a submitted attempt begins with it. The work that
// the attempt has done by then took no time and gives no rate. So call Begin first if you know when the attempt began.
//
// In a phase of 64 tasks or more, restart.LeastCost keeps most attempts by bounds, with the reason [restart.NotSlow];
// see [restart.LeastCost.NotSlow]. Then Remaining rests on the attempt's progress alone, Value is a lower bound of the
// cost of keeping the task, and Threshold is the cost of an action at that bound. The action is always that of a full
// decision.
func (t *Tracker) Report(now time.Time, task, attempt int, r Report) (a Answer) {
	t.apply(&Event{Kind: Reported, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
	return a
}

// Record takes a progress report and decides nothing. The next [Tracker.Decide] or [Tracker.Sweep] decides about the
// task. A host that polls an engine records all reports, and sweeps once.
func (t *Tracker) Record(now time.Time, task, attempt int, r Report) {
	var a Answer
	t.apply(&Event{Kind: Recorded, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
}

// Finish records that an attempt has ended its task with success. It returns the numbers of the task's other running
// or submitted attempts. The tracker counts them as ended, and the host should kill them. The slice holds until the
// next event.
//
// An attempt that never began may finish; its time is no sample of a run time. A success may come after the tracker
// was told that the attempt ended. It is a success all the same, and counts in [Ledger.Late]: the task is done and no
// longer waits.
func (t *Tracker) Finish(now time.Time, task, attempt int) (overtaken []int) {
	return t.Apply(Event{Kind: Finished, Time: now, Task: task, Attempt: attempt}).Overtaken
}

// Fail records that an attempt failed. If no other attempt of the task runs, the task waits again. The attempt's time
// is no sample of a run time.
func (t *Tracker) Fail(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Failed, Time: now, Task: task, Attempt: attempt})
}

// Kill records that an attempt was killed, by a decision or for the host's own reasons. If no other attempt of the
// task runs, the task waits again.
func (t *Tracker) Kill(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Killed, Time: now, Task: task, Attempt: attempt})
}

// Restart records that an attempt was killed in order to run the task again. If no other attempt of the task runs, the
// task waits. Otherwise the other attempts go on, and the task gets its new attempt by a Start, at once or after a
// later decision.
func (t *Tracker) Restart(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Restarted, Time: now, Task: task, Attempt: attempt})
}

// GiveUp records that a waiting task will not run again, for instance because it has failed too often. The task no
// longer counts as waiting, which keeps some policies from making copies, and [Tracker.Next] does not start it. The
// task never counts as finished. If the task does not wait (an attempt runs or is submitted, or the task has finished
// or was given up before), GiveUp changes nothing and counts as ignored. O(1), no allocation.
func (t *Tracker) GiveUp(now time.Time, task int) {
	t.Apply(Event{Kind: GivenUp, Time: now, Task: task})
}

// LoseMachine records that a machine is gone, with all attempts that ran there or were submitted for it. It returns
// the tasks that lost their last attempt and wait again, in ascending order. The slice holds until the next event.
// Take the machine's slots off by [Tracker.SetSlots]. When the machine is back, call only SetSlots. O(attempts).
func (t *Tracker) LoseMachine(now time.Time, machine int) (waiting []int) {
	return t.Apply(Event{Kind: MachineLost, Time: now, Machine: machine}).Waiting
}

// LoseOutput records that the output of a finished task is lost. The task waits, and must run again. All attempts that
// the task had so far are over: a later Finish of such an attempt, such as a repeated Finish, is ignored.
func (t *Tracker) LoseOutput(now time.Time, task int) {
	t.Apply(Event{Kind: OutputLost, Time: now, Task: task})
}

// Leave records that a machine will leave at a known time, because it is drained or its spot price has gone up. Leave
// has three effects:
//
//   - A task that is not expected to end there in time gets a copy elsewhere, with the reason [restart.Leaving],
//     whatever the policy answers, within its [restart.Limits].
//   - No waiting task starts there if it would not end in time.
//   - Copies avoid the machine.
//
// If the policy's facts give no t_rem, the tracker takes the larger of two times: the rest of the longest run time so
// far, and the attempt's age. Before any attempt has ended, the task is copied. A zero time takes the announcement
// back. When the machine has left, call [Tracker.LoseMachine].
func (t *Tracker) Leave(now time.Time, machine int, at time.Time) {
	t.Apply(Event{Kind: MachineLeaves, Time: now, Machine: machine, Leaves: at})
}

// Merge adds another process's observations of machines to the phase's Record, by the method Merge of
// [machines.Record]. It counts as ignored if there is no Record, or the Record has no such method or refuses the
// delta; the Record's own Merge returns the reason. A Record that several phases share adds a delta once, however many
// of the phases merge it. A Merge here also stands in this phase's journal, so that a replay decides the same. It
// allocates.
func (t *Tracker) Merge(now time.Time, delta []byte) {
	t.Apply(Event{Kind: Merged, Time: now, Delta: base64.RawURLEncoding.EncodeToString(delta)})
}

// SetSlots changes how many attempts of the phase's tasks may run at once. A negative number counts as 0.
func (t *Tracker) SetSlots(slots int) { t.Apply(Event{Kind: SlotsSet, Slots: slots}) }

// SetEligible says whether a task may be copied and whether it may be restarted. At first every task may be both.
func (t *Tracker) SetEligible(task int, copies, restart bool) {
	t.Apply(Event{Kind: EligibleSet, Task: task, NoCopy: !copies, NoRestart: !restart})
}

// Decide answers with the decision about a task now, as [Tracker.Report] does, but without a report. If attempts may
// fall silent, call Decide or [Tracker.Sweep] from time to time.
func (t *Tracker) Decide(now time.Time, task int) Answer {
	return t.Apply(Event{Kind: Asked, Time: now, Task: task})
}

// Next answers what to do with a free slot on a machine; a negative machine stands for any machine. The actions are:
//
//   - [restart.Copy]: start a copy of Answer.Task there.
//   - [restart.Start]: start the waiting task Answer.Task there.
//   - [restart.Restart] or [restart.Kill]: end Answer.Attempt of Answer.Task, tell the tracker, and call Next again.
//   - [restart.Keep]: do nothing. Task is -1, and the reason says why.
//
// Next looks for a task in this order:
//
//   - The task worth a copy that gains most. A task is worth a copy if its last decision said so. Ties go to the
//     lowest index. A machine that runs an attempt of the task, or ran one, gets no copy of the task.
//   - The waiting task with the most work. If an attempt of the task ran on this machine before, another task near the
//     front may take its turn.
//   - A task with too few clones (Config.Clones), with the reason [restart.Cloned].
//
// A machine gets no waiting task if the Record judges the machine to fail, or to be so slow that the task would end
// after the rest of the phase; the reason is [restart.SlowMachine]. A machine that leaves too soon gets none either;
// the reason is [restart.Leaving]. Call Next again for the next machine. If no attempt of the phase runs, Next accepts
// any machine.
//
// Hadoop, as the LATE paper describes it, starts failed tasks before all others, to find tasks that always fail, and
// breaks ties by the place of a task's data [LATE §2.1]. Here a failed task waits by its work, like every other task.
// [Tracker.GiveUp] stops a task that always fails.
//
// The first call decides about each task worth a copy, and ranks these tasks. The ranking holds for the next calls
// until another event than the start of an offered copy comes, and for at most a 64th of an interval. While it holds,
// a call takes one decision; up to eight if there is a Record; one for each task worth a copy if Config.Path is set.
// If the rules.Description of the policy says CopiesOnly, as for most policies of package rules, a refused slot takes
// one decision and changes nothing. Otherwise O(log n).
func (t *Tracker) Next(now time.Time, machine int) Answer {
	return t.Apply(Event{Kind: Offered, Time: now, Machine: machine})
}

// Sweep decides about every running task, in an order that has no meaning but is reproducible. It calls visit with
// each answer whose action is not Keep. All decisions are made before the first visit. If visit tells the tracker of
// an event, Sweep decides about the remaining tasks again, and skips each task that is now kept. O(attempts)
// decisions.
func (t *Tracker) Sweep(now time.Time, visit func(Answer)) {
	found := t.Apply(Event{Kind: Swept, Time: now}).Found
	events := t.phase.book.events
	t.found = nil // visit may call Sweep
	for _, a := range found {
		if t.phase.book.events != events {
			a = t.Decide(now, a.Task)
		}
		if a.Action != restart.Keep {
			visit(a)
		}
	}
	t.found = found[:0]
}

// Candidates ranges over the tasks that are worth a copy: the last decision about the task was Copy, or only a free
// slot, the cap, the budget or another machine was missing. It changes nothing. It serves three purposes:
//
//   - Count the tasks, to tell a queue or a pool how many slots the phase could use.
//   - Skip a phase without such a task, where many phases share a slot.
//   - Pick a task with its data on the machine: call [Tracker.Decide] about the task, and Start it there.
//     [Tracker.Next] picks the task that gains most.
//
// Call no other method of the tracker within the loop. The order has no meaning but is reproducible. O(tasks worth a
// copy), no allocation.
func (t *Tracker) Candidates() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, task := range t.phase.book.candidates.list {
			if !yield(int(task)) {
				return
			}
		}
	}
}

// Close ends the phase, whether its job is done or was cancelled. Attempts that run count as killed, tasks that wait
// count as given up, and the phase has no slots any more. So it holds nothing of a shared [Config.Budget], and no
// running attempt in a shared [Config.Record]. The Record keeps its observations: a killed attempt would have taken at
// least as long as it ran. The host itself must kill the attempts.
//
// A second Close changes nothing. The Ledger stays, and a success that comes late still ends its task. A closed phase
// starts nothing, unless the output of a task is lost later ([Tracker.LoseOutput]) and [Tracker.SetSlots] gives the
// phase slots again. O(n) in the number of tasks.
func (t *Tracker) Close(now time.Time) { t.Apply(Event{Kind: Closed, Time: now}) }

// Decisions ranges over the number of answers for each action and reason, in the order of their values, without zeros.
// A host exports these counters. Each answer counts once: a Sweep counts one for each task that it decided about, Next
// one for each slot. O(1).
func (t *Tracker) Decisions() iter.Seq2[restart.Decision, int] {
	return func(yield func(restart.Decision, int) bool) {
		for _, c := range t.judge.counts {
			if !yield(restart.Decision{Action: c.action, Reason: c.reason}, c.n) {
				return
			}
		}
	}
}
