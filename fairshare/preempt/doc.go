// Package preempt is for a scheduler of pools that share slots. A pool is a team, a user or a job. The package
// decides which running tasks to kill if a pool has had too few slots for too long, and if the tasks run too long
// to wait for their end. Package fairshare computes how many slots each pool should have.
//
// The package follows section 3.2 of M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters",
// UCB/EECS-2009-55.
//
// # An example
//
// Two pools share six slots. Pool 1 has a minimum of two slots, but pool 0 uses all six. After one minute a plan
// prints
//
//	claim below-minimum pool=1 deficit=2 waited=60s usage=0 due=2 granted=2
//	kill above-share task=5 for=1
//	kill above-share task=4 for=1
//
// Pool 1 has waited 60 s below its minimum, so it claims two slots. The plan kills the two tasks of pool 0 that
// started last. Pool 0 keeps four slots, and its share is three. The example of [Preemptor.Plan] has the code.
//
// # The rule
//
// A pool claims slots in two cases, each after a time. The paper calls these times Tmin and Tfair:
//
//	Tmin    Timeouts.Min        for this long the pool used less than its minimum and less than its demand
//	Tfair   Timeouts.Fair       for this long the pool used less than a part, Config.Threshold, of its fair share
//
// Then the plan kills tasks of pools that use more than their share. It kills the tasks that started last.
//
// The same share decides whether a pool may lose tasks and whether a pool may claim slots. So a pool that loses
// tasks has no claim afterwards, and no plan undoes the plan before it. A unit is the smallest part that is
// divided, for example a slot. If tasks use several units each, a plan may kill a task although a part of its
// units are below the share of its pool. Even then, no pool that loses a task is worse served than the pool that
// gets the units. A pool is worse served than another pool if its ratio of used units to share is smaller. See
// [Preemptor.Plan].
//
// # Choices that the paper leaves open
//
//   - Timeouts: the paper gives no numbers. One minute and five minutes are choices of this package. After a kill
//     for a pool, the pool makes no claim for some seconds, so that the kill can take effect.
//   - Trees of pools: a pool takes slots first from pools with the same parent. So a job takes slots from jobs of
//     its own pool before it takes slots from other pools.
//   - Tasks of several units: see [Config.StrictFloor] and [Preemptor.SetWaiting].
//   - Copies: a copy is a second attempt of a task that another attempt also runs. A plan kills copies before
//     other tasks; see [Task.Copy]. If you track copies with package restart, report the kill to its tracker, like
//     any other kill.
//
// # Limits of the method
//
// The work of a killed task is lost. To kill a task is worth this only if the pool would otherwise wait much
// longer than the killed task still needs. A pool that overstates its demand gets more slots, so demands must be
// honest. If a pool waits to run large tasks, call SetWaiting with their size. Otherwise the freed units may be of
// no use to the pool, and they return to the pools that lost them.
//
// # State
//
// [Preemptor.MarshalBinary] saves how long the pools have waited, for a restart of the scheduler.
// [Preemptor.Resume] copies this state to a new Preemptor if the pools change. No call reads a clock, draws a
// random number or blocks. The result of a call depends only on its arguments and on earlier calls. A Preemptor
// may be used by one goroutine only.
package preempt
