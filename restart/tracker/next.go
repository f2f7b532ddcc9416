package tracker

import (
	"time"

	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/restart"
)

const (
	// The ranking of the tasks that are worth a copy is valid for the 64th part of an interval. In so short a time,
	// the gains of copies change too little to matter.
	rankingParts = 64
	// The number of best candidates for a copy that are decided about again for the machine that asks, because a copy
	// may gain more or less there than on other machines. After as many refusals, the machine gets no copy now, unless
	// Config.Path makes each task a case of its own.
	headOfRanking = 8
)

// best returns the decision about the task that gains most from a copy in a free slot on the machine. Only candidates
// are considered: tasks that were worth a copy at their last decision. If no candidate should be copied there, the
// task of the verdict is -1, and its decision says why. Some policies refuse a slot either to all tasks or to none.
// With such a policy, best decides about no further candidate after a refusal, and changes nothing.
func (x *phase) best(machine int) verdict {
	best := verdict{task: none}
	best.Reason = restart.NothingToDo
	if len(x.book.candidates) == 0 {
		return best
	}
	facts := *x.phaseFacts()
	facts.FreeSlots = max(facts.FreeSlots, 1)
	facts.Peers.Machine = x.fleet.asking(machine)
	r, allowed := &x.ranking, x.budget.Allows()
	if !r.holds || r.allowed != allowed || x.fleet.path != nil || x.book.now-r.at > x.forecast.interval/rankingParts {
		if x.judge.reads.CopiesOnly {
			v := x.decide(x.book.candidates[0], machine, &facts)
			if x.refused(v.Reason) {
				r.holds, best.Decision = false, refusalOf(&v.Decision).decision()
				return best
			}
		}
		r.at, r.allowed = x.book.now, allowed
		r.holds = x.rank(&best, &facts)
	}
	if best.task == none && r.refusal.reason != restart.NoReason {
		best.Decision = r.refusal.decision()
	}
	if r.holds {
		x.weigh(&best, machine, &facts)
	}
	return best
}

// rank decides about each candidate for a copy again, because the last decision about it may be as old as its last
// report. It sorts the candidates that should be copied by their gain. It removes the candidates that should no longer
// be copied, and sets the argument best to the best of the restarts and kills. If the policy refuses the slot to all
// candidates at once, rank returns false.
//
// These decisions are about no machine: a new attempt would run on a machine that suits it. So a machine that suits no
// candidate takes no candidate away from the machines that ask after it.
func (x *phase) rank(best *verdict, facts *restart.Phase) bool {
	r := &x.ranking
	dropped := r.scratch[:0]
	r.list, r.refusal = r.list[:0], refusal{}
	anywhere := *facts
	anywhere.Peers.Machine = restart.MachineProgress{}
	for _, task := range x.book.candidates {
		v := x.decide(task, none, &anywhere)
		switch {
		case v.Action == restart.Copy:
			r.list = heap.Push(r.list, ranked{v.Gain, task}, x.ranksBefore)
		case v.Action != restart.Keep:
			best.better(&v)
		case blocked(v.Reason):
			r.refusal = refusalOf(&v.Decision)
			if x.refused(v.Reason) {
				return false
			}
		}
		if !v.wants {
			dropped = append(dropped, ranked{task: task})
		}
	}
	for _, c := range dropped {
		x.book.dropCandidate(c.task)
	}
	r.scratch = dropped
	return true
}

// weigh decides about the tasks whose copies gain most, now for a copy on the machine that asks. It stores the best
// verdict in best. A task that should have no copy there stays a candidate, because the verdict is about this machine.
func (x *phase) weigh(best *verdict, machine int, facts *restart.Phase) {
	r := &x.ranking
	back := r.scratch[:0]
	most, refusals := 1, 0
	if x.fleet.record != nil || x.fleet.path != nil {
		most = headOfRanking
	}
	for most > 0 && refusals < headOfRanking && len(r.list) > 0 {
		var c ranked
		c, r.list = heap.Pop(r.list, x.ranksBefore)
		if x.book.tasks[c.task].candidate == none {
			continue // the task is no longer a candidate: it has its copy
		}
		v := x.decide(c.task, machine, facts)
		if v.Action == restart.Copy && machine != none && v.Avoid.Has(machine) {
			v.Decision = restart.Decision{Reason: restart.SameMachine}
		} else if v.Action == restart.Keep && x.fleet.path == nil {
			refusals++
		}
		back = append(back, c)
		if v.Action != restart.Keep {
			best.better(&v)
			most--
		} else if best.task == none && blocked(v.Reason) {
			best.Decision = refusalOf(&v.Decision).decision()
		}
		if x.refused(v.Reason) {
			break
		}
	}
	for _, c := range back {
		r.list = heap.Push(r.list, c, x.ranksBefore)
	}
	r.scratch = back
}

// better replaces v by the other verdict if the other verdict gains more, or if it gains the same for a task with a
// lower index.
func (v *verdict) better(other *verdict) {
	if v.task == none || other.Gain > v.Gain || other.Gain == v.Gain && other.task < v.task {
		*v = *other
	}
}

// refused reports whether the policy refuses a slot to all tasks if it refuses the slot to a single task for this
// reason. The answer is no while a machine is about to leave, because a task on this machine may get a copy against
// the policy's answer.
func (x *phase) refused(why restart.Reason) bool {
	return x.judge.reads.CopiesOnly && x.fleet.leaving == 0 && blocked(why) && why != restart.SameMachine
}

// ranking is the list of candidates, sorted at one time by the gain of their copies. It saves decisions. Let n slots
// be idle and n tasks be candidates. With a ranking they need n decisions, and a few more for each slot. Without it,
// they need n decisions for each slot. A ranking becomes invalid at any event other than the offer of a slot or the
// start of a copy.
type ranking struct {
	holds   bool          // the ranking is valid
	at      time.Duration // time at which the candidates were sorted
	allowed bool          // the budget allowed one more copy at that time
	list    []ranked      // a heap
	refusal refusal
	scratch []ranked // memory of rank and weigh
}

// keep makes the ranking invalid, unless it is still valid after an event.
func (rk *ranking) keep(valid bool) { rk.holds = rk.holds && valid }

// refusal is the part of a decision that is about the slot, without the numbers of the task.
type refusal struct {
	reason   restart.Reason
	compared restart.Comparison
}

func refusalOf(d *restart.Decision) refusal { return refusal{d.Reason, d.Comparison} }

// decision returns a decision that keeps the task because of the refusal.
func (rf refusal) decision() restart.Decision {
	return restart.Decision{Reason: rf.reason, Comparison: rf.compared}
}

// ranked is a task that is worth a copy, with the gain of the copy.
type ranked struct {
	gain time.Duration
	task int32
}

// ranksBefore is the order of the tasks that are worth a copy: larger gain first, then lower index.
func (x *phase) ranksBefore(a, b ranked) bool {
	return a.gain > b.gain || a.gain == b.gain && x.book.index(a.task) < x.book.index(b.task)
}
