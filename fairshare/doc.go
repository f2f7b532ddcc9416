// Package fairshare is for a scheduler that divides its slots among several teams, users or jobs. The package
// answers two questions. How many slots should each claimant have? Which claimant gets the next free slot? A
// [Pool] is one claimant: a job, a user or a queue, or a group of smaller pools.
//
// The package follows M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55:
// section 3, section 4.1 and appendix A. Two packages below this package answer further questions. Package preempt
// decides which tasks to kill if a pool has had too few slots for too long. Package gate decides which tasks a
// machine may start (section 5).
//
// # An example
//
// Figure 3 of the paper divides 100 slots among four pools. Each pool has a minimum, which is the number of slots
// that are guaranteed to it, and a demand, which is the number of slots that it can use. The function [Shares]
// divides the slots:
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
// The first pool can use 46 slots and is guaranteed 50, so it gets 46. The last two pools get their minimums, 25
// and 15. The second pool gets the 14 slots that remain. The word after "share" says which number fixed the share:
// the first share is the demand of its pool, and the last two shares are minimums.
//
// # The share
//
// Let F be the number of slots. Pool i has the minimum m(i), the demand d(i) and the weight w(i). The share of
// pool i is
//
//	share(i) = clamp(L·w(i), min(m(i), d(i)), d(i))
//
// The function clamp limits its first argument to the range from the second argument to the third. L is the level:
// the number of slots per weight. L is the same number for all pools; Figure 3 draws it as the level of water in
// basins. The package chooses L so that the shares add up to F. If the sum of the demands is smaller than F, the
// shares add up to that sum.
//
//	F    total               the slots to divide
//	m    Pool.Min            the slots guaranteed to the pool, if its demand is that large
//	d    Pool.Demand         the running and the waiting tasks, and at most Pool.Max
//	w    Pool.Weight         1 in the paper
//	L    Share.Level         slots per weight
//
// The level is a ratio of two integers. The package computes it exactly, without bisection, for totals up to the
// largest int64. Then the package rounds the shares to whole slots:
//
//   - The shares of pools with the same parent add up exactly to the slots that these pools divide.
//   - Each share stays between its lower and its upper bound.
//   - Each whole share differs by less than one slot from the share before rounding.
//   - If two pools have an equal claim to a slot, the pool with the lower index gets it.
//
// The function [Shares] divides once. A [Tree] divides again and again, and its pools may have children. A pool
// with children divides its whole slots among them. For this reason a rounded share at depth k of the tree differs
// by less than k slots from the share in a tree that divides fractions of slots. If you want finer shares, use a
// smaller unit than the slot, for example millicores, or slots times 2^20.
//
// # One resource
//
// A share is a share of one resource: slots, CPUs, or bytes of memory. If some jobs run out of one resource and
// other jobs run out of another, then no division of one resource alone is fair. The result may not even fit on
// the machines. For example, divide 9 CPUs and 18 GB of memory between two pools. Each task of the first pool
// needs 1 CPU and 4 GB. Each task of the second pool needs 3 CPUs and 1 GB.
//
//   - If the pools get equal shares of the CPUs, the second pool runs one task.
//   - If the pools get equal shares of the memory, the second pool gets memory for nine tasks, but they need 27
//     CPUs.
//   - Dominant resource fairness, a method for several resources, lets the first pool run three tasks and the
//     second two.
//
// In such a cluster, use a scheduler that divides several resources. Use this package for the pools of one kind of
// machine, or for one resource that always runs out first.
//
// # Choices that the paper leaves open
//
//   - The sum of the minimums may be larger than the total. [Policy.OnInfeasible] says what happens then. The part
//     of a minimum that is larger than the demand of its pool is ignored.
//   - A pool with children is guaranteed at least the sum of the guarantees of its children. Otherwise the
//     guarantee of a child would be worthless whenever its parent has too few slots. The part of a child's minimum
//     that is larger than the demand of the child is not included in that sum.
//   - [Policy.Surplus] says whether a pool with a large guarantee gets less of the slots beyond the guarantees.
//   - [Pool.Weight] makes shares unequal. A pool may have the weight zero.
//   - [Policy.Basis] can give a pool a share that is larger than its demand.
//
// # Who gets the next slot
//
// An [Index] says which pool gets a free slot. [Policy.Order] is the rule by which it chooses. The default rule is
// [LeastUsage], which does not read the shares. First it serves pools that use less than their minimum. Then it
// serves the pool with the smallest ratio of used slots to weight.
//
// If all weights are equal, LeastUsage gives each pool exactly its share in the end. If weights are unequal, a
// pool gets less than one slot more than its share before rounding. But many small pools may each get such a part
// of a slot more, and a large pool then gets too few slots. For example, 150 slots are divided among a hundred
// pools of weight 1 and one pool of weight 100. Each small pool takes one slot, although its share is three
// quarters of a slot. The large pool gets the other 50 slots, and its share is 75. Suppose that tasks are killed
// for this pool whenever it has less than a certain part of its share. Then that part must be at most 50/75. With a
// larger part, tasks would be killed for this pool again and again.
//
// The paper serves "the job farthest below its fair share". [LargestDeficit] measures this distance in slots, and
// [SmallestPart] measures it as a ratio. Both rules lead to the shares for all weights. Both rules read the
// shares, so call [Index.SetShares] whenever shares change. For example, two pools of weight 1 have shares of 14
// and 86 slots. The first pool uses 10 slots, and the second pool uses 40. LargestDeficit and SmallestPart serve
// the second pool. LeastUsage serves the first pool.
//
// # How a scheduler uses the package
//
// A scheduler of many jobs makes each job a pool:
//
//   - Set the demand of a job to the number of its running and waiting tasks. A copy is a second attempt of a
//     task, next to an attempt that is slow. Include running copies in the demand, and leave out copies that have
//     not started.
//   - [Tree.Shares] returns the number of slots that each job should have. The tracker in package restart needs
//     another number: the slots that a job may use at the same time. Add the running attempts of the job and the
//     free slots that the Index would give to the job. A simple estimate is the larger of two numbers: the running
//     attempts and the share. Do not use the share alone. A job may use slots beyond its share while other jobs do
//     not need them. The tracker would then refuse copies although slots are free.
//   - For each free slot, call [Index.Next]. The job that Next returns may be unable to use this slot, because it
//     waits for a slot on a machine with its data. (Package delay says how long a job should wait.) Then call
//     [Index.Hold] with this job and call Next again. Hold makes Next skip the job and does not change the place
//     of the job in the order (section 4.2). Release all jobs from Hold when the next slot is offered.
//   - The Index does not know which tasks are copies. Offer a slot to the copies of a job only if Next returns
//     that job, or if Next returns no pool.
//   - If pools have too few slots for too long, package preempt chooses tasks to kill. It kills copies first, so
//     set its field Task.Copy for each copy.
//
// The simulated cluster in examples/internal/cluster/fairshare.go is a scheduler that you can copy from.
//
// # Limits of the method
//
// A share is a number of slots; it does not say on which machines these slots are. A pool may have its share on
// machines that do not store the pool's data; see package delay. With the discipline [Fair], all jobs of a batch
// run at the same time. The batch can then take longer than if the jobs ran one after another (section 5.3). Use
// [FIFO] if only the end of the whole batch matters. A pool that overstates its demand gets more slots, so demands
// must be honest.
//
// # Cost and concurrency
//
// To divide slots among 100,000 pools takes milliseconds. To choose a pool for one slot takes microseconds.
// Neither call allocates. The comment of each call says how its cost grows with the number of pools. No call reads
// a clock, draws a random number or blocks. The result of a call depends only on its arguments and, for Tree and
// Index, on earlier calls. A Tree or an Index may be used by one goroutine only. All other types are values and
// are safe for concurrent use.
package fairshare
