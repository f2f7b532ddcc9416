// Package preempt is for a scheduler with pools that share slots and with tasks that run too long to wait for. It
// decides which running tasks to kill for a pool that has had too few slots for too long. Package fairshare computes
// the shares.
//
// The package follows section 3.2 of M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters",
// UCB/EECS-2009-55.
//
// # An example
//
// Two pools share six slots. Pool 1 has a minimum of 2, and pool 0 uses all six slots. After one minute a plan prints
//
//	claim below-minimum pool=1 deficit=2 waited=60s usage=0 due=2 granted=2
//	kill above-share task=5 for=1
//	kill above-share task=4 for=1
//
// Pool 1 has waited 60 s below its minimum, so it claims two slots. The plan kills the two tasks that started last,
// because pool 0 keeps its share of three slots without them. [Preemptor.Plan] has the code of this example.
//
// # The rule
//
// A pool makes a claim in two cases:
//
//	Tmin    Timeouts.Min        the pool was below its minimum, up to its demand, for this long
//	Tfair   Timeouts.Fair       the pool was below Config.Threshold of its fair share for this long
//
// The plan kills tasks of pools that have more than their share. It kills the tasks that started last.
//
// One share decides both whether a pool may lose tasks and whether it may claim slots. So a pool that loses tasks has
// no claim afterwards, and two plans never undo each other. If tasks hold several units, a part of one task may be
// below the share of its pool. In this case no pool that loses a task is served worse than the pool that gains it. A
// pool is served worse if its usage/share is smaller. See [Preemptor.Plan].
//
// # Choices that the paper leaves open
//
//   - Timeouts: one minute and five minutes are choices of this package. A cool-down gives kills time to take effect.
//   - Trees: a pool takes slots from its nearest relatives first. So it takes from the jobs of its own pool before it
//     takes from other pools.
//   - Tasks of several units: [Config.StrictFloor] and [Preemptor.SetWaiting].
//   - Copies: a plan kills a copy before an original attempt; see [Task.Copy]. Report the kill of a copy to its
//     tracker in package restart, like any other kill.
//
// # Limits of the method
//
// A killed task is lost work. Preemption is worth this only if the pool would otherwise wait much longer than the
// killed task still runs. A pool that overstates its demand gets more slots, so demands must be honest. If a pool
// waits for large tasks, tell the preemptor with SetWaiting. Otherwise the freed units may be of no use to the pool,
// and they return to the pools that lost them.
//
// # State
//
// [Preemptor.MarshalBinary] saves waits and cool-downs for a restart of the host. [Preemptor.Resume] keeps them when
// the pools change. No call reads a clock, draws a random number or blocks. A decision depends only on the arguments
// and on the calls before. A Preemptor belongs to one goroutine.
package preempt
