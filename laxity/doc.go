// Package laxity is for a scheduler of jobs with deadlines. The package says which job should run next, so that many
// jobs meet their deadlines. The package also says which tasks should move away from an overloaded worker. Use the
// package if the remaining time of jobs can be predicted.
//
// # Example
//
// The laxity of a job is the time that the job may still wait. Three jobs wait for a slot:
//
//	jobs := []laxity.Job{
//		{UntilDeadline: 4 * time.Second, Projected: 1500 * time.Millisecond}, // laxity 2.5 s
//		{UntilDeadline: 2 * time.Second, Projected: 1900 * time.Millisecond}, // laxity 0.1 s
//		{UntilDeadline: 1 * time.Second, Projected: 1200 * time.Millisecond}, // laxity -0.2 s
//	}
//	fmt.Println(laxity.Order(jobs))
//	// [1 0 2]
//
// Job 1 comes first, because it may wait for only 0.1 s. Job 2 comes last, because it will miss its deadline even if it
// starts now. So it should not make other jobs late.
//
// # Which job runs next
//
// Job j must end before Deadline_j and still needs the time Proj_exec_time_j:
//
//	Laxity_j = Deadline_j - Proj_exec_time_j                         (equation 3)
//	Proj_exec_time_j = max m_t over its maps + max r_t over its reduces
//
// [Order] sorts jobs by laxity, the least laxity first. Jobs with negative laxity come after all other jobs. [Policy] has
// two other rules: plain least laxity first, and earliest deadline first. Its Margin prevents that two jobs take turns on
// a slot. [Queue] keeps the order with insert, update and pop in O(log n).
//
// # Which workers are overloaded, and which tasks move
//
// [PerWorker] summarises the laxities of the tasks on each worker. Package laxity/outlier finds the workers with outlying
// laxities. [Offload] says which tasks of an overloaded worker should run elsewhere, so that as few tasks as possible are
// late.
//
// # Limits
//
// A laxity is only as good as the projected time. A job with an unknown projected time is ordered by its deadline alone. If
// no job can meet its deadline, no order helps.
//
// # Cost and concurrency
//
// Sorting takes O(n log n), and a queue operation takes O(log n). The comment of each type states its allocations. Policies
// are safe for concurrent use. A [Queue] is not safe.
//
// A host to copy from is the simulated cluster: examples/internal/cluster/laxity.go calls this package.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §3.2 and §3.3; Moore, "An n Job, One Machine Sequencing Algorithm for Minimizing the
// Number of Late Jobs", 1968.
package laxity
