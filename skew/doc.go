// Package skew says which reduce task gets which partition when partitions are of uneven size and workers of uneven
// speed.
//
// # Sizes
//
// A job has p partitions and R reduce tasks, with p no less than R. Each map task m counts the size S_m(i) of its part
// of partition i, and the size of the partition is S(i) = sum of S_m(i) over m: [Sizes] adds them up, each map task
// once.
//
// # Who reduces what
//
// [Assign] takes the partitions in the order of their size, the largest first, and gives each to the reduce task that
// would end first with it, of those that would still end within their deadline. All partitions of a reduce task are
// timed together, so that its start-up counts once:
//
//	end of r with i = Ready_r + Seconds(S(P_r) + S(i), r)
//
// The time is the size times [Reducer.SecondsPerUnit], or whatever [Reducer.Seconds] makes of the size: a k-NN
// estimate, as the paper has it. What fits nowhere is reported. So a fast worker gets more and larger partitions than a
// slow one, on purpose. [Policy] offers two baselines to compare with: [LoadBalance], which evens out the sizes
// whatever the speeds, and [ByHash], which deals out partitions by number. [Policy.Refine] searches on from the greedy
// plan, and [Bound] says before which time none can end. [Balance] measures what comes out, and [LargestFirst] is the
// order by itself.
//
// # Which hash
//
// One hash function gives one set of partitions. A [Sketch] counts the sizes under d hash functions at once, and
// [Policy.AssignSketch] tries each and picks the one whose assignment ends first. The map tasks then send each key to
// the partition that [Sketch.Partition] names for that row.
//
// # When it is wrong
//
// Partitions are not split: the largest one bounds what any assignment can do. Time is taken to grow with size, so
// sizes should measure what costs time: values to be reduced, or bytes. An estimate knows nothing beyond the runs that
// it rests on ([Reducer.KnownTo]). The rule is greedy: if all are ready at once and time is proportional to size, it
// ends within 4/3 - 1/(3R) of the best on equal workers [Graham 1969] and within 2 - 2/(R+1) of it on workers of
// different speed [Gonzalez et al. 1977]; where deadlines bind it may leave out what a search would have placed. Of
// 1,000 random problems of 2 to 16 partitions it ends 1.2 % after the best in the mean and 15.5 % at worst; with Refine
// 0.1 % at worst (go test -v -run Refined ./skew).
//
// # Cost and concurrency
//
// An assignment takes O(p log p + p R); each type says what it allocates. Functions and policies are safe for
// concurrent use; [Sizes] and [Sketch] are not.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/skew.go; examples/shard, which
// splits a suite of tests over machines, in plan.go.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §4 and §5; Cormode and Muthukrishnan, "An Improved Data Stream Summary: The Count-Min
// Sketch and its Applications", 2005; Graham, "Bounds on Multiprocessing Timing Anomalies", 1969; Gonzalez, Ibarra and
// Sahni, "Bounds for LPT Schedules on Uniform Processors", 1977.
package skew
