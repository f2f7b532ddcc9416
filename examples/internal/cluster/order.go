package cluster

import (
	"errors"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/gate"
	"github.com/straggler-go/straggler/fairshare/preempt"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Order decides which job gets the next free slot. The zero value is fair sharing among all jobs.
type Order struct {
	// Pools are the pools of the jobs, each with the discipline of its children; nil: no pools.
	Pools []fairshare.Pool
	// Policy divides the slots among the pools, or among the jobs if there are no pools. For first in, first out, in
	// the order of Config.Jobs, use fairshare.Policy{Discipline: FIFO}.
	Policy fairshare.Policy
	// Laxity replaces both fields above: jobs with deadlines, in the order of this policy.
	Laxity *laxity.Policy
	// Preempt kills attempts for pools that have too few slots.
	Preempt *preempt.Config
	// Gate divides reduces into copying and computing. The reduce slots of a machine are then the number of reduces
	// in both states.
	Gate *gate.Config
}

// order decides which job gets a free slot.
type order interface {
	leave(job int32)
	// update sets the number of slots that a job uses, and the number that it still wants.
	update(job int32, kind Kind, running, wants int32)
	took(job int32, kind Kind)
	gave(job int32, kind Kind)
	// next returns the job that should get a free slot. hold excludes a job from next, or includes it again.
	next(kind Kind) (job int32, ok bool)
	hold(job int32, kind Kind, on bool)
	wants(kind Kind) bool
}

// hold excludes a job that cannot use a slot, so that the next job is asked.
func (s *sim) hold(job int32, kind Kind) {
	s.order.hold(job, kind, true)
	s.passed = append(s.passed, slotOf{job, kind})
}

// readmit includes the excluded jobs again, except the first ones.
func (s *sim) readmit(first int) {
	for _, p := range s.passed[first:] {
		s.order.hold(p.job, p.kind, false)
	}
	s.passed = s.passed[:first]
}

// setAdapters creates the adapters that call the library.
func (s *sim) setAdapters() error {
	var errs [9]error
	s.wait, errs[0] = newLocality(s.c)
	s.forecast, errs[1] = newForecast(s)
	if s.c.Order.Laxity != nil {
		s.order, errs[2] = newLaxityOrder(s)
	} else {
		s.order, errs[2] = newFairOrder(s)
	}
	s.door, errs[3] = newDoor(s.c.Order.Gate)
	s.watchman, errs[4] = newWatchman(s)
	s.assigner, errs[5] = newAssigner(s)
	s.overload, errs[6] = newOverload(s)
	s.clones, errs[7] = newCloner(s)
	s.guard, errs[8] = newGuard(s)
	if s.c.LearnMachines {
		s.knowledge = new(tracker.Knowledge)
	}
	return errors.Join(errs[:]...)
}

// begin prepares the adapters for a phase that opens.
func (s *sim) begin(id int32, facts *Phase) {
	s.clones.admit(s, id)
	s.assigner.open(s, id)
	s.watchPhase(id, facts)
	s.placeTasks(id, facts)
}

// tellOrder updates the order with the slots that jobs use and want.
func (s *sim) tellOrder() {
	for _, id := range s.touched {
		j := &s.jobs[id]
		j.touched = false
		for k := range j.waiting {
			s.order.update(id, Kind(k), j.running[k]+j.unheard[k], j.waiting[k]+j.wishes[k])
		}
	}
	s.touched = s.touched[:0]
}
