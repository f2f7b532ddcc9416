package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/exact"
)

// Budget decides which jobs are cloned, and keeps the account B_U of the slots that cloning is charged with [Dolly
// §3.2-3.3, Pseudocode 1]. A host that starts again while clones run tells a new one of them by [Budget.Readmit].
//
// The zero value is a Budget with the paper's configuration. Not safe for concurrent use; one per cluster.
//
// Two points of the pseudocode are read as the text means them. The ceiling is τC slots: τ, a fraction, is printed
// where slots are compared. And a job for which one copy of each task suffices is not charged: it is not cloned.
type Budget struct {
	config Config
	spent  int
	ledger []entry
	free   int32 // the first entry of the ledger that is not in use, counted from 1; 0 if there is none
}

// Grant names a cloned job in the [Budget] that gave it; ask no other one about it. It stays valid until the job's last
// cloned task is released or its clones are cancelled, after which it means nothing, even to a later job. The zero
// Grant names no job.
type Grant struct {
	index      int32
	generation int64
}

// MarshalBinary returns no bytes, and UnmarshalBinary makes g the zero Grant: another process has another budget.
func (g Grant) MarshalBinary() ([]byte, error)     { return nil, nil }
func (g *Grant) UnmarshalBinary(data []byte) error { *g = Grant{}; return nil }

// entry is a job that is cloned, or was.
type entry struct {
	generation int64
	size       int   // tasks of the job
	tasks      int   // cloned tasks that have not ended
	copies     int   // of each of them
	next       int32 // of an entry that is not in use, the next of these, counted from 1
}

