package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// judge decides about tasks: it shows them to the policy, and passes what that answers through the stages of
// [judge.decide].
type judge struct {
	book     *book
	fleet    *fleet
	forecast *forecast
	peers    *peers
	policy   restart.Policy
	whole    bool // every decision is a full one; for tests
	reads    rules.Description
	limits   restart.Limits
	budget   Limiter // nil: no bound
	facts    restart.Phase
	bad      int // answers that could not be meant
	counts   counts
	trials   trials
	ranking  ranking
	scratch  []ranked           // of the ranking: what is dropped, or goes back
	avoid    []int              // scratch of withAvoid
	others   estimate.PeerTimes // scratch of look: without the task's own samples
	tried    [maxTried]int      // scratch of look
	copies   []restart.Copy     // scratch of look
}

// verdict is what is decided about a task.
type verdict struct {
	restart.Decision
	task    int
	attempt int  // to end, if the decision ends one
	wants   bool // the task may be worth a copy on the next slot
}

// phase is what is known of the phase as a policy sees it.
func (j *judge) phase() *restart.Phase {
	b, p := j.book, &j.facts
	p.Finished, p.Waiting, p.Speculative = b.finished, b.waiting.waits, b.speculative()
	p.Slots, p.FreeSlots = b.slots, max(max(b.slots-b.running, 0)-j.fleet.refusedSlots(b.slots), 0)
	p.Silent, p.Machines = !j.forecast.reported && !j.forecast.doubt.on, j.fleet.known
	if j.trials.on {
		p.Trials = j.account()
	}
	p.Peers = restart.Peers{}
	j.peers.fill(&p.Peers, b.working+b.finished)
	return p
}

// askNone says that nobody asks for work. It is not none, which stands for a free slot on a machine that is not known.
const askNone = none - 1

// decide decides about a running task as of now, for a machine that asks, if one does: what the policy answers, as far
// as it can be meant and the limits allow it; else a copy, if the task's machines leave; then where that should not run;
// and last whether there is a budget for it. What each stage takes away it gives a reason for.
func (j *judge) decide(task int32, machine int, p *restart.Phase) verdict {
	v := verdict{task: int(task)}
	s := &j.book.tasks[task]
	if !j.book.runs(s) { // its copies wait in an engine's queue, which says nothing about them
		v.Reason = restart.NotRunning
		return v
	}
	if machine == askNone && j.plain(&v.Decision, task, p) {
		return v
	}
	var view restart.Task
	j.look(&view, task, machine)
	d := &v.Decision
	*d = j.policy.Decide(view, *p)
	j.sane(d, len(view.Copies))
	if j.hold(d, &view); d.Action == restart.Keep {
		j.explain(s, d)
		j.rescue(s, d, &view, p)
		j.hold(d, &view)
	}
	if d.Action == restart.Duplicate || d.Action == restart.Restart {
		j.withAvoid(d, &view, p)
	}
	if d.Action == restart.Duplicate && j.budget != nil && !j.budget.Allows() {
		*d = restart.Decision{
			Reason: restart.BudgetSpent, Remaining: d.Remaining, Fresh: d.Fresh, Bar: d.Bar, Value: d.Value,
			Threshold: d.Threshold,
		}
	}
	if ends(d) {
		v.attempt = j.book.attemptOf(s, d.Copy)
	}
	v.wants = d.Action == restart.Duplicate || d.Action == restart.Keep && blocked(d.Reason)
	return v
}

