package dominant

import (
	"fmt"
	"log/slog"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/wire"
)

// Share is what a pool should have of several resources. It is comparable and holds no NaN.
type Share struct {
	Tasks    int64   // of a pool with children those of all under it
	Resource int     // the dominant one, of which the pool gets the largest part of what there is; -1 if it gets none
	Part     float64 // of the dominant resource
	Blocked  int     // the resource of which no further task would fit; -1 if it has all it may have, or has children
}

func (s *Share) wire(c *wire.Codec) {
	c.Kind(0, "share")
	c.When(true).Int64("tasks", &s.Tasks)
	c.Index("resource", &s.Resource)
	c.When(true).Float("part", &s.Part)
	c.Index("blocked", &s.Blocked)
}

// String returns the share as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (s Share) String() string                   { return wire.Line(s.wire) }
func (s Share) LogValue() slog.Value             { return wire.Log(s.wire) }
func (s Share) MarshalJSON() ([]byte, error)     { return wire.JSON(s.wire) }
func (s *Share) UnmarshalJSON(data []byte) error { return wire.Read(data, s, (*Share).wire) }
func (s *Share) UnmarshalText(line []byte) error { return wire.Scan(line, s, (*Share).wire) }

// Shares divides several resources among pools by dominant resource fairness (Ghodsi et al., NSDI 2011): max-min
// fairness, with weights, of what each pool has of the resource of which its tasks need the largest part. It is short
// for [New] with the zero [Policy] and one call of [Tree.Shares].
func Shares(pools []Pool, capacity []int64) ([]Share, error) {
	t, err := New(pools, capacity, Policy{})
	if err != nil {
		return nil, err
	}
	return t.Shares(nil)
}

// Shares returns what each pool has once all is handed out, one task at a time, in the order of [Index.Next], where a
// pool whose task does not fit gets no more. A demand other than nil replaces [Pool.Demand]: one number a pool, of
// which those of pools with children are not read. For one resource, equal tasks and equal weights that is what
// [fairshare.Shares] computes; with other weights it is what a [fairshare.Index] hands out.
//
// The answer is exact, in integers. For pools without parents under [fairshare.Fair] and [fairshare.WaterLevel] the
// cost does not grow with the number of tasks: pools are raised together to the highest level at which all of them
// fit, to the last bit, and only the few tasks around that level are handed out singly.
//
// It returns an error for a demand that is negative or of the wrong length, and for a tree of more than 2^24 tasks:
// count several as one there.
//
// Cost: in that case O(n·(m + log n)) for n pools and m resources each time that a resource becomes too scarce for
// some of the pools, which is m times where tasks are small, and n times at worst; otherwise that of Index.Next and
// [Index.Add] for every task. It allocates O(n·m).
func (t *Tree) Shares(demand []int64) ([]Share, error) {
	if demand != nil && len(demand) != len(t.nodes) {
		return nil, check.Badf("fairshare/dominant", "len(demand)", len(demand), "one for each of the %d pools", len(t.nodes))
	}
	tasks := make([]int64, len(t.nodes)) // wanted, by position
	for i := range t.nodes {
		n := &t.nodes[i]
		if tasks[i] = n.demand; demand != nil && n.leaf() {
			tasks[i] = demand[n.pool]
		}
		if tasks[i] < 0 {
			return nil, check.Bad("fairshare/dominant", check.At("demand", n.pool, ""), tasks[i], "at least 0")
		}
	}
	shares := make([]Share, len(t.nodes))
	for i := range shares {
		shares[i] = Share{Resource: -1, Blocked: -1}
	}
	if err := t.settle(tasks, shares); err != nil {
		return nil, err
	}
	if len(t.groups) == 1 && t.flat() {
		newDRF(t, tasks, shares).run()
	} else {
		t.serve(tasks, shares)
	}
	t.explain(shares)
	return shares, nil
}