// NewBudget returns a Budget that nothing is charged to, or an error that names the field that is out of range.
func NewBudget(c Config) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Budget{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (b *Budget) Config() Config { return b.config.Effective() }

// Spent returns B_U, the number of slots that cloning is charged with now.
func (b *Budget) Spent() int { return b.spent }

// Preview answers as [Budget.Admit] would, and charges nothing: its Grant is zero. O(1), no allocation.
func (b *Budget) Preview(job Job, now Cluster) Decision {
	d, c := b.count(job, now)
	if c == 0 {
		return d
	}
	d.Wanted = c
	d.Budget, d.Ceiling = b.limits(now)
	b.place(&d, job, now, c, job.Tasks)
	switch {
	case over(d.Spent, d.Budget):
		d.Reason = OverBudget
	case over(d.Busy, d.Ceiling):
		d.Reason = OverCeiling
	default:
		d.Action, d.Reason, d.Copies, d.Tasks = Clone, RoomForAll, c, job.Tasks
		return d
	}
	return b.partly(d, job, now)
}

// Admit decides how many copies of each task of a job, or of a phase, are launched, and charges them to the budget. Ask
// once, when the first task is about to be launched, one job at a time. It never exceeds the limits of the cluster that
// it is shown; a cluster that shrinks may leave more charged than it would grant now. O(1); allocates only when more
// jobs are cloned at once than ever before.
func (b *Budget) Admit(job Job, now Cluster) Decision {
	d := b.Preview(job, now)
	if d.Action != Clone {
		return d
	}
	b.spent = d.Spent
	d.Grant = b.enter(job.Tasks, d.Tasks, d.Copies)
	return d
}

// Readmit charges a job that was cloned before the host restarted: of its size tasks, tasks are still running, each in
// copies copies. It is charged whatever the limits say, since it runs; a budget that is overdrawn admits nothing until
// enough has ended. A job without cloned tasks or with fewer than two
// copies of each is not cloned: it is not charged, and its Grant is zero. O(1); allocates as [Budget.Admit] does.
func (b *Budget) Readmit(size, tasks, copies int) Grant {
	if tasks < 1 || copies < 2 {
		return Grant{}
	}
	spent := exact.Add(b.spent, exact.Mul(tasks, b.charge(copies)))
	if spent == math.MaxInt {
		return Grant{} // beyond any cluster, and what is charged must be known to be given back
	}
	b.spent = spent
	return b.enter(max(size, tasks), tasks, copies)
}

// enter puts a job into the ledger.
func (b *Budget) enter(size, tasks, copies int) Grant {
	if b.free == 0 {
		b.ledger = append(b.ledger, entry{})
		b.free = int32(len(b.ledger))
	}
	i := b.free - 1
	e := &b.ledger[i]
	b.free = e.next
	*e = entry{generation: e.generation + 1, size: size, tasks: tasks, copies: copies}
	return Grant{index: i, generation: e.generation}
}

// limits returns the most that may be charged, and that may be in use.
func (b *Budget) limits(now Cluster) (budget, ceiling int) {
	return slots(b.config.BudgetShare, now.Capacity), slots(b.config.Ceiling, now.Capacity)
}

// count returns how many copies of each task are wanted, 0 if the job is not to be cloned, as the decision explains.
func (b *Budget) count(job Job, now Cluster) (Decision, int) {
	if b.config.AcceptableRisk == 0 { // of the zero Budget
		b.config = b.config.Effective()
	}
	d := Decision{Copies: 1}
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

// place sets what the budget and the cluster come to if the first tasks of the job get c copies and the rest one.
func (b *Budget) place(d *Decision, job Job, now Cluster, c, tasks int) {
	d.Spent = exact.Add(b.spent, exact.Mul(b.charge(c), tasks))
	d.Busy = exact.Add(exact.Add(max(now.Busy, 0), job.Tasks), exact.Mul(c-1, tasks))
}

// charge returns what a task with c copies costs of the budget.
func (b *Budget) charge(c int) int {
	if b.config.Charge == ExtraCopies {
		return c - 1
	}
	return c
}

// partly gives a job that is denied what there is room for, if the policy says so.
func (b *Budget) partly(d Decision, job Job, now Cluster) Decision {
	budget := max(0, d.Budget-b.spent)                               // free slots of the budget
	idle := max(0, d.Ceiling-exact.Add(max(now.Busy, 0), job.Tasks)) // free slots for copies beyond the first
	copies, tasks := d.Wanted, job.Tasks
	var reason Reason
	switch b.config.Shortage {
	case FewerCopies:
		uncharged := copies - b.charge(copies) // of the copies of each task
		copies = min(copies, exact.Add(budget/tasks, uncharged), exact.Add(idle/tasks, 1))
		reason = RoomForFewer
	case FirstTasks:
		tasks = min(tasks, budget/b.charge(copies), idle/(copies-1))
		reason = RoomForSome
	default:
		return d
	}
	if copies < 2 || tasks < 1 {
		return d
	}
	b.place(&d, job, now, copies, tasks)
	d.Action, d.Reason, d.Copies, d.Tasks = Clone, reason, copies, tasks
	return d
}

// Release says that a number of cloned tasks of the job have ended, in any way, and their other copies are killed; it
// gives their slots back and returns how many slots of the budget these were. More tasks than are left count as all
// that are left. A grant that is not valid any more gives nothing back. O(1), no allocation.
func (b *Budget) Release(g Grant, tasks int) int {
	e := b.find(g)
	if e == nil || tasks < 1 {
		return 0
	}
	tasks = min(tasks, e.tasks)
	e.tasks -= tasks
	back := tasks * b.charge(e.copies)
	b.spent -= back
	if e.tasks == 0 {
		e.next, b.free = b.free, g.index+1
	}
	return back
}

// Cancel says that all clones of the job are killed, or that it is gone: it releases all of the job's tasks and returns
// how many slots of the budget they gave back. O(1), no allocation.
func (b *Budget) Cancel(g Grant) int { return b.Release(g, math.MaxInt) }

// find returns the entry of a valid grant, or nil.
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

// over reports whether a number is above its limit. One that saturated is above any, also where there is no limit: what
// is charged must be known to be given back.
func over(used, limit int) bool { return used > limit || used == math.MaxInt }
