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
		if j.reads.CopiesOnly {
			v := j.decide(j.book.candidates.list[0], machine, &facts)
			if j.refused(v.Reason) {
				r.holds, best.Decision = false, refusalOf(&v.Decision).decision()
				return best
			}
		}
		r.at, r.allowed = j.book.now, allowed
		r.holds = j.rank(&best, &facts)
	}
	if best.task == none && r.refusal.reason != restart.NoReason {
		best.Decision = r.refusal.decision()
	}
	if r.holds {
		j.weigh(&best, machine, &facts)
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
func (j *judge) rank(best *verdict, facts *restart.Phase) bool {
	r, dropped := &j.ranking, j.scratch[:0]
	r.list, r.refusal = r.list[:0], refusal{}
	anywhere := *facts
	anywhere.Peers.Machine = restart.MachineProgress{}
	for _, task := range j.book.candidates.list {
		v := j.decide(task, none, &anywhere)
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

// weigh decides about the tasks whose copies gain most, now for a copy on the machine that asks. It stores the best
// verdict in best. A task that should have no copy there stays a candidate, because the verdict is about this machine.
func (j *judge) weigh(best *verdict, machine int, facts *restart.Phase) {
	r, back := &j.ranking, j.scratch[:0]
	most, refusals := 1, 0
	if j.fleet.record != nil || j.fleet.path != nil {
		most = headOfRanking
	}
	for most > 0 && refusals < headOfRanking && len(r.list) > 0 {
		var x ranked
		x, r.list = heap.Pop(r.list, before)
		if j.book.tasks[x.task].candidate == none {
			continue // the task is no longer a candidate: it has its copy
		}
		v := j.decide(x.task, machine, facts)
		if v.Action == restart.Copy && machine != none && v.Avoid.Has(machine) {
			v.Decision = restart.Decision{Reason: restart.SameMachine}
		} else if v.Action == restart.Keep && j.fleet.path == nil {
			refusals++
		}
		back = append(back, x)
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
func (j *judge) refused(why restart.Reason) bool {
	return j.reads.CopiesOnly && j.fleet.leaving == 0 && blocked(why) && why != restart.SameMachine
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
}

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

// before is the order of the tasks that are worth a copy: larger gain first, then lower index.
func before(a, b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }
