package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// askNone says that nobody asks for work. It is not none, which stands for a free slot on a machine that is not known.
const askNone = none - 1

// Decide answers what to do about a task now, without a report: the same as [Tracker.Report], but for the new facts. A
// host whose copies may fall silent calls it, or [Tracker.Sweep], from time to time.
func (t *Tracker) Decide(now time.Time, task int) Decision {
	t.tick(now)
	if s := t.task(task); s == nil || s.copies == none {
		return Decision{Reason: NotRunning}
	}
	return t.judge(task, askNone)
}

// Sweep decides about every running task, in no order of meaning but always the same, and calls visit with each decision
// that is not to keep. visit may tell the tracker of what it has done; copies that it starts are not looked at, unless
// they take the place of one that has ended. O(copies) decisions.
func (t *Tracker) Sweep(now time.Time, visit func(task int, d Decision)) {
	t.tick(now)
	for i := range len(t.copies) {
		task := t.copies[i].task
		if task == none || t.tasks[task].copies != int32(i) {
			continue // a free place, or not the first copy of its task
		}
		if d := t.judge(int(task), askNone); d.Action != Keep {
			visit(int(task), d)
		}
	}
}

// judge asks the policy, holds its answer against the budget, and keeps the list of candidates. The decision's Copy is
// an attempt's number.
func (t *Tracker) judge(task, machine int) Decision {
	if s := &t.tasks[task]; !t.runs(s) { // its copies wait in an engine's queue, which says nothing about them
		return Decision{Reason: NotRunning}
	}
	facts := t.facts()
	if machine != askNone {
		facts.FreeSlots = max(facts.FreeSlots, 1)
		if t.needs&needMachines != 0 && machine >= 0 && machine < len(t.machineTotal) {
			facts.Peers.Machine = MachineProgress{Total: t.machineTotal[machine], Of: &t.machineTotals}
		}
	}
	view := t.view(task, machine)
	d := t.policy.Decide(view, facts)
	if d.Action == Duplicate && !t.config.Budget.Allows() {
		d = Decision{
			Reason: BudgetSpent, Remaining: d.Remaining, Fresh: d.Fresh, Bar: d.Bar, Value: d.Value, Threshold: d.Threshold,
		}
	}
	s := &t.tasks[task]
	if d.Action == Duplicate || d.Action == Keep && blocked(d.Reason) {
		t.addCandidate(s, int32(task))
	} else {
		t.dropCandidate(task)
	}
	d.Copy = t.attemptOf(s, d)
	return d
}

// blocked lists the reasons that concern the slot and not the task: it may well be worth a copy on the next one.
func blocked(r Reason) bool {
	switch r {
	case NoFreeSlot, CapReached, BudgetSpent, SlowMachine, SameMachine:
		return true
	}
	return false
}

// attemptOf turns the index of a copy in the view into the number of the attempt.
func (t *Tracker) attemptOf(s *taskState, d Decision) int {
	if d.Action != Restart && d.Action != Kill {
		return 0
	}
	i := s.copies
	for range d.Copy {
		if t.copies[i].next == none {
			break
		}
		i = t.copies[i].next
	}
	return int(t.copies[i].attempt)
}

// facts returns the phase with the distributions that the policy reads.
func (t *Tracker) facts() Phase {
	p := t.phase
	if t.needs&needDurations != 0 && t.durations.Len() > 0 {
		p.Peers.Durations = &t.durations
	}
	if t.needs&needFinishedRates != 0 && t.finishedRates.Len() > 0 {
		p.Peers.Rates = &t.finishedRates
	}
	if t.needs&needProgressRates != 0 && t.progressRates.Len() > 0 {
		p.Peers.ProgressRates = &t.progressRates
	}
	if n := t.working + p.Finished; t.needs&needScores != 0 && n > 0 {
		p.Peers.MeanScore = max(0, t.scores/float64(n))
	}
	if rate := t.workDone / t.workTime; num.Finite(rate) { // not before a task with a time has finished
		p.Peers.Throughput = rate
	}
	return p
}

// view returns a running task as a policy sees it, if a copy were to run on the given machine. It holds until the next
// call of view.
func (t *Tracker) view(task, machine int) Task {
	s := &t.tasks[task]
	copies := t.scratch[:0]
	var samples [scratchCopies]int
	for i := s.copies; i != none; i = t.copies[i].next {
		c := &t.copies[i]
		if len(copies) < len(samples) {
			samples[len(copies)] = int(c.sample)
		}
		copies = append(copies, Copy{
			Machine: int(c.machine), Elapsed: t.age(c), Remaining: t.remaining(s, c), Score: c.score,
			Done: c.progress.Done(),
		})
	}
	tried := t.tried[:0]
	for _, m := range s.tried {
		if m != none {
			tried = append(tried, int(m))
		}
	}
	view := Task{
		Copies: copies, Work: s.work, Tried: tried,
		NoDuplicate: s.flags&noDuplicate != 0, NoRestart: s.flags&noRestart != 0,
		Fresh: estimate.Fresh{Work: t.rates.Work(s.work), Lag: t.config.Lag},
	}
	if t.rates.Known() {
		t.rates.Others(&t.others, samples[:min(len(copies), len(samples))]...)
		view.Fresh.Rate = &t.others
	}
	if t.config.Factors != nil && machine >= 0 {
		view.Fresh.Location = t.config.Factors.Factor(machine)
	}
	if s.history != none {
		h := &t.histories[s.history]
		view.Restarts = h.restarts
		if h.lastCopy != noTime {
			view.SinceCopy = max(t.now-h.lastCopy, 1)
		}
	}
	return view
}

// remaining returns t_rem of a copy: the host's, or the model's, which is unknown at the age of 0 and so before the begin.
// In a phase of which no copy has ever reported progress nothing is known; one silent copy among others that report is
// another matter.
func (t *Tracker) remaining(s *taskState, c *copyState) time.Duration {
	if c.remaining != estimate.Unknown {
		return max(num.Sub(c.remaining, t.now), 0)
	}
	if !t.reported {
		return estimate.Unknown
	}
	return t.model.Remaining(&c.progress, t.age(c), s.work)
}
