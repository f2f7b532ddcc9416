// Package fairshare decides how much of a cluster each pool should have, and who gets the next free slot. It follows
// M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55: section 3, section 4.1 and
// appendix A. Package preempt decides whose tasks to kill for a pool that starves, and package gate what a node lets in
// (section 5).
//
// # The share
//
// Of F slots pool i, with minimum m, demand d and weight w, gets
//
//	share(i) = clamp(L·w(i), min(m(i), d(i)), d(i))
//
// with the one level L, the water level of Figure 3, at which the shares add up to F or to all that is wanted:
//
//	F    total               the slots to divide
//	m    Pool.Min            guaranteed as far as it is wanted
//	d    Pool.Demand         running and waiting; Pool.Max lowers it
//	w    Pool.Weight         1 in the paper
//	L    Share.Level         slots per weight
//
// The level is a ratio of two integers, found exactly and not by bisection, for totals up to the largest int64.
// Shares are rounded to whole slots so that siblings add up exactly, each stays within its bounds, and each lies
// within one of its real share. Ties go to the lowest index. [Shares] does this once; a [Tree] again and again, for
// pools of pools.
//
// A pool with children divides its whole slots among them, so in a tree of pools the shares of depth k lie within k
// slots of a tree that divides fluid. For finer shares count in smaller units: millicores, or slots times 2^20.
//
// # One resource
//
// A share is of one resource: slots, or CPUs, or bytes of memory. Where jobs run out of different resources, no division of
// one of them is fair or even fits. Of 9 CPUs and 18 GB, with tasks of 1 CPU and 4 GB in one pool and of 3 CPUs and 1 GB in the
// other, equal shares of the CPUs give the second pool one task, and equal shares of the memory give it nine, which do not
// fit; dominant resource fairness gives three tasks and two. Use an engine's own scheduler of several resources there, and
// this package for the pools of one kind of machine, or for the one resource that always runs out first.
//
// # What the paper leaves open
//
//   - Minimums that do not fit: [Policy.OnInfeasible]. A minimum that is not wanted never counts.
//   - Minimums in a tree: a pool is guaranteed at least what its children are, or the guarantee would hold only when
//     their parent happened to have enough. A minimum that a child does not want guarantees its parent nothing.
//   - Minimums and the surplus: whether a guarantee counts when the rest is divided, [Policy.Surplus].
//   - Weights, and weight zero: [Pool.Weight]. Shares that do not follow demand: [Policy.Basis].
//
// # Who is next
//
// An [Index] hands out single slots in one of three orders. The default, [LeastUsage], needs no shares: first whoever
// is below its minimum, then whoever has least for its weight. Where all weights are equal that leads exactly to the
// shares. Where they are not, no pool gets one more than its real share, but what many small pools get beyond theirs
// a large one lacks: of 150 slots for a hundred pools of weight 1 and one of weight 100, each small pool takes one,
// and the large has 50, where its share is 75. Kill for such a pool only below a threshold that its usage does not
// fall to again, here .8.
//
// The paper serves "the job farthest below its fair share": [LargestDeficit] in units, [SmallestPart] in proportion.
// Both lead to the shares whatever the weights, and want [Index.SetShares] whenever shares change. With shares 14 and
// 86, of which 10 and 40 are in use, they serve the second, and LeastUsage the first.
//
// # How it composes
//
// One round of a host with many jobs, each a pool:
//
//   - Demand is what runs and waits, of tasks; copies count while they run, and a job wants none as of right.
//   - [Tree.Shares] then says what each job should have. The number of slots that a job may plan with, as for the
//     tracker of package restart, is what it may use at once: what it has running, plus those of the free slots that
//     the Index would give it; or simply the larger of running and share. The share alone is too little for a job
//     that fills slots which others leave idle, and its copies would be refused for want of a slot that is there.
//   - For each free slot ask [Index.Next]. If the job cannot use this slot yet, because it waits for a machine with
//     its data (package delay says how long), [Index.Hold] it and ask again; release all that are held when the next
//     slot is offered. A held job keeps its place, as in delay scheduling (section 4.2): it is skipped, not set back.
//   - A copy is a task like another to the Index. Offer a slot to copies only where Next names the job, or nobody
//     wants the slot otherwise.
//   - When pools starve, package preempt takes copies first; mark them by its Task.Copy.
//
// # When it is wrong
//
// Shares say nothing of where slots are: a share may be reached on machines that hold none of the data (see package
// delay). Under [Fair], a batch of jobs can take longer than one after another (section 5.3); use [FIFO] where only
// the end of the batch counts. Demand must be honest: a pool that overstates it gets more.
//
// # Cost and concurrency
//
// Dividing among 100,000 pools takes milliseconds and handing out a slot microseconds, without allocation; the
// comments of the calls give the growth. Nothing here reads a clock, draws a random number or blocks. Decisions are
// functions of their arguments and, for Tree and Index, of the calls before; those two belong to one goroutine each.
// All other types are values, safe for concurrent use.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/fairshare.go.
package fairshare
