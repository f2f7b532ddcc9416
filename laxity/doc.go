// Package laxity says what runs next when jobs have deadlines, and which workers are too loaded to keep them.
//
// # What runs next
//
// A job j that must end within Deadline and still needs Proj_exec_time has the laxity
//
//	Laxity_j = Deadline_j - Proj_exec_time_j                         (equation 3)
//	Proj_exec_time_j = max m_t over its maps + max r_t over its reduces
//
// which is how long it may go on waiting. [Order] sorts jobs by it: the least laxity first, and jobs whose laxity is
// negative, which are expected to miss their deadline whatever is done, after all others. [Policy] offers that order,
// plain least laxity, and earliest deadline first, each with a margin that keeps two jobs from taking turns. [Queue] is
// the same order with insert, update and pop in O(log n).
//
// # Which workers are overloaded, and what moves
//
// [PerWorker] sums up the laxities of tasks. Package laxity/outlier says which workers stand apart by their
// laxity, and [Offload] which of an overloaded worker's tasks to run elsewhere, so that as few as possible are late.
//
// # When it is wrong
//
// A laxity is as good as the projected time; a job whose need is unknown is ordered by its deadline alone. When nothing
// can meet its deadline, no order helps.
//
// # Cost and concurrency
//
// Sorting takes O(n log n), a queue operation O(log n); each type says what it allocates. Policies are safe for
// concurrent use; a [Queue] is not.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/laxity.go.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §3.2 and §3.3; Moore, "An n Job, One Machine Sequencing Algorithm for Minimizing the
// Number of Late Jobs", 1968.
package laxity
