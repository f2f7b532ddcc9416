// Package dominant, which is experimental as no host of this repository calls it yet, divides several resources among
// pools: how much each should have, who is next for a task, and whose tasks to kill for a pool that starves. It follows
// dominant resource fairness (A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource
// Types", NSDI 2011), with minimums, weights, maximums and trees as Hadoop YARN, YuniKorn, Kueue and Volcano have them,
// on the pools of package fairshare.
//
// # The rule
//
// A pool's dominant share is the largest of its parts of what the cluster has of each resource. The next task goes to
// the pool with the smallest dominant share for its weight, among those that want to run one; pools below their
// minimum come first. [Index.Next] says so for one task at a time, [Shares] and [Tree.Shares] for all at once.
//
//	capacity    what the cluster has of each resource, of which all parts are taken
//	Min         guaranteed: a pool that has less of each resource of which it has a minimum comes first
//	Max         a pool whose next task would go beyond it is passed over
//	Weight      divides the dominant share
//
// All comparisons are exact, of products up to 192 bits.
//
// # What others do
//
//   - A minimum counts by the resource of which the pool has most of it, as in YuniKorn. YARN looks at the dominant
//     resource only; in Kueue a pool has its quota until it borrows of any resource, which is the same as here.
//   - [fairshare.AboveMinimum] compares what pools have beyond their minimums, as Kueue does. Kueue takes parts of
//     what a cohort can lend, which here is the cluster.
//   - In a tree a parent's dominant share is that of the sum of its children. A parent whose children need different
//     resources can so appear served by the one child that gets most; flatten such trees.
//
// # When it is wrong
//
// A task that fits in the cluster may fit on no machine; see [Index.Hold]. Demand and needs must be honest. Units are
// the host's: count memory in bytes or in megabytes, whichever keeps numbers whole.
//
// # Cost and concurrency
//
// Next and Add take about a microsecond for 100,000 pools and three resources, without allocation. A Tree is
// immutable and safe for concurrent use; an Index and a Preemptor belong to one goroutine each.
package dominant
