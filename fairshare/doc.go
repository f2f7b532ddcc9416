// Package fairshare decides how much of a cluster each pool should have, who gets the next free slot, and whose tasks to
// kill for a pool that starves. It follows M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters",
// UCB/EECS-2009-55: sections 3 (shares and preemption), 5.2 (copy-compute splitting) and 5.4 (full disks), and appendix A.
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
// The level is a ratio of two integers, found exactly and not by bisection, for totals up to the largest int64. Shares are
// rounded to whole slots so that siblings add up exactly, each stays within its bounds, and each lies within one of its
// real share. Ties go to the lowest index. [Shares] does this once; a [Tree] again and again, for pools of pools.
//
// A pool with children divides its whole slots among them, so in a tree of pools the shares of depth k lie within k slots
// of a tree that divides fluid. For finer shares count in smaller units: millicores, or slots times 2^20.
//
// # What the paper leaves open
//
//   - Minimums that do not fit: [Policy.Infeasible]. A minimum that is not wanted never counts.
//   - Minimums in a tree: a pool is guaranteed at least what its children are, or the guarantee would hold only when
//     their parent happened to have enough.
//   - Weights, and weight zero: [Pool.Weight]. Shares that do not follow demand: [Policy.Basis].
//   - Timeouts: [DefaultMinTimeout] and [DefaultFairTimeout] are this package's.
//
// # Who is next
//
// An [Index] hands out single slots in the order of [Compare]: first whoever is below its minimum, then whoever has least
// for its weight. Where all weights are equal that leads exactly to the shares. Where they are not, no pool gets one more
// than its real share, but what many small pools get beyond theirs a large one lacks: of 150 slots for a hundred pools of
// weight 1 and one of weight 100, each small pool takes one, and the large has 50, where its share is 75. Kill for such a
// pool only below a [Preemption.Threshold] that its usage does not fall to again, here 60.
//
// # Who is killed
//
// [Starvation] claims slots for a pool that was below its minimum for Tmin or below its fair share for Tfair, and picks
// the tasks started last among pools above their share. The measure of "above" and of "due" is the same share, so a pool
// that loses tasks is never due any: carrying a plan out cannot start another in the opposite direction.
//
// # What else
//
// [Gate] admits reducers to copy and to compute, [EvictRule] says whose intermediate results to delete when disks are
// full, and [Dominant] divides several resources at once.
//
// # When it is wrong
//
// Shares say nothing of where slots are: a share may be reached on machines that hold none of the data (see package
// delay). A killed task is work lost, and worth it only for a pool that would wait much longer than the task still runs.
// Under [Fair], a batch of jobs can take longer than one after another (section 5.3); use [FIFO] where only the end of
// the batch counts. Demand must be honest: a pool that overstates it gets more.
//
// # Cost and concurrency
//
// Dividing among 100,000 pools takes milliseconds and handing out a slot microseconds, without allocation; the comments
// of the calls give the growth. Nothing here reads a clock, draws a random number or blocks. Decisions are functions of
// their arguments and, for Tree, Index and Starvation, of the calls before; those three belong to one goroutine each.
package fairshare
