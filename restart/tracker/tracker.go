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

// Tracker collects the facts of one phase, and decides by them about the tasks of the phase. The host tells the
// tracker each event, for example that an attempt has started. The tracker gives the facts that follow from the
// events to a [restart.Policy], and answers with the policy's decisions. The tracker itself starts and kills nothing.
// The host carries out a decision, and then tells the tracker.
//
// An attempt begins with Start, makes any number of Reports, and ends with Finish, Fail, Kill or Restart. If an
// engine puts attempts into a queue before it runs them, call Submit and Begin instead of Start. A submitted attempt
// occupies a slot, but its age is 0 until Begin, because time in a queue does not make an attempt slow. An attempt
// may end at any time, even before its Begin. The attempts of a task have the numbers 0, 1, 2 and so on, in the order
// of Start and Submit.
//
// An event that makes no sense changes nothing, and adds 1 to [Ledger.Ignored]: for example a report of an attempt
// that has ended, or an index out of range. The first argument of most calls is the time of the event. If the host's
// clock steps back, the tracker's time does not: it continues from the last time, as in golang.org/x/time/rate. The
// step adds 1 to [Ledger.ClockSteps].
//
// The host may ignore a decision, because the tracker believes only events. The tracker repeats the decision at the
// task's next Report, Decide or Sweep, as long as the reasons for it last. The host may also start and end attempts
// without a decision.
//
// Each method with the name of an event makes an [Event] of its arguments, and passes it to [Tracker.Apply].
//
// Report, Decide, Start, Submit, Begin, and the calls that end an attempt take O(log n) for n tasks, amortised. They
// do not allocate in steady state. The comment of [estimate.UnitTimes] states the worst case of a report. With a
// policy of package restart, a task takes less than 240 bytes.
//
// A Tracker is not safe for concurrent use. Use a new Tracker for each phase.
type Tracker struct {
	config Config
	phase  phase    // the state, which events change
	found  []Answer // memory of the answers to a Swept event

	policyBefore string // see PolicyBefore
}

// mostOwn is the largest number of machines that a tracker remembers if no Knowledge does.
const mostOwn = 1 << 12

// New returns a tracker of a phase in which nothing has started. If a field of Config or of the policy is out of
// range, it returns an error that contains the name of the field. O(n) for n tasks.
func New(c Config) (*Tracker, error) {
	t, err := open(c)
	if err != nil {
		return nil, err
	}
	t.phase.fleet.join()
	t.phase.budget.SlotsChanged(c.Slots)
	return t, nil
}

// open makes a tracker, but does not change the Budget and the observations of the Knowledge, which phases share.
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
	if limits.LossShare != restart.Off { // the bound on losses needs the facts that LeastCost reads
		reads.Facts |= rules.Fresh | rules.Left | rules.Trials
	}
	record := c.Knowledge.Machines()
	own := record == nil && c.Machines > 0 && reads.Has(rules.Trials|rules.Left)
	if own {
		record, _ = machines.New(machines.Config{MaxMachines: min(c.Machines, mostOwn)})
		c.UnitTimes.Factors = record
	}
	rates, err := estimate.NewUnitTimes(c.UnitTimes)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Config.UnitTimes: %w", err)
	}
	known := func(task int) bool { return given == nil || num.Known(given[task]) }
	t := &Tracker{config: c, phase: phase{
		book:     newBook(c.Work, known, c.Slots, c.Clones, c.Recent > 0),
		fleet:    newFleet(&c, record, own, reads.Has(rules.Machines)),
		forecast: newForecast(&c, rates, num.Sized(given), reads.Has(rules.Fresh) || record != nil, reads.Has(rules.Left)),
		ages:     newAges(len(c.Work), c.Recent > 0 || c.Knowledge.keeps(c.Kind)),
		lag:      lag{prior: c.Lag},
		link:     newLink(&c),
		recent:   recent{within: c.Recent},
		peers:    newPeers(reads.Facts),
		trials:   trials{on: reads.Has(rules.Trials)},
		judge:    newJudge(c.Policy, reads),
		facts:    facts{phase: restart.Phase{Interval: c.Interval, Tasks: c.Tasks, Stream: c.Stream, Limits: limits}},
		budget:   c.Budget,
	}}
	if c.Budget == nil {
		t.phase.budget = (*Budget)(nil)
	}
	t.config.Work, t.config.UnitTimes = nil, rates.Config()
	return t, nil
}

