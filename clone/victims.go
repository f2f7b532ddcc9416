package clone

import (
	"cmp"
	"slices"
)

// Victims appends to dst the cloned jobs whose clones to kill so that all tasks of the given job can be cloned: the
// preemption that the paper weighs against admission control [Dolly §3.3, §5.5]. Only jobs with more tasks are taken,
// the largest first, in a tie by their place in the budget's account, and none that the others make superfluous. It
// appends nothing if the job needs no room, or if even all larger jobs would not make enough.
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
	budget, ceiling := b.limits(now)
	overBudget, overCeiling := d.Spent-budget, d.Busy-ceiling
	start := len(dst)
	for i := range b.ledger {
		if e := &b.ledger[i]; e.tasks > 0 && e.size > job.Tasks {
			dst = append(dst, Grant{index: int32(i), generation: e.generation})
		}
	}
	larger := dst[start:]
	slices.SortFunc(larger, func(x, y Grant) int {
		return cmp.Or(cmp.Compare(b.ledger[y.index].size, b.ledger[x.index].size), cmp.Compare(x.index, y.index))
	})
	taken := 0
	for ; taken < len(larger) && (overBudget > 0 || overCeiling > 0); taken++ {
		charged, copies := b.held(larger[taken])
		overBudget -= charged
		overCeiling -= copies
	}
	if overBudget > 0 || overCeiling > 0 {
		return dst[:start]
	}
	// A large job may have few cloned tasks left, so that those after it do alone.
	needed := slices.DeleteFunc(larger[:taken], func(g Grant) bool {
		charged, copies := b.held(g)
		if overBudget+charged > 0 || overCeiling+copies > 0 {
			return false
		}
		overBudget += charged
		overCeiling += copies
		return true
	})
	return dst[:start+len(needed)]
}

// held returns how many slots of the budget the clones of a job are charged with, and how many slots they use.
func (b *Budget) held(g Grant) (charged, extra int) {
	e := &b.ledger[g.index]
	return e.tasks * b.charge(e.copies), e.tasks * (e.copies - 1)
}
