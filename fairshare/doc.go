// Package fairshare is for a scheduler that divides its slots among several teams, users or jobs. It answers two
// questions: how many slots should each claimant have, and which claimant gets the next free slot? A [Pool] is one
// claimant: a job, a user or a queue, or a group of smaller pools.
//
// The package follows M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55:
// section 3, section 4.1 and appendix A. Package preempt decides which tasks to kill for a pool that starves. Package
// gate decides which tasks a machine admits (section 5).
//
// # An example
//
// Figure 3 of the paper divides 100 slots among four pools. [Shares] takes the minimum and the demand of each pool:
//
//	fairshare.Shares([]fairshare.Pool{
//		{Min: 50, Demand: 46},
//		{Min: 10, Demand: 18},
//		{Min: 25, Demand: 28},
//		{Min: 15, Demand: 16},
//	}, 100)
//
// The four shares print as
//
//	share demand slots=46 min=46 max=46 level=14
//	share level slots=14 min=10 max=18 level=14
//	share minimum slots=25 min=25 max=28 level=14
//	share minimum slots=15 min=15 max=16 level=14
//
// The first pool wants 46 slots and is guaranteed 50, so it gets 46. The last two pools get their minimums, 25 and
// 15. The second pool gets the 14 slots that remain. The word after "share" names the number that fixed the share.
//
// # The share
//
// F is the number of slots. Pool i has the minimum m(i), the demand d(i) and the weight w(i). Its share is
//
//	share(i) = clamp(L·w(i), min(m(i), d(i)), d(i))
//
// L is the level, the water level of Figure 3. It is one number for all pools. The package chooses L so that the
// shares add up to F, or to the sum of the demands if that sum is smaller.
//
//	F    total               slots to divide
//	m    Pool.Min            slots guaranteed, up to the demand
//	d    Pool.Demand         running and waiting tasks; Pool.Max lowers it
//	w    Pool.Weight         1 in the paper
//	L    Share.Level         slots per weight
//
// The level is a ratio of two integers. The package finds it exactly, without bisection, for totals up to the largest
// int64. Then it rounds the shares to whole slots:
//
//   - The shares of siblings add up exactly.
//   - Each share stays within its bounds.
//   - Each share differs by less than one slot from its real share.
//   - Ties go to the pool with the lowest index.
//
// [Shares] divides once. A [Tree] divides again and again, and its pools may have children. A pool with children
// divides its whole slots among them. So a rounded share at depth k differs by less than k slots from the share in a
// tree that divides fractions. For finer shares, count in smaller units: millicores, or slots times 2^20.
//
// # One resource
//
// A share is of one resource: slots, or CPUs, or bytes of memory. If jobs run out of different resources, no division
// of a single resource is fair, and the result may not even fit. Take 9 CPUs and 18 GB. The tasks of one pool need 1
// CPU and 4 GB each; the tasks of a second pool need 3 CPUs and 1 GB each.
//
//   - Equal shares of the CPUs give the second pool one task.
//   - Equal shares of the memory give the second pool nine tasks, which do not fit.
//   - Dominant resource fairness gives the pools three tasks and two.
//
// Use an engine's own scheduler of several resources in such a cluster. Use this package for the pools of one kind of
// machine, or for one resource that always runs out first.
//
// # Choices that the paper leaves open
//
//   - The minimums may not fit in the total: [Policy.OnInfeasible]. A minimum counts only up to the pool's demand.
//   - A pool with children is guaranteed at least the sum of its children's guarantees. Otherwise a child's guarantee
//     would hold only when its parent happens to have enough slots. A child's minimum beyond the child's demand
//     guarantees its parent nothing.
//   - A guarantee may or may not count when the surplus is divided: [Policy.Surplus].
//   - Weights, and the weight zero: [Pool.Weight]. Shares that ignore demand: [Policy.Basis].
//
// # Who gets the next slot
//
// An [Index] hands out single slots in the order that [Policy.Order] names. The default, [LeastUsage], needs no
// shares. It serves pools below their minimum first, and then the pool with the least usage per weight.
//
// If all weights are equal, LeastUsage leads exactly to the shares. With unequal weights each pool stays less than
// one slot above its real share. But many small pools may each round up, and a large pool then lacks these slots. An
// example: 150 slots, a hundred pools of weight 1 and one pool of weight 100. Each small pool takes one slot. The
// large pool has 50 slots, and its share is 75. If tasks are killed for such a pool, choose a threshold that the
// pool's usage does not fall below again: at most 50/75 of its share in the example.
//
// The paper serves "the job farthest below its fair share". [LargestDeficit] measures the distance in slots, and
// [SmallestPart] measures it in proportion. Both orders lead to the shares for all weights. Both need a
// call of [Index.SetShares] whenever shares change. An example: two pools have shares of 14 and 86 slots and use 10
// and 40. LargestDeficit and SmallestPart serve the second pool, and LeastUsage serves the first.
//
// # One round of a host
//
// A host with many jobs makes each job a pool:
//
//   - Demand counts the running and the waiting tasks of a job. A running copy counts; a wanted copy does not.
//   - [Tree.Shares] says how many slots each job should have. The tracker of package restart needs another number:
//     the slots that a job may use at once. Count the job's running attempts, and add the free slots that the Index
//     would give to the job. The larger of running attempts and share is a simple estimate. The share alone is too
//     small for a job that fills slots which other jobs leave idle: the tracker would refuse copies although slots
//     are free.
//   - For each free slot call [Index.Next]. The job may be unable to use this slot yet, because it waits for a
//     machine with its data (package delay says how long). Then call [Index.Hold] and ask again. Release all held
//     jobs when the next slot is offered. A held job is skipped, and it keeps its place, as in delay scheduling
//     (section 4.2).
//   - The Index treats a copy like any other task. Offer a slot to copies only if Next names the job, or if no pool
//     wants the slot.
//   - When pools starve, package preempt kills copies first. Set its Task.Copy for each copy.
//
// The simulated cluster is a host to copy from: examples/internal/cluster/fairshare.go.
//
// # Limits of the method
//
// Shares do not say on which machines slots are. A pool may have its share on machines without the pool's data; see
// package delay. Under [Fair], a batch of jobs can take longer than the jobs would take one after another (section
// 5.3). Use [FIFO] if only the end of the batch counts. A pool that overstates its demand gets more slots, so demands
// must be honest.
//
// # Cost and concurrency
//
// Dividing among 100,000 pools takes milliseconds. Handing out a slot takes microseconds. Neither call allocates. The
// comment of each call gives its growth. No call reads a clock, draws a random number or blocks. A decision depends
// only on the arguments, and for Tree and Index also on the calls before. A Tree and an Index belong to one goroutine
// each. All other types are values and are safe for concurrent use.
package fairshare
