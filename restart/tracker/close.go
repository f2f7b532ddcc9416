package tracker

import "time"

// Close ends the phase, whether it is done or not: a job that was cancelled, or has ended. Its copies count as killed,
// its waiting tasks as given up, and it has no slots any more, so that it holds nothing of a shared [Config.Budget] and
// counts for nothing that runs in a shared [Config.Record]. What the machines have shown in it stays known: a killed
// copy would have taken at least so long. Ending the copies themselves is the host's.
//
// To close again changes nothing. The Ledger stays, and a result that comes late still ends its task. A closed phase
// starts nothing, except tasks of which [Tracker.LoseOutput] is told after it: then [Tracker.SetSlots] gives it slots
// again. O(n) in the number of tasks.
func (t *Tracker) Close(now time.Time) { t.Apply(Event{Kind: Closed, Time: now}) }

func (t *Tracker) close() {
	for i := range t.tasks {
		s := &t.tasks[i]
		for s.copies != none {
			t.ledger.Pruned++
			t.abandon(i, s.copies, true)
		}
		if s.flags&waits != 0 {
			t.waiting.leave(s)
			s.flags |= givenUp
		}
	}
	t.setSlots(0)
}