// flat reports whether pools are divided among by their dominant shares alone.
func (t *layout) flat() bool {
	return t.policy.Discipline == fairshare.Fair && t.policy.Surplus == fairshare.WaterLevel
}

// maxTasks is how many tasks are handed out one at a time before that is refused: some ten seconds' work.
const maxTasks = 1 << 24

// settle gives pools whose tasks need nothing all they want, and those whose task is larger than what there is
// nothing. It makes sure that handing out the rest comes to an end.
func (t *layout) settle(wanted []int64, shares []Share) error {
	var all int64
	for i := range t.nodes {
		n := &t.nodes[i]
		if !n.leaf() {
			continue
		}
		task, s := t.row(t.task, int32(i)), &shares[n.pool]
		possible, nothing := t.most(int32(i), wanted[i]), true
		for r, need := range task {
			if nothing = nothing && need == 0; need == 0 {
				continue
			}
			if need > t.capacity[r] && wanted[i] > 0 && s.Blocked < 0 {
				s.Blocked = r
			}
			possible = min(possible, t.capacity[r]/need)
		}
		if nothing {
			s.Tasks, wanted[i], possible = wanted[i], 0, 0
		}
		all = exact.Add(all, possible)
	}
	if all > maxTasks && !(len(t.groups) == 1 && t.flat()) {
		return fmt.Errorf("fairshare/dominant: up to %d tasks to hand out in a tree, want at most %d", all, maxTasks)
	}
	return nil
}

// serve hands out one task at a time.
func (t *Tree) serve(demand []int64, shares []Share) {
	x := t.Index()
	for i := range t.nodes {
		pool := int(t.nodes[i].pool)
		x.SetDemand(pool, demand[i])
	}
	for p := x.Next(); p.Pool >= 0; p = x.Next() {
		if p.Fits() {
			x.Add(p.Pool, 1, nil)
			shares[p.Pool].Tasks++
			continue
		}
		x.Hold(p.Pool, true)
		shares[p.Pool].Blocked = p.Lacking
	}
}

// explain works out the dominant resources and parts from the tasks.
func (t *layout) explain(shares []Share) {
	m := len(t.capacity)
	usage := make([]int64, len(t.nodes)*m)
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		s, used := &shares[n.pool], t.row(usage, int32(i))
		for r, need := range t.row(t.task, int32(i)) {
			used[r] = exact.Add(used[r], exact.Mul(s.Tasks, need))
		}
		if r, _ := fullest(used, t.capacity, nil); r >= 0 && used[r] > 0 {
			s.Resource, s.Part = int(r), float64(used[r])/float64(t.capacity[r])
		}
		if n.parent >= 0 {
			p := &shares[t.nodes[n.parent].pool]
			p.Tasks = exact.Add(p.Tasks, s.Tasks)
			for r := range used {
				above := t.row(usage, n.parent)
				above[r] = exact.Add(above[r], used[r])
			}
		}
	}
}

// most returns how many tasks the pool at a position may run of those it wants.
func (t *layout) most(i int32, wanted int64) int64 {
	limit := t.row(t.max, i)
	for r, need := range t.row(t.task, i) {
		if need > 0 {
			wanted = min(wanted, limit[r]/need)
		}
	}
	return wanted
}

// guaranteed returns how the pool at a position, with its next task, is compared while it has not its minimum, by
// used units of need out of unit, and with how many tasks it has it; 0 if it has none.
func (t *layout) guaranteed(i int32, task []int64, wanted int64) (need int64, unit uint64, tasks int64) {
	least, limit := t.row(t.min, i), t.row(t.max, i)
	var all int64
	for r, n := range task {
		l := min(least[r], exact.Mul(wanted, n), limit[r])
		if l > 0 && (all == 0 || exact.CompareProducts(n, all, need, l) > 0) {
			need, all = n, l
		}
	}
	if all == 0 {
		return 0, 0, 0
	}
	return need, uint64(all), (all-1)/need + 1
}