// Config returns the configuration with its defaults filled in. The field Work of the result is nil.
func (t *Tracker) Config() Config { return t.config }

// Phase returns the facts of the phase as a policy reads them now.
func (t *Tracker) Phase() restart.Phase {
	if t.phase.judge.policy == nil {
		return restart.Phase{}
	}
	return *t.phase.phaseFacts()
}

// Ledger returns the counts of attempts and the slot time so far.
func (t *Tracker) Ledger() Ledger { return t.phase.counts() }

// UnitTimes returns the distribution of the time that an attempt takes for a unit of work, as the tracker has learnt
// it. Do not change the result.
func (t *Tracker) UnitTimes() *estimate.UnitTimes { return t.phase.forecast.rates }

// Start records that an attempt of the task has begun to run on a machine. It is the first attempt of a task that
// waits, or a further attempt of a task that runs. A negative machine means that the machine is not known. Start does
// the same as [Tracker.Submit] followed by [Tracker.Begin].
//
// Start returns the number of the attempt. If the task has ended, was given up or does not exist, Start returns -1,
// and the event is ignored.
func (t *Tracker) Start(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Started, Time: now, Task: task, Machine: machine}).Attempt
}

// Submit records that the host gave an attempt of the task to an engine with a queue. If the engine chooses the
// machine itself, machine is negative. Submit returns the number of the attempt, or -1, as [Tracker.Start] does.
//
// From now on the attempt occupies a slot, the task no longer waits, and no policy of package restart asks for the
// same copy again. But the attempt has no age: until [Tracker.Begin] its Elapsed is 0, its Remaining is unknown, and
// no estimate uses it. If no attempt of the task has begun, the task is kept, with the reason [restart.NotRunning].
//
// The policy Mantri neither copies nor restarts a task until CopyPause intervals after the Begin of the task's latest
// copy. This needs a Config.Interval above 0. O(log n), no allocation in steady state.
func (t *Tracker) Submit(now time.Time, task, machine int) (attempt int) {
	return t.Apply(Event{Kind: Submitted, Time: now, Task: task, Machine: machine}).Attempt
}

// Begin records that a submitted attempt has left the engine's queue and runs now. Its age starts at 0. A negative
// machine means the machine that was given to Submit. If the attempt has begun already, or does not exist, Begin
// changes nothing, and the event is ignored. A [Tracker.Report] also begins a submitted attempt. O(1), no allocation.
func (t *Tracker) Begin(now time.Time, task, attempt, machine int) {
	t.Apply(Event{Kind: Begun, Time: now, Task: task, Attempt: attempt, Machine: machine})
}

