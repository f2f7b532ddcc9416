package clone

import (
	"cmp"
	"slices"
)

// Victims appends to dst the cloned jobs that must give up their clones, so that all tasks of the given job can be
// cloned. The paper compares such preemption with admission control [Dolly §3.3, §5.5]. Victims chooses only jobs
// that have more tasks than the given job, the largest job first. Jobs with equal numbers of tasks stay in the
// order of their entries. At the end Victims leaves out each job that is not needed, because the other chosen jobs
// give up enough slots. Victims appends nothing if the job can be cloned already, or if all larger jobs together
// would not give up enough slots.
//
// The result is a plan. The host carries it out in four steps:
//
//  1. For each task of the chosen jobs, kill every clone except the best clone.
//  2. Call [Budget.Cancel] with each grant.
//  3. Subtract the killed clones from Cluster.Busy.
//  4. Call [Budget.Admit] again.
//
// Cost: O(g log g) for g cloned jobs. Victims allocates only if dst is too short.
func (b *Budget) Victims(dst []Grant, job Job, now Cluster) []Grant {
	d, c := b.count(job, now)
	if c == 0 {
		return dst
	}
	b.project(&d, job, now, c, job.Tasks)
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
		charged, clones := b.held(larger[taken])
		overBudget -= charged
		overCeiling -= clones
	}
	if overBudget > 0 || overCeiling > 0 {
		return dst[:start]
	}
	// The first chosen jobs may have few running tasks. A job that was chosen later may then give up enough slots
	// alone.
	needed := slices.DeleteFunc(larger[:taken], func(g Grant) bool {
		charged, clones := b.held(g)
		if overBudget+charged > 0 || overCeiling+clones > 0 {
			return false
		}
		overBudget += charged
		overCeiling += clones
		return true
	})
	return dst[:start+len(needed)]
}

// held returns how many slots are charged for a job. extra is the number of slots that its clones use in addition to
// the first attempts.
func (b *Budget) held(g Grant) (charged, extra int) {
	e := &b.ledger[g.index]
	return e.tasks * b.charge(e.clones), e.tasks * (e.clones - 1)
}
