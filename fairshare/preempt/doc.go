// Package preempt decides whose tasks to kill for a pool that starves. It follows section 3.2 of M. Zaharia et al.,
// "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55, for the pools and shares of package
// fairshare.
//
// # The rule
//
// A pool that was below its minimum for Tmin, or below its fair share for Tfair, claims what it misses; the tasks
// started last, among pools that have more than their share, are killed for it.
//
//	Tmin    Timeouts.Min        below the minimum, as far as it is wanted
//	Tfair   Timeouts.Fair       below Config.Threshold of the fair share
//
// The measure of "above" and of "due" is the same share, so a pool that loses tasks is never due any: carrying a plan
// out cannot start another in the opposite direction. Where tasks hold several units one of them may lie across a
// share; then nobody who loses is served worse than who gains. See [Preemptor.Plan].
//
// # What the paper leaves open
//
//   - Timeouts: one minute and five are this package's. A cool-down gives kills time to take effect.
//   - Trees: a claimant takes from its nearest relatives first, so from its own pool's jobs before other pools.
//   - Tasks of several units: [Config.StrictFloor] and [Preemptor.SetWaiting].
//   - Copies: [Task.Speculative] go before originals. Report such a kill to whatever launched the copy, in package
//     restart to its tracker, as any other kill.
//
// # When it is wrong
//
// A killed task is work lost, and worth it only for a pool that would wait much longer than the task still runs.
// Demand must be honest: a pool that overstates it gets more. Where a pool waits for large tasks and does not say so,
// what is freed for it may be of no use to it, and goes back to whom it was taken from.
//
// # State
//
// Waits and cool-downs survive a restart by [Preemptor.MarshalBinary], and a change of the pools by
// [Preemptor.Resume]. Nothing here reads a clock, draws a random number or blocks. Decisions are functions of the
// arguments and of the calls before; a Preemptor belongs to one goroutine.
package preempt