// Report records a progress report, and answers with the decision about the task. If the Action of the answer is
// [restart.Restart] or [restart.Kill], end Answer.Attempt, and then tell the tracker. If the Action is
// [restart.Copy], the task is worth a copy. Either launch a copy now, or let [Tracker.Next] choose among all such
// tasks when a slot is free.
//
// A report, even an invalid report, shows that its attempt runs. So a submitted attempt begins with its first report.
// The tracker does not know how long the attempt took for the work of this report, so it learns no speed from this
// work. Call Begin first if you know when the attempt began.
//
// In a phase of 64 tasks or more, restart.LeastCost keeps most attempts without a full decision, because cheap bounds
// show that the task is not slow. The answer then has the reason [restart.NotSlow], and three of its numbers differ
// from the numbers of a full decision:
//
//   - Remaining rests on the attempt's progress alone.
//   - Value is an upper bound of the cost of keeping the task.
//   - Threshold is a lower bound of the cost of any other action, if keeping the task costs Value.
//
// The Action is always the Action of a full decision. [restart.LeastCost.NotSlow] explains the bounds.
func (t *Tracker) Report(now time.Time, task, attempt int, r Report) (a Answer) {
	t.apply(&Event{Kind: Reported, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
	return a
}

// Record records a progress report without a decision. The next [Tracker.Decide] or [Tracker.Sweep] decides about the
// task. For example, a host that polls an engine records all reports of the poll, and then calls Sweep.
func (t *Tracker) Record(now time.Time, task, attempt int, r Report) {
	var a Answer
	t.apply(&Event{Kind: Recorded, Time: now, Task: task, Attempt: attempt, Report: r}, &a)
}

// Finish records that an attempt has ended its task with success. It returns the numbers of the task's other
// attempts, running or submitted. For the tracker these attempts have ended now; the host should kill them. The slice
// is valid until the next event.
//
// An attempt that never began may finish, but its time is not used as a run time. A success may also come after the
// tracker was told that the attempt has ended, for example by Kill. The success ends the task all the same, the task
// no longer waits, and [Ledger.Late] grows by 1.
func (t *Tracker) Finish(now time.Time, task, attempt int) (overtaken []int) {
	return t.Apply(Event{Kind: Finished, Time: now, Task: task, Attempt: attempt}).Overtaken
}

// Fail records that an attempt has failed. If the task has no other attempt, the task waits again. The time of the
// attempt is not used as a run time.
func (t *Tracker) Fail(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Failed, Time: now, Task: task, Attempt: attempt})
}

// Kill records that an attempt was killed, because of a decision or for the host's own reasons. If the task has no
// other attempt, the task waits again.
func (t *Tracker) Kill(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Killed, Time: now, Task: task, Attempt: attempt})
}

// Restart records that an attempt was killed in order to run the task again. If the task has no other attempt, the
// task waits. Otherwise its other attempts run on. Then the task gets its new attempt when the host calls Start, at
// once or after a later decision.
func (t *Tracker) Restart(now time.Time, task, attempt int) {
	t.Apply(Event{Kind: Restarted, Time: now, Task: task, Attempt: attempt})
}

// GiveUp records that a waiting task will not run again, for example because it has failed too often, unless the host
// calls [Tracker.Retry]. The task no longer counts as waiting, and does not count as finished. This matters for
// policies that make no copies while tasks wait. [Tracker.Next] does not start the task.
//
// GiveUp has no effect on a task that does not wait: a task with an attempt that runs or is submitted, a finished
// task, or a task that was given up before. The event is then ignored. O(1), no allocation.
func (t *Tracker) GiveUp(now time.Time, task int) {
	t.Apply(Event{Kind: GivenUp, Time: now, Task: task})
}

// Retry records that a task that was given up waits for a slot again. A host that pauses before it tries a failed task
// again calls GiveUp after the failure, and Retry after the pause. So the task does not hold back copies of other
// tasks in the meantime. For any other task the event is ignored. O(log n), no allocation.
func (t *Tracker) Retry(now time.Time, task int) {
	t.Apply(Event{Kind: Retried, Time: now, Task: task})
}

// LoseMachine records that a machine is gone, together with all attempts that ran there or were submitted for it. It
// returns the tasks that lost their last attempt and wait again, in ascending order. The slice is valid until the
// next event. Reduce the number of slots by [Tracker.SetSlots]. When the machine is back, call only SetSlots.
// O(attempts).
func (t *Tracker) LoseMachine(now time.Time, machine int) (waiting []int) {
	return t.Apply(Event{Kind: MachineLost, Time: now, Machine: machine}).Waiting
}

// LoseOutput records that the output of a finished task is lost. The task waits, and must run again. All attempts
// that the task had so far are over. If the host later reports that such an attempt has finished, for example a
// second time, the event is ignored.
func (t *Tracker) LoseOutput(now time.Time, task int) {
	t.Apply(Event{Kind: OutputLost, Time: now, Task: task})
}

