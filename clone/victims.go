package clone

import (
	"cmp"
	"slices"
)

// Victims appends to dst the cloned jobs whose clones to kill so that all tasks of the given job can be cloned: the
// preemption that the paper weighs against admission control [Dolly §3.3, §5.5]. Only jobs with more tasks are taken,
// the largest first, in a tie the one with the older place in the ledger, and no more than are needed. It appends
// nothing if the job needs no room, or if even all larger jobs would not make enough.
//
// It is a plan. To carry it out, kill every copy but the best of each task of these jobs, call [Budget.Cancel] with
// each grant, take the killed copies off Cluster.Busy, and ask [Budget.Admit] again. O(g log g) with g cloned jobs;
// allocates only to grow dst.
func (b *Budget) Victims(dst []Grant, job Job, now Cluster) []Grant {
	d, c := b.count(job, now)
	if c == 0 {
		return dst
	}
	b.place(&d, job, now, c, job.Tasks)
	overBudget := d.Spent - slots(b.config.BudgetShare, now.Capacity)
	overCeiling := d.Busy - slots(b.config.Ceiling, now.Capacity)
	start := len(dst)
	for i := range b.ledger {
		if e := &b.ledger[i]; e.tasks > 0 && e.size > job.Tasks {
			dst = append(dst, Grant{index: int32(i), generation: e.generation})
		}
	}
	slices.SortFunc(dst[start:], func(x, y Grant) int {
		return cmp.Or(cmp.Compare(b.ledger[y.index].size, b.ledger[x.index].size), cmp.Compare(x.index, y.index))
	})
	for i, g := range dst[start:] {
		if overBudget <= 0 && overCeiling <= 0 {
			return dst[:start+i]
		}
		e := &b.ledger[g.index]
		overBudget -= e.tasks * b.charge(e.copies)
		overCeiling -= e.tasks * (e.copies - 1)
	}
	if overBudget > 0 || overCeiling > 0 {
		return dst[:start]
	}
	return dst
}
