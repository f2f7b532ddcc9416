package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/exact"
)

// Budget decides which jobs are cloned, and counts B_U, the slots charged to cloning [Dolly §3.2-3.3, Pseudocode 1]. If a
// host restarts while clones run, it tells a new Budget about them with [Budget.Readmit].
//
// The zero value is a Budget with the paper's configuration. A Budget is not safe for concurrent use; a cluster needs one.
//
// Two points of the pseudocode follow the paper's text. The ceiling is τC slots; the pseudocode compares slots with the
// share τ itself. And a job that needs only one attempt of each task is not charged, because it is not cloned.
type Budget struct {
	config Config
	spent  int
	ledger []entry
	free   int32 // first unused entry of the ledger, counted from 1; 0 if every entry is in use
}

// Grant names a cloned job in the [Budget] that admitted the job. Other Budgets do not know the Grant. The Grant is
// valid until the job's last cloned task is released or until the clones are cancelled. Afterwards the Grant has no
// meaning, even if a later job takes its entry. The zero Grant names no job.
type Grant struct {
	index      int32
	generation int64
}

// MarshalBinary returns no bytes, and UnmarshalBinary sets g to the zero Grant, because another process has another budget.
func (g Grant) MarshalBinary() ([]byte, error)     { return nil, nil }
func (g *Grant) UnmarshalBinary(data []byte) error { *g = Grant{}; return nil }

// entry is a job that is cloned, or an unused entry.
type entry struct {
	generation int64
	size       int   // number of tasks of the job
	tasks      int   // number of cloned tasks that have not ended
	clones     int   // clones of each cloned task
	next       int32 // in an unused entry: the next unused entry, counted from 1
}

// NewBudget returns a Budget without charges. The error names the field that is out of range.
func NewBudget(c Config) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Budget{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (b *Budget) Config() Config { return b.config.Effective() }

// Spent returns B_U, the number of slots that are charged to cloning now.
func (b *Budget) Spent() int { return b.spent }

// Preview returns the decision of [Budget.Admit] without a charge. Its Grant is zero. O(1), no allocation.
func (b *Budget) Preview(job Job, now Cluster) Decision {
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

// Admit decides how many clones of each task of a job, or of a phase, to launch, and charges them to the budget. Call it
// once for each job, before its first task is launched. Admit never exceeds the limits of the given cluster. If the
// cluster shrinks later, the charges may be above the new limits. O(1); it allocates only if more jobs are cloned at once
// than ever before.
func (b *Budget) Admit(job Job, now Cluster) Decision {
	d := b.Preview(job, now)
	if d.Action != Clone {
		return d
	}
	b.spent = d.Spent
	d.Grant = b.enter(job.Tasks, d.Tasks, d.Clones)
	return d
}

// Readmit charges a job that was cloned before the host restarted. size is the number of tasks of the job. tasks is the
// number of cloned tasks that still run. clones is the number of clones of each running task. Readmit ignores the limits,
// because the clones run already. A budget above its limit admits no job until enough tasks have ended.
//
// A job without a running task, or with fewer than two clones for each task, is not cloned: Readmit then charges no
// slots and returns the zero Grant. O(1); it allocates as [Budget.Admit] does.
func (b *Budget) Readmit(size, tasks, clones int) Grant {
	if tasks < 1 || clones < 2 {
		return Grant{}
	}
	spent := exact.Add(b.spent, exact.Mul(tasks, b.charge(clones)))
	if spent == math.MaxInt {
		return Grant{} // the charge exceeds every cluster, and a saturated charge could not be given back
	}
	b.spent = spent
	return b.enter(max(size, tasks), tasks, clones)
}

// enter adds a job to the ledger.
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

// limits returns the largest allowed charge, and the largest allowed number of busy slots.
func (b *Budget) limits(now Cluster) (budget, ceiling int) {
	return slots(b.config.BudgetShare, now.Capacity), slots(b.config.Ceiling, now.Capacity)
}

// count returns the wanted number of clones of each task. If the job must not be cloned, the number is 0 and the decision
// explains why.
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

// project sets Spent and Busy to their values if the first tasks get c clones and each other task gets one attempt.
func (b *Budget) project(d *Decision, job Job, now Cluster, c, tasks int) {
	d.Spent = exact.Add(b.spent, exact.Mul(b.charge(c), tasks))
	d.Busy = exact.Add(exact.Add(max(now.Busy, 0), job.Tasks), exact.Mul(c-1, tasks))
}

// charge returns the slots of the budget that a task with c clones costs.
func (b *Budget) charge(c int) int {
	if b.config.Charge == ExtraClones {
		return c - 1
	}
	return c
}

// grantPart grants the part of a denied job that fits, if the configured Shortage allows it.
func (b *Budget) grantPart(d Decision, job Job, now Cluster) Decision {
	budget := max(0, d.Budget-b.spent)                               // slots that the budget has left
	idle := max(0, d.Ceiling-exact.Add(max(now.Busy, 0), job.Tasks)) // slots for clones in addition to first attempts
	clones, tasks := d.Wanted, job.Tasks
	var reason Reason
	switch b.config.Shortage {
	case FewerClones:
		uncharged := clones - b.charge(clones) // clones of each task that cost nothing
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

// Release tells the budget that some cloned tasks of the job have ended in any way, and that their other clones are
// killed. Release gives back the slots of these tasks and returns the number of slots. If tasks exceeds the running
// tasks, Release counts all running tasks. An invalid grant gives back no slots. O(1), no allocation.
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

// Cancel tells the budget that all clones of the job are killed, or that the job is gone. Cancel releases all tasks
// of the job and returns the number of slots that it gave back. O(1), no allocation.
func (b *Budget) Cancel(g Grant) int { return b.Release(g, math.MaxInt) }

// find returns the entry of a grant, or nil if the grant is invalid.
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

// over reports whether a number of slots is above its limit. A saturated number is above every limit, even above no limit,
// because a saturated charge could not be given back.
func over(used, limit int) bool { return used > limit || used == math.MaxInt }