// Leave records that a machine will leave at a known time, for example because it is drained or its spot price has
// gone up. Leave has three effects:
//
//   - A task that is not expected to end there in time gets a copy on another machine, with the reason
//     [restart.Leaving]. The tracker does this whatever the policy answers, but only within the [restart.Limits].
//   - No waiting task starts there if it is not expected to end in time.
//   - Copies avoid the machine.
//
// The tracker may not know the remaining time (t_rem) of an attempt. It then takes the larger of two times: the
// longest run time so far less the attempt's age, and the attempt's age. If no attempt has ended yet, the task is
// copied. A zero time cancels the announcement: the machine stays. When the machine has left, call
// [Tracker.LoseMachine].
func (t *Tracker) Leave(now time.Time, machine int, at time.Time) {
	t.Apply(Event{Kind: MachineLeaves, Time: now, Machine: machine, Leaves: at})
}

// Merge adds the observations that another process has made to the phase's Knowledge, by [Knowledge.Merge]. If several
// phases share the Knowledge, a delta may be merged by any number of these phases. The Knowledge adds its observations
// only once.
//
// The event is ignored if there is no Knowledge, or if the Knowledge refuses the delta. [Knowledge.Merge] itself returns
// the reason. An advantage of this method is that a journal of the phase
// contains the delta, so that a replay makes the same decisions. Merge allocates.
func (t *Tracker) Merge(now time.Time, delta []byte) {
	t.Apply(Event{Kind: Merged, Time: now, Delta: base64.RawURLEncoding.EncodeToString(delta)})
}

// Add adds a task to a growing phase; see [Config.Recent]. The task waits for a slot. Work is the size of the task's
// input, as in [Config.Work]; a negative or NaN size is unknown. If the first task of the phase has no known size above
// 0, the sizes of all tasks are unknown.
//
// Add returns the index of the task, one more than that of the task before. An index is never used again. In a phase of a
// fixed number of tasks, Add returns -1, and the event is ignored. O(log n), no allocation in steady state.
func (t *Tracker) Add(work float64) (task int) {
	return t.Apply(Event{Kind: Added, Work: work}).Task
}

// Forget removes a task from a growing phase. The host calls it when it needs to know nothing more about the task, so that
// the tracker can use the memory again. From now on each event about the task is ignored.
//
// A task that runs may be forgotten: its attempts count as killed, and their slots are free. The host itself must kill the
// attempts. A task that has ended counts in [restart.Phase].Tasks for Config.Recent after its end, forgotten or not. What
// the tracker has learnt from the task stays as long. O(log n) amortised, no allocation in steady state.
func (t *Tracker) Forget(task int) { t.Apply(Event{Kind: Forgotten, Task: task}) }

// SetSlots sets how many attempts of the phase's tasks may run at the same time. A negative number means 0.
func (t *Tracker) SetSlots(slots int) { t.Apply(Event{Kind: SlotsSet, Slots: slots}) }

// SetEligible says whether a task may be copied and whether it may be restarted. At first both are allowed for every
// task.
func (t *Tracker) SetEligible(task int, copies, restart bool) {
	t.Apply(Event{Kind: EligibleSet, Task: task, NoCopy: !copies, NoRestart: !restart})
}

// Decide answers with the decision about a task, as [Tracker.Report] does, but without a report. If attempts may hang
// and so stop reporting, call Decide or [Tracker.Sweep] from time to time.
func (t *Tracker) Decide(now time.Time, task int) Answer {
	return t.Apply(Event{Kind: Asked, Time: now, Task: task})
}

