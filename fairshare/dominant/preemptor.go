package dominant

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// whole is a dominant share of 1, as a Preemptor counts: 2^-52 of the cluster is one unit, so that even of tasks that are
// tiny beside the cluster none is lost to rounding, and the shares of 2^11 pools still add up.
const whole = 1 << 52

// Preemptor watches which pools have had less than their dominant share for how long, and plans whose tasks to kill
// for them. The zero value watches no pools. It is a [preempt.Preemptor] that counts dominant shares in units of 2^-52, and a choice of victims that
// looks at each resource: no task is killed that holds nothing of what is lacking. A pool with children counts the
// sum of their dominant shares. It is not safe for concurrent use; one per scheduler.
type Preemptor struct {
	watch  preempt.Preemptor
	tree   *Tree
	config preempt.Config
	facts  []fairshare.Share // by pool, in units of 2^-52
	parts  []int64           // by pool: usage in the same units
	usage  []int64           // one row a position
	needs  []int64           // one row a position
	plan   planner
}

// NewPreemptor returns a Preemptor for the pools of the tree. Of the configuration it does not read ByMachine, and the
// floor is always strict. Errors name the field.
//
// Cost: O(n·m) time and memory.
func NewPreemptor(t *Tree, config preempt.Config) (*Preemptor, error) {
	if t == nil {
		return nil, check.Bad("fairshare/dominant", "t", "nil", "a tree of pools")
	}
	shape := make([]fairshare.Pool, t.Len())
	for i := range t.nodes {
		if n := &t.nodes[i]; n.parent >= 0 {
			shape[n.pool].Parent = fairshare.Under(int(t.nodes[n.parent].pool))
		}
	}
	tree, err := fairshare.New(shape, fairshare.Policy{})
	if err != nil {
		return nil, err
	}
	watch, err := preempt.New(tree, config)
	if err != nil {
		return nil, err
	}
	p := &Preemptor{watch: *watch, tree: t, config: watch.Config(), facts: make([]fairshare.Share, t.Len()),
		parts: make([]int64, t.Len())}
	p.usage, p.needs = make([]int64, len(t.task)), make([]int64, len(t.task))
	return p, nil
}

// Config returns the configuration with the defaults filled in; see [preempt.Preemptor.Config].
func (p *Preemptor) Config() preempt.Config { return p.watch.Config() }

// MarshalBinary implements [encoding.BinaryMarshaler]; see [preempt.Preemptor.MarshalBinary].
func (p *Preemptor) MarshalBinary() ([]byte, error) { return p.watch.MarshalBinary() }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]; see [preempt.Preemptor.UnmarshalBinary].
func (p *Preemptor) UnmarshalBinary(data []byte) error { return p.watch.UnmarshalBinary(data) }

// Resume takes over the waits of an older Preemptor; see [preempt.Preemptor.Resume].
func (p *Preemptor) Resume(old *Preemptor, from []int) error {
	if old == nil {
		return p.watch.Resume(nil, from)
	}
	return p.watch.Resume(&old.watch, from)
}

// Claims returns the claims that are due now, in units of 2^-52 of the cluster; see [preempt.Preemptor.Claims].
func (p *Preemptor) Claims(now time.Time) []preempt.Claim { return p.watch.Claims(now) }

