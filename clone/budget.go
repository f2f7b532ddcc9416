package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/exact"
)

// Budget decides which jobs are cloned. It knows how many slots are charged to cloning now, which the paper calls
// B_U [Dolly §3.2-3.3, Pseudocode 1]. If the host restarts while clones run, call [Budget.Readmit] to charge them
// to the new Budget.
//
// The zero value is a Budget with the paper's configuration. A Budget is not safe for concurrent use. Use one
// Budget for each cluster.
//
// In two points Budget follows the text of the paper, where the pseudocode is different. The largest number of
// busy slots is τC, a share τ of the C slots of the cluster; the pseudocode compares slots with the share τ
// itself. And no slots are charged for a job that needs only one attempt of each task, because such a job is not
// cloned.
type Budget struct {
	config Config
	spent  int
	ledger []entry
	free   int32 // an unused entry of the ledger, counted from 1; 0 if every entry is in use
}

// Grant identifies a cloned job in the [Budget] that admitted the job. It has no meaning for another Budget. A
// Grant is valid until all cloned tasks of the job are released, or the clones are cancelled. After that it
// identifies no job, even if a later job uses the same entry of the Budget. The zero Grant identifies no job.
type Grant struct {
	index      int32
	generation int64
}

// MarshalBinary returns no bytes, because a Grant has no meaning in another process. UnmarshalBinary sets g to the
// zero Grant.
func (g Grant) MarshalBinary() ([]byte, error)     { return nil, nil }
func (g *Grant) UnmarshalBinary(data []byte) error { *g = Grant{}; return nil }

// entry describes a job that is cloned. An entry may also be unused.
type entry struct {
	generation int64
	size       int   // number of tasks of the job
	tasks      int   // number of cloned tasks that have not ended; 0 in an unused entry
	clones     int   // number of clones of each cloned task
	next       int32 // in an unused entry: another unused entry, counted from 1, or 0
}

// NewBudget returns a Budget to which no slots are charged. It returns an error for the first field of c that is
// out of range.
func NewBudget(c Config) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Budget{config: c.Effective()}, nil
}

// Config returns the configuration with its zero fields replaced by their defaults.
func (b *Budget) Config() Config { return b.config.Effective() }

// Spent returns the number of slots that are charged to cloning now. The paper calls it B_U.
func (b *Budget) Spent() int { return b.spent }

// preview returns the decision that [Budget.Admit] would return, and charges no slots. The Grant of the decision
// is zero. Cost: O(1), no allocation.
func (b *Budget) preview(job Job, now Cluster) Decision {
	d, c := b.count(job, now)
	if c == 0 {
		return d
	}
	d.Wanted = c
	d.Budget, d.Ceiling = b.limits(now)
	b.project(&d, job, now, c, job.Tasks)
	switch {
	case over(d.Spent, d.Budget):
		d.Reason = OverBudget
	case over(d.Busy, d.Ceiling):
		d.Reason = OverCeiling
	default:
		d.Action, d.Reason, d.Clones, d.Tasks = Clone, RoomForAll, c, job.Tasks
		return d
	}
	return b.grantPart(d, job, now)
}

// Admit decides how many clones of each task of a job, or of a phase of a job, to launch. It charges their slots
// to the budget. Call it once for each job, before the first task of the job is launched. Admit never exceeds the
// limits for the given cluster. If the cluster becomes smaller later, the charged slots may exceed the new limits.
// Cost: O(1); Admit allocates only if more jobs are cloned at the same time than ever before.
func (b *Budget) Admit(job Job, now Cluster) Decision {
	d := b.preview(job, now)
	if d.Action != Clone {
		return d
	}
	b.spent = d.Spent
	d.Grant = b.enter(job.Tasks, d.Tasks, d.Clones)
	return d
}

// Readmit charges the slots of a job that was cloned before the host restarted. size is the number of tasks of the
// job. tasks is the number of cloned tasks that still run. clones is the number of clones of each such task.
// Readmit ignores the limits, because the clones run already. If the charged slots exceed the limit, Admit clones
// no job until enough tasks have ended.
//
// If tasks is 0, or clones is less than 2, the job is not cloned. Readmit then charges no slots and returns the
// zero Grant. Cost: O(1); Readmit allocates like [Budget.Admit].
func (b *Budget) Readmit(size, tasks, clones int) Grant {
	if tasks < 1 || clones < 2 {
		return Grant{}
	}
	spent := exact.Add(b.spent, exact.Mul(tasks, b.charge(clones)))
	if spent == math.MaxInt {
		return Grant{} // too large for every cluster; and such a charge could not be given back
	}
	b.spent = spent
	return b.enter(max(size, tasks), tasks, clones)
}

// enter writes a job into an entry of the ledger and returns the Grant that identifies the job.
func (b *Budget) enter(size, tasks, clones int) Grant {
	if b.free == 0 {
		b.ledger = append(b.ledger, entry{})
		b.free = int32(len(b.ledger))
	}
	i := b.free - 1
	e := &b.ledger[i]
	b.free = e.next
	*e = entry{generation: e.generation + 1, size: size, tasks: tasks, clones: clones}
	return Grant{index: i, generation: e.generation}
}

