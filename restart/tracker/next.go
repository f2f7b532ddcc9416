package tracker

import (
	"time"

	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/restart"
)

const (
	rankingParts  = 64 // a ranking holds for this part of an interval; gains change too little in that time to matter
	headOfRanking = 8  // best candidates that are decided about for the machine that asks; it may differ from others
)

// best returns the verdict about the candidate that gains most from a free slot on a machine. If no candidate is worth
// a copy there, the task is -1, and the decision says why the slot is refused. Some policies refuse a slot to all
// candidates at once; then best asks about no further candidate and changes nothing.
func (j *judge) best(machine int) verdict {
	best := verdict{task: none}
	best.Reason = restart.NothingToDo
	if len(j.book.candidates.list) == 0 {
		return best
	}
	facts := *j.phaseFacts()
	facts.FreeSlots = max(facts.FreeSlots, 1)
	facts.Peers.Machine = j.fleet.asking(machine)
	r, allowed := &j.ranking, j.budget == nil || j.budget.Allows()
	if !r.holds || r.allowed != allowed || j.fleet.path != nil || j.book.now-r.at > j.facts.Interval/rankingParts {
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

// rank decides about each candidate again, because the last decision is as old as the last report. It drops the
// candidates that want no slot any more, because they are kept, restarted or killed. It puts the best restart or kill
// into best. It returns false if the slot is refused to all candidates.
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

// weigh decides about the first candidates of the ranking for the machine that asks, and puts the best verdict into
// best.
func (j *judge) weigh(best *verdict, machine int, facts *restart.Phase) {
	r, back := &j.ranking, j.scratch[:0]
	most := 1
	if j.fleet.record != nil || j.fleet.path != nil {
		most = headOfRanking
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

// better replaces v by a verdict that gains more, or that gains the same for a lower index.
func (v *verdict) better(other *verdict) {
	if v.task == none || other.Gain > v.Gain || other.Gain == v.Gain && other.task < v.task {
		*v = *other
	}
}

// refused reports whether a slot that is refused to one task for this reason is refused to all tasks. While a machine
// leaves, another task may still get a copy against the policy's answer.
func (j *judge) refused(why restart.Reason) bool {
	return j.reads.CopiesOnly && j.fleet.leaving == 0 && blocked(why) && why != restart.SameMachine
}

// ranking orders the candidates by the gain of their copies at one instant. With it, n idle slots for n candidates
// take n decisions and a few for each slot, and not n decisions for each slot. It holds until another event than the
// start of such a copy comes.
type ranking struct {
	holds   bool
	at      time.Duration
	allowed bool     // the budget allowed one more copy
	list    []ranked // a heap
	refusal refusal
}

// refusal is the part of a decision that concerns the slot, without the numbers of the task.
type refusal struct {
	reason   restart.Reason
	compared restart.Comparison
}

func refusalOf(d *restart.Decision) refusal { return refusal{d.Reason, d.Comparison} }

func (rf refusal) decision() restart.Decision {
	return restart.Decision{Reason: rf.reason, Comparison: rf.compared}
}

type ranked struct {
	gain time.Duration
	task int32
}

func before(a, b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }
