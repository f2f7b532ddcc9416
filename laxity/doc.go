// Package laxity is for a scheduler of jobs with deadlines. It decides which job should run next, so that many
// jobs meet their deadlines. It also decides which tasks should move from an overloaded worker to other workers.
// Use the package if you can predict how much time each job still needs.
//
// # Example
//
// The laxity of a job is the time that it may still wait and meet its deadline. Three jobs wait for a slot:
//
//	jobs := []laxity.Job{
//		{UntilDeadline: 4 * time.Second, Projected: 1500 * time.Millisecond}, // laxity 2.5 s
//		{UntilDeadline: 2 * time.Second, Projected: 1900 * time.Millisecond}, // laxity 0.1 s
//		{UntilDeadline: 1 * time.Second, Projected: 1200 * time.Millisecond}, // laxity -0.2 s
//	}
//	fmt.Println(laxity.Order(jobs))
//	// [1 0 2]
//
// Job 1 comes first, because it may wait for only 0.1 s. Job 2 comes last, because it will miss its deadline even
// if it starts now. So it should not make other jobs late.
//
// # Which job runs next
//
// Job j must end before Deadline_j, and it still needs the time Proj_exec_time_j. This time is the time m_t of its
// longest map task plus the time r_t of its longest reduce task:
//
//	Laxity_j = Deadline_j - Proj_exec_time_j                         (equation 3)
//	Proj_exec_time_j = max m_t over its maps + max r_t over its reduces
//
// [Order] sorts jobs by laxity, the smallest laxity first. But jobs with negative laxity come after all other
// jobs. [Policy] has two other rules. The first is plain least laxity first, and the second is earliest deadline
// first. The field Margin of a Policy prevents two jobs from taking turns on a slot. A [Queue] keeps jobs in
// order; to insert, update or remove a job takes O(log n) for n jobs.
//
// # Which workers are overloaded, and which tasks move
//
// [PerWorker] returns, for each worker, how many of its tasks will be late and the smallest laxity of a task.
// Package laxity/outlier finds the workers whose laxities are far below the laxities of the others. [Offload]
// decides which tasks of an overloaded worker should run on other workers, so that as few tasks as possible are
// late.
//
// # Limits
//
// A laxity is only as good as the predicted time. A job whose time is unknown is sorted by its deadline alone. If
// no job can meet its deadline, no order helps.
//
// # Cost and concurrency
//
// To sort n jobs takes O(n log n), and an operation of a queue takes O(log n). The comment of each type says when
// it allocates. Policies are safe for concurrent use. A [Queue] is not safe for concurrent use.
//
// The simulated cluster in examples/internal/cluster/laxity.go is a scheduler that you can copy from.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous
// Environments", ICAC 2014 (DynamicShare), §3.2 and §3.3; Moore, "An n Job, One Machine Sequencing Algorithm for
// Minimizing the Number of Late Jobs", 1968.
package laxity