// Next answers what to do with a free slot on a machine. A negative machine means any machine. The answer has one of
// these actions:
//
//   - [restart.Copy]: start a copy of Answer.Task in the slot.
//   - [restart.Start]: start the waiting task Answer.Task in the slot.
//   - [restart.Restart] or [restart.Kill]: end Answer.Attempt of Answer.Task, tell the tracker, and call Next again.
//   - [restart.Keep]: leave the slot idle. Answer.Task is -1, and the reason says why.
//
// Next looks for a task in this order:
//
//   - First, the tasks that are worth a copy by their last decision. Next chooses the task that gains most by a copy;
//     of tasks that gain the same, the task with the lowest index. A machine that runs an attempt of the task, or ran
//     one, gets no copy of the task.
//   - Then the waiting task with the most work. If an attempt of this task ran on the machine before, Next may choose
//     another of the next waiting tasks.
//   - Then a task with fewer clones than Config.Clones, with the reason [restart.Cloned].
//
// Next refuses to start a waiting task on a bad machine. The reason is [restart.SlowMachine] if the record of machines
// judges that attempts fail there, or that the machine is so slow that the task would end after the rest of the phase. The
// reason is [restart.Leaving] if the machine leaves too soon. After a refusal, call Next for the next machine. If no
// attempt of the phase runs, Next accepts any machine.
//
// Here a failed task waits by its work, like every other task. Hadoop, as the LATE paper describes it, starts failed
// tasks before all other tasks, in order to find tasks that always fail. And of equal tasks, Hadoop prefers a task
// whose data is near the machine [LATE §2.1]. To stop a task that always fails, call [Tracker.GiveUp].
//
// The first call makes a decision about each task that is worth a copy, and ranks these tasks. The next calls use
// this ranking, as long as the only events are calls of Next and starts of the copies that Next asked for, and for at
// most a 64th of an interval. A call with a valid ranking makes one decision. It makes up to eight decisions if something
// is known about machines, and two for each task that is worth a copy if Config.Path is set. Some policies refuse a slot either
// to all tasks or to none, as most policies of package rules do (rules.Description.CopiesOnly). With such a policy, a
// refused slot takes one decision and changes nothing. All other work is O(log n).
func (t *Tracker) Next(now time.Time, machine int) Answer {
	return t.Apply(Event{Kind: Offered, Time: now, Machine: machine})
}

// Sweep decides about every running task. It calls visit with each answer whose action is not Keep. The order of the
// tasks has no meaning, but the same events always give the same order.
//
// All decisions are made before the first call of visit. If visit tells the tracker of an event, Sweep decides again
// about the tasks that it has not yet visited, and skips the tasks that are now kept. O(attempts) decisions.
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

// Candidates ranges over the tasks that are worth a copy. The last decision about such a task was Copy, or the task
// was kept only because of a missing slot, the cap, the budget, or the machine that asked. Candidates changes
// nothing. It serves three purposes:
//
//   - Count these tasks, to tell a queue or a pool of machines how many slots the phase could use.
//   - If many phases share a slot, skip the phases without such a task.
//   - Choose a task whose data is on the machine: call [Tracker.Decide] about the task, and start it there.
//     [Tracker.Next] would choose the task that gains most.
//
// Do not call another method of the tracker within the loop. The order of the tasks has no meaning, but the same
// events always give the same order. O(tasks worth a copy), no allocation.
func (t *Tracker) Candidates() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, task := range t.phase.book.candidates {
			if !yield(t.phase.book.index(task)) {
				return
			}
		}
	}
}

// Close ends the phase, because its job is done or was cancelled. Its running attempts count as killed, its waiting
// tasks count as given up, and it has no slots any more. So the phase no longer uses any copy or slot of a shared
// [Config.Budget], and a shared [Config.Knowledge] contains no running attempt of the phase. The Knowledge keeps its
// observations: a killed attempt would have taken at least as long as it ran. The host itself must kill the attempts.
//
// A second Close changes nothing. The Ledger keeps its numbers, and a success that comes late still ends its task. A
// closed phase starts nothing. There is an exception: the output of a task is lost later ([Tracker.LoseOutput]), and
// the host gives the phase slots again ([Tracker.SetSlots]). O(n) for n tasks.
func (t *Tracker) Close(now time.Time) { t.Apply(Event{Kind: Closed, Time: now}) }

// Decisions ranges over the pairs of an action and a reason that were answered, with the number of such answers. The
// pairs come in the order of the values of the constants. A host can export these counters. Each decision is counted
// once: a Sweep counts one decision for each task, and Next one for each slot. O(1) for each pair.
func (t *Tracker) Decisions() iter.Seq2[restart.Decision, int] {
	return func(yield func(restart.Decision, int) bool) {
		for _, c := range t.phase.judge.counts {
			if !yield(restart.Decision{Action: c.action, Reason: c.reason}, c.n) {
				return
			}
		}
	}
}
