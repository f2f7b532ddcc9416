package tracker

import "iter"

// Candidates ranges over the tasks that are worth a copy: those whose last decision was Duplicate, or would have been
// but for a slot, the cap, the budget or the machine that asked. It takes none. Count them to tell a queue or a pool
// how many slots the phase could use; pass over a phase without any where many phases share a slot; or pick one whose
// data is on the machine, ask
// [Tracker.Decide] about it, and Start it there. [Tracker.Next] picks the one that gains most.
//
// Tell the tracker of nothing within the loop. They come in no order of meaning, but always the same. O(candidates), no
// allocation.
func (t *Tracker) Candidates() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, task := range t.candidates.list {
			if !yield(int(task)) {
				return
			}
		}
	}
}
