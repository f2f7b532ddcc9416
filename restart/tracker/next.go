package tracker

import (
	"time"

	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/restart"
)

const (
	fine   = 64 // a ranking holds for an interval divided by this: what gains change in that time does not matter
	weighs = 8  // so many of the first of a ranking are decided about for a machine that may be unlike the others
)

// best returns the candidate that gains most for a free slot on a machine; where there is none, the task -1 and why the
// slot is refused to those that want one. A slot that is refused to one task, by a policy that refuses it to all, is
// asked about no further, and nothing changes: it would be the same for each, slot after slot.
func (j *judge) best(machine int) verdict {
	best := verdict{task: none}
	best.Reason = restart.NothingToDo
	if len(j.book.candidates.list) == 0 {
		return best
	}
	facts := *j.phase()
	facts.FreeSlots = max(facts.FreeSlots, 1)
	facts.Peers.Machine = j.fleet.asking(machine)
	r, allowed := &j.ranking, j.budget == nil || j.budget.Allows()
	if !r.holds || r.allowed != allowed || j.fleet.path != nil || j.book.now-r.at > j.facts.Interval/fine {
		r.at, r.allowed = j.book.now, allowed
		r.holds = j.rank(&best, machine, &facts)
	}
	if best.task == none && r.refusal.reason != restart.NoReason {
		best.Decision = r.refusal.decision()
	}
	if r.holds {
		j.weigh(&best, machine, &facts)
	}
	return best
}

// rank decides about each candidate again, since its last decision is as old as its last report, and drops those that
// want no slot any more: to keep, to restart or to end. Of the last two it puts the best into best. It reports false if
// the slot is refused to all.
func (j *judge) rank(best *verdict, machine int, facts *restart.Phase) bool {
	r, dropped := &j.ranking, j.scratch[:0]
	r.list, r.refusal = r.list[:0], refusal{}
	for _, task := range j.book.candidates.list {
		v := j.decide(task, machine, facts)
		switch {
		case v.Action == restart.Copy:
			r.list = heap.Push(r.list, ranked{v.Gain, task}, before)
		case v.Action != restart.Keep:
			best.better(&v)
		case blocked(v.Reason):
			r.refusal = refusalOf(&v.Decision)
			if j.refused(v.Reason) {
				return false
			}
		}
		if !v.wants {
			dropped = append(dropped, ranked{task: task})
		}
	}
	for _, x := range dropped {
		j.book.candidates.drop(x.task)
	}
	j.scratch = dropped
	return true
}

// weigh decides about the first of the ranking for the machine that asks, and takes the best.
func (j *judge) weigh(best *verdict, machine int, facts *restart.Phase) {
	r, back := &j.ranking, j.scratch[:0]
	most := 1
	if j.fleet.record != nil || j.fleet.path != nil {
		most = weighs
	}
	for most > 0 && len(r.list) > 0 {
		var x ranked
		x, r.list = heap.Pop(r.list, before)
		if j.book.tasks[x.task].candidate == none {
			continue // it has its copy
		}
		v := j.decide(x.task, machine, facts)
		if v.Action == restart.Copy && machine != none && v.Avoid.Has(machine) {
			v.Decision = restart.Decision{Reason: restart.SameMachine}
		}
		if v.wants {
			back = append(back, x)
		} else {
			j.book.candidates.drop(x.task)
		}
		if v.Action != restart.Keep {
			best.better(&v)
			most--
		} else if best.task == none && blocked(v.Reason) {
			best.Decision = refusalOf(&v.Decision).decision()
		}
		if j.refused(v.Reason) {
			break
		}
	}
	for _, x := range back {
		r.list = heap.Push(r.list, x, before)
	}
	j.scratch = back
}

// better takes a verdict that gains more, or as much for a task before.
func (v *verdict) better(other *verdict) {
	if v.task == none || other.Gain > v.Gain || other.Gain == v.Gain && other.task < v.task {
		*v = *other
	}
}

// refused reports whether a slot is refused to all tasks for the reason for which it is refused to one. A machine that
// leaves may be one task's reason to have a copy in spite of the policy.
func (j *judge) refused(why restart.Reason) bool {
	return j.reads.CopiesOnly && j.fleet.leaving == 0 && blocked(why) && why != restart.SameMachine
}

// ranking is the order of the candidates by what their copies gain, as of one moment: so that to give n idle slots to n
// candidates takes n decisions and some for each slot, and not n for each. It holds while nothing changes but for the
// copies that the slots are given to.
type ranking struct {
	holds   bool
	at      time.Duration
	allowed bool     // the budget allowed one more copy
	list    []ranked // a heap
	refusal refusal
}

// refusal is what a decision says of the slot, without the numbers of the task that happened to be asked about.
type refusal struct {
	reason   restart.Reason
	compared restart.Comparison
}

func refusalOf(d *restart.Decision) refusal { return refusal{d.Reason, d.Comparison} }

func (r refusal) decision() restart.Decision {
	return restart.Decision{Reason: r.reason, Comparison: r.compared}
}

type ranked struct {
	gain time.Duration
	task int32
}

func before(a, b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }
