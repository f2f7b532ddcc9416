package cluster

import (
	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/gate"
	"github.com/straggler-go/straggler/fairshare/preempt"
	"github.com/straggler-go/straggler/laxity"
)

// Order says who gets the next free slot. Its zero value is fair sharing among all jobs.
type Order struct {
	// Pools are the pools that jobs belong to, each with its children's discipline; nil: none, each job for itself.
	Pools []fairshare.Pool
	// Policy divides among the pools, or among the jobs if there are no pools. FIFO is fairshare.Policy{Discipline: FIFO}:
	// jobs in the order of Config.Jobs.
	Policy fairshare.Policy
	// Laxity, if it is set, takes the place of both: jobs with deadlines in the order of that policy.
	Laxity *laxity.Policy
	// Preempt kills tasks for pools that starve.
	Preempt *preempt.Config
	// Gate splits reduces into copying and computing. The machines' reduce slots are then how many may be there in all.
	Gate *gate.Config
}

// order is what the simulation asks about whose task is next.
type order interface {
	arrive(job int32)
	leave(job int32)
	// update says how many slots a job holds, and how many more it wants.
	update(job int32, kind Kind, running, wants int32)
	took(job int32, kind Kind)
	gave(job int32, kind Kind)
	// next is the job that a free slot should go to; hold passes a job over. mark is how many are held, and release lets
	// go of all but the first so many.
	next(kind Kind) (job int32, ok bool)
	hold(job int32, kind Kind)
	mark() int
	release(mark int)
	wants(kind Kind) bool
}

// setAdapters makes what asks the library.
func (s *sim) setAdapters() (err error) {
	if s.wait, err = newLocality(s.c); err != nil {
		return err
	}
	if s.forecast, err = newForecast(s); err != nil {
		return err
	}
	if s.c.Order.Laxity != nil {
		s.order, err = newLaxityOrder(s)
	} else {
		s.order, err = newFairOrder(s)
	}
	if err != nil {
		return err
	}
	if s.door, err = newDoor(s.c.Order.Gate); err != nil {
		return err
	}
	if s.watchman, err = newWatchman(s); err != nil {
		return err
	}
	if s.disks, err = newDisks(s); err != nil {
		return err
	}
	if s.assigner, err = newAssigner(s); err != nil {
		return err
	}
	if s.overload, err = newOverload(s); err != nil {
		return err
	}
	if s.clones, err = newCloner(s); err != nil {
		return err
	}
	if s.banned, err = newBanned(s); err != nil {
		return err
	}
	if s.links, err = newLinks(s); err != nil {
		return err
	}
	if s.learned, err = newMachineSpeeds(s); err != nil {
		return err
	}
	if s.guard, err = newGuard(s); err != nil {
		return err
	}
	s.shared, err = newSharedBudget(s)
	return err
}

// begin prepares what is asked about a phase as it opens.
func (s *sim) begin(id int32, facts *Phase) {
	s.clones.admit(s, id)
	s.assigner.open(s, id)
	s.watchPhase(id, facts)
	s.placeTasks(id, facts)
}

// tellOrder tells the order what jobs want now.
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