// look fills in a running task as a policy sees it, if a copy were to run on the given machine. It holds until the next
// call.
func (j *judge) look(view *restart.Task, task int32, machine int) {
	b, f := j.book, j.forecast
	s := &b.tasks[task]
	f.ages.doubts = float32(j.mayMislead())
	view.Behind = j.fleet.leavesBehind(b, s, machine)
	f.ages.apart = view.Behind && f.ages.sure()
	copies, least, oldest := j.copies[:0], part(mostPart), time.Duration(0)
	var samples [mostAhead]int
	for i := s.copies; i != none; i = b.copies.all[i].next {
		c := &b.copies.all[i]
		n := len(copies)
		if n < len(samples) {
			samples[n] = int(c.sample)
		}
		w := s.stint(c.resumed)
		copies = append(copies, restart.Copy{
			Machine: j.fleet.number(c.machine), Elapsed: b.age(c), Remaining: f.remaining(w, c), Score: c.score,
			Done: f.done(w, c), Resumed: c.resumed.of(s.work),
		})
		f.foresee(w, c, n, &copies[n])
		if m := copies[n].Machine; m >= 0 && j.trials.on {
			copies[n].Location = j.fleet.location(b, task, m)
		}
		least, oldest = min(least, c.resumed), max(oldest, copies[n].Elapsed)
		if b.isClone(c) {
			view.Clones++
		}
		if c.badUnits {
			copies[n].Score = math.NaN()
		}
	}
	tried := j.tried[:0]
	for _, m := range s.tried {
		if m != none {
			tried = append(tried, j.fleet.number(m))
		}
	}
	j.copies = copies
	view.Copies, view.Work, view.Tried = copies, s.work-least.of(s.work), tried
	view.NoDuplicate, view.NoRestart = s.flags&noDuplicate != 0, s.flags&noRestart != 0
	location := j.fleet.location(b, task, machine)
	if j.trials.on {
		location = j.exchanged(s, location)
	}
	view.Fresh = f.fresh(s.stint(b.saved(s)), location, oldest, view.Behind, samples[:min(len(copies), len(samples))], &j.others)
	if j.trials.on {
		view.Stuck = f.stuck(s.stint(b.saved(s)))
		if x := j.trying(s); x != nil {
			view.Trying = max(num.Sub(b.now, x.began), 1)
		}
	}
	if s.history != none {
		h := &b.histories[s.history]
		view.Restarts, view.Duplicates, view.Lost = int(h.restarts), int(h.duplicates), int(h.trial.lost)
		if h.lastCopy != noTime {
			view.SinceCopy = max(b.now-h.lastCopy, 1)
		}
	}
}

// sane replaces an answer that can't be meant, which no policy of this library gives, by one that keeps the task, and
// drops of any other answer what has no place in a log: a reason or a basis without a name, a number that is none.
func (j *judge) sane(d *restart.Decision, copies int) {
	switch {
	case d.Action == restart.Keep, d.Action == restart.Duplicate:
		d.Copy = 0
	case d.Action > restart.Kill, d.Copy < 0, d.Copy >= copies:
		j.bad++
		*d = restart.Decision{Reason: restart.BadAnswer}
	}
	if d.Reason >= reasons {
		d.Reason = restart.NoReason
	}
	if !num.Finite(d.Value) || !num.Finite(d.Threshold) {
		d.Value, d.Threshold = 0, 0
	}
	if d.Basis > restart.ByAge {
		d.Basis = restart.NoBasis
	}
	if d.Won < 0 || d.Tried < d.Won {
		d.Won, d.Tried = 0, 0
	}
}

// hold holds a decision against the limits.
func (j *judge) hold(d *restart.Decision, view *restart.Task) {
	if d.Action != restart.Keep {
		*d = j.limits.Hold(*d, *view)
	}
}

// explain says why nothing is known of a task whose reports make no sense.
func (j *judge) explain(s *taskState, d *restart.Decision) {
	doubt := &j.forecast.doubt
	if doubt.bad+doubt.small == 0 || d.Reason != restart.NoEstimate {
		return
	}
	for i := s.copies; i != none; i = j.book.copies.all[i].next {
		if j.book.copies.all[i].badUnits || doubt.on {
			d.Reason = restart.BadUnits
		}
	}
}

// blocked lists the reasons that concern the slot and not the task: it may well be worth a copy on the next one.
func blocked(r restart.Reason) bool {
	switch r {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return true
	}
	return false
}
