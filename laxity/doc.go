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
// # Which workers are overloaded
//
// The tasks of one job have about the same laxity on all workers. [LOF] measures how far each value stands apart from
// its nearest neighbours, by the local outlier factor over the l nearest:
//
//	reach_l(A, B) = max(l-distance(B), |A-B|)
//	lrd_l(A)      = |N_l(A)| / sum of reach_l(A, B) over B in N_l(A)    (equation 4)
//	LOF_l(A)      = mean of lrd_l(B)/lrd_l(A) over B in N_l(A)          (equation 5)
//
// [Detector] names the workers whose laxity is low and stands apart, and [Offload] says which of an overloaded worker's
// tasks to run elsewhere, so that as few as possible are late. [PerJob] and [PerWorker] sum up the laxities of tasks.
//
// # When it is wrong
//
// A laxity is as good as the projected time; a job whose need is unknown is ordered by its deadline alone. When nothing
// can meet its deadline, no order helps. The factor compares densities, so it finds few workers among many: if half of
// all workers are overloaded, none stands apart, and with fewer neighbours than workers that are slow together, these
// vouch for each other.
//
// The paper marks each worker whose factor exceeds 1. Factors scatter around 1, so that marks most workers of a healthy
// cluster, those with the most time to spare included. The [Detector] looks at laxities far below the median only and
// asks for 2 by default, which is a choice; [DetectorConfig] says how often it errs. [PaperThreshold] and [AnySpread] are
// there to compare.
//
// # Cost and concurrency
//
// Sorting takes O(n log n), a queue operation O(log n), the factors O(n log n + n l); each type says what it allocates.
// Policies and configurations are safe for concurrent use; a [Queue], [Scorer] or [Detector] is not.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §3.2 and §3.3; Breunig et al., "LOF: Identifying Density-Based Local Outliers", SIGMOD 2000;
// Moore, "An n Job, One Machine Sequencing Algorithm for Minimizing the Number of Late Jobs", 1968.
package laxity