// Observe tells what the pools are due, from [Tree.Shares], and what they have, want and need next, from the index. It
// keeps neither. Call it whenever either changes. It returns an error unless there is one share for each pool of the
// index.
//
// A pool starves for its minimum while its dominant share is below that of as many tasks as bring it there, and for
// its fair share while it is below the threshold of the dominant share that it is due. Of a pool with children only
// what they are guaranteed counts here.
//
// Cost: O(n·m), no allocation.
func (p *Preemptor) Observe(now time.Time, shares []Share, x *Index) error {
	switch {
	case p.tree == nil:
		return check.Bad("fairshare/dominant", "Preemptor", "zero", "one that NewPreemptor returned")
	case len(shares) != p.tree.Len():
		return check.Badf("fairshare/dominant", "len(shares)", len(shares), "one for each of the %d pools", p.tree.Len())
	case x == nil || x.layout != &p.tree.layout:
		return check.Bad("fairshare/dominant", "x", "of another tree, or nil", "an index of the same tree")
	}
	copy(p.usage, x.usage)
	copy(p.needs, x.needs)
	for i := range p.facts {
		p.facts[i] = fairshare.Share{}
	}
	for i := len(p.tree.nodes) - 1; i >= 0; i-- {
		n := &p.tree.nodes[i]
		f := &p.facts[n.pool]
		if at := int32(i); n.leaf() {
			need := x.row(x.needs, at)
			waiting := max(0, x.entries[i].demand-x.entries[i].running)
			_, _, tasks := p.tree.guaranteed(at, need, x.entries[i].demand)
			p.parts[n.pool] = p.part(x.row(x.usage, at), 1)
			f.Slots = p.part(need, max(0, shares[n.pool].Tasks))
			f.Demand = exact.Add(p.parts[n.pool], p.part(need, waiting))
			f.Needed = min(f.Demand, p.part(need, tasks))
		}
		if n.parent >= 0 {
			above := &p.facts[p.tree.nodes[n.parent].pool]
			above.Slots = exact.Add(above.Slots, f.Slots)
			above.Demand = exact.Add(above.Demand, f.Demand)
			above.Needed = exact.Add(above.Needed, f.Needed)
		}
	}
	return p.watch.Observe(now, p.facts, p.parts)
}

// part is the dominant share of a need, taken times times, rounded down.
func (p *Preemptor) part(need []int64, times int64) int64 {
	r, _ := fullest(need, p.tree.capacity, nil)
	if r < 0 {
		return 0
	}
	part, _ := exact.MulDiv(whole, min(exact.Mul(need[r], times), p.tree.capacity[r]), p.tree.capacity[r])
	return part
}

// Task is a running task that might be killed. Slots is not read.
type Task struct {
	preempt.Task
	Need []int64 // what it holds of each resource
}

// Grant is how many of its next tasks a pool may start with what is free and what victims free.
type Grant struct {
	Pool  int
	Tasks int64
}

// Plan says which tasks to kill. Its slices are valid until the next call on the [Preemptor] that made it.
type Plan struct {
	Claims   []preempt.Claim   // what was due, in units of 2^-52 of the cluster
	Grants   []Grant           // what was found, for claims of pools without children; one a claim, in their order
	Victims  []preempt.Victim  // in the order in which they were chosen; For is the first claimant that lacked something
	Outcomes []preempt.Outcome // one a task; nil if nothing was claimed
}

// Plan chooses victims for the claims that are due now. Free is what is free of each resource and fits starving pools;
// of another length it plans nothing.
//
// What claimants without children miss, in whole tasks, less what is free, is what is lacking of each resource.
// Victims are taken in [preempt.Config.Order] from pools above their dominant share that hold something of a lacking
// resource; no pool, and no pool above it that has no claimant, is taken below its dominant share. Then the claims
// are granted whole tasks in their order, and victims that turn out not to be needed are spared again.
//
// Cost: O(n·m + t·(log t + depth·m)) for t tasks; no allocation in steady state.
func (p *Preemptor) Plan(now time.Time, tasks []Task, free []int64) Plan {
	claims := p.Claims(now)
	if len(claims) == 0 || len(free) != len(p.tree.capacity) {
		return Plan{}
	}
	l := &p.plan
	l.p, l.tasks = p, tasks
	l.start(claims, free)
	for _, task := range l.candidates {
		l.try(int(task))
	}
	l.grant(claims)
	for _, v := range slices.Backward(l.victims) {
		l.spare(v.Task)
	}
	l.victims = slices.DeleteFunc(l.victims, func(v preempt.Victim) bool { return l.outcomes[v.Task] != preempt.Killed })
	for _, v := range l.victims {
		p.watch.CoolDown(now, v.For)
	}
	l.p, l.tasks = nil, nil
	return Plan{Claims: claims, Grants: l.grants, Victims: l.victims, Outcomes: l.outcomes}
}