// limits returns the largest number of slots that may be charged to cloning, and the largest number of slots that
// may be busy.
func (b *Budget) limits(now Cluster) (budget, ceiling int) {
	return slots(b.config.BudgetShare, now.Capacity), slots(b.config.Ceiling, now.Capacity)
}

// count returns how many clones of each task the job needs. If the job must not be cloned, or needs no clones, the
// number is 0 and the Reason of the Decision says why.
func (b *Budget) count(job Job, now Cluster) (Decision, int) {
	if b.config.AcceptableRisk == 0 { // true only for the zero Budget
		b.config = b.config.Effective()
	}
	d := Decision{Clones: 1}
	switch {
	case job.Tasks < 1:
		d.Reason = NoTasks
	case job.NoCopy:
		d.Reason = NotEligible
	case !(now.Straggler >= 0 && now.Straggler < 1):
		d.Reason = NoEstimate
	default:
		c := count(job.Tasks, now.Straggler, b.config.AcceptableRisk)
		switch {
		case c == 1:
			d.Reason = OneSuffices
		case job.Upstream == 1:
			d.Reason = UpstreamSingle
		case job.Upstream > 1:
			return d, min(c, job.Upstream)
		default:
			return d, c
		}
	}
	return d, 0
}

// project sets d.Spent and d.Busy to the charged slots and the busy slots after a launch. In this launch the first
// tasks of the job, as many as the argument tasks says, get c clones each. Each other task gets one attempt.
func (b *Budget) project(d *Decision, job Job, now Cluster, c, tasks int) {
	d.Spent = exact.Add(b.spent, exact.Mul(b.charge(c), tasks))
	d.Busy = exact.Add(exact.Add(max(now.Busy, 0), job.Tasks), exact.Mul(c-1, tasks))
}

// charge returns how many slots are charged for a task with c clones.
func (b *Budget) charge(c int) int {
	if b.config.Charge == ExtraClones {
		return c - 1
	}
	return c
}

// grantPart changes the decision about a job for which there is not enough room. If the configured Shortage allows
// it, the job gets fewer clones of each task, or clones of its first tasks only.
func (b *Budget) grantPart(d Decision, job Job, now Cluster) Decision {
	budget := max(0, d.Budget-b.spent)                               // slots that may still be charged
	idle := max(0, d.Ceiling-exact.Add(max(now.Busy, 0), job.Tasks)) // slots that may still become busy
	clones, tasks := d.Wanted, job.Tasks
	var reason Reason
	switch b.config.Shortage {
	case FewerClones:
		uncharged := clones - b.charge(clones) // clones of each task for which no slot is charged: 0 or 1
		clones = min(clones, exact.Add(budget/tasks, uncharged), exact.Add(idle/tasks, 1))
		reason = RoomForFewer
	case FirstTasks:
		tasks = min(tasks, budget/b.charge(clones), idle/(clones-1))
		reason = RoomForSome
	default:
		return d
	}
	if clones < 2 || tasks < 1 {
		return d
	}
	b.project(&d, job, now, clones, tasks)
	d.Action, d.Reason, d.Clones, d.Tasks = Clone, reason, clones, tasks
	return d
}

// Release gives back the slots of cloned tasks that have ended, whether they succeeded, failed or were killed.
// tasks is the number of such tasks. Before the call, kill all their other clones. The result is the
// number of slots. If tasks is larger than the number of cloned tasks that run, Release gives back the slots of
// all. If the grant is not valid, the result is 0. Cost: O(1), no allocation.
func (b *Budget) Release(g Grant, tasks int) int {
	e := b.find(g)
	if e == nil || tasks < 1 {
		return 0
	}
	tasks = min(tasks, e.tasks)
	e.tasks -= tasks
	back := tasks * b.charge(e.clones)
	b.spent -= back
	if e.tasks == 0 {
		e.next, b.free = b.free, g.index+1
	}
	return back
}

// Cancel gives back the slots of all cloned tasks of a job. Call it if all clones of the job were killed, or if
// the job is gone. The result is the number of slots. Cost: O(1), no allocation.
func (b *Budget) Cancel(g Grant) int { return b.Release(g, math.MaxInt) }

// find returns the entry of the job that a grant identifies, or nil if the grant is not valid.
func (b *Budget) find(g Grant) *entry {
	if g.generation < 1 || int(g.index) >= len(b.ledger) {
		return nil
	}
	e := &b.ledger[g.index]
	if e.generation != g.generation || e.tasks == 0 {
		return nil
	}
	return e
}

// over reports whether the number of used slots is above the limit. The largest int is above every limit, even if
// there is no limit. It is the result of a sum that is too large for an int, and such a charge could not be given
// back.
func over(used, limit int) bool { return used > limit || used == math.MaxInt }
