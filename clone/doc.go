// Package clone says how many copies of each task of a small job to launch at once, so that the job need not wait for a
// straggler, and whether the cluster can afford them: the proactive cloning of Dolly.
//
// A job of ten tasks that start together has nothing to compare a slow task with, so speculation comes too late. It is
// cheaper to launch every task c times, take the first copy of each that ends and kill the others: small jobs are most
// of the jobs and use few of the slots.
//
// # The rule
//
// A task straggles with probability p. A job of n tasks with c copies of each straggles with probability
// 1 - (1 - p^c)^n, if copies straggle independently. The least c that keeps this within the accepted risk ε is
//
//	c = ⌈ log(1 - (1-ε)^(1/n)) / log p ⌉
//
// ([Count]; c counts every copy, the first included). Such a job is cloned only if there is room for c copies of all
// of its tasks, both within the cloning budget and under the ceiling for the cluster's use:
//
//	B_U + c n ≤ β C   and   U + c n ≤ τ C
//
// ([Budget.Admit]). Otherwise it runs with one copy of each task. That favours small jobs without knowing any other.
//
// # Symbols
//
//	n      Job.Tasks                tasks of the job, or of the phase
//	c      Count, Decision.Copies   copies of each task, in all
//	p      Cluster.Straggler        probability that a task straggles; Estimator learns it
//	ε      Config.AcceptableRisk    5 %
//	β      Config.BudgetShare       5 %
//	τ      Config.Ceiling           80 %
//	C, U   Cluster.Capacity, .Busy  slots of the cluster, slots in use
//	B_U    Budget.Spent             slots charged to the cloning budget
//
// # What else is here
//
// [Estimator] learns p from progress rates, [Blacklist] predicts which machines will cause stragglers, [Budget.Victims]
// names the clones of larger jobs that could make room for a smaller one, and [Budget.Readmit] takes over what runs
// when the host is started again. Package clone/risk gives the probability that a job straggles under each way of
// cloning that the paper compares, and delay/assign says which copy of an upstream output a copy of a downstream task
// reads.
//
// # When it is wrong
//
// Copies that read the same bad disk, or run the same bad record, straggle together; then no count helps, and a task
// that is slow because it has more data is no straggler at all. p is one number for the whole cluster. Two copies of a
// task that has side effects do harm: say so with Job.NoCopy, and it is never cloned.
//
// On a small cluster the published budget clones nothing, however idle it is: c n ≤ β C with β = 5 % takes 20 c n
// slots, 40 for two copies of a single task, 300 for three of each of five. There, set Config.BudgetShare to c n / C of
// the largest job that is to be cloned, 15/24 for the latter on 24 slots, or to [Off]: the ceiling, U + c n ≤ τ C,
// still keeps clones off a busy cluster. The paper's clusters have thousands of machines.
//
// # Cost and concurrency
//
// Count and Budget.Admit are a handful of floating-point operations; they allocate nothing but room for a cloned job
// more than ever before. Functions and configurations are safe for concurrent use. Budget, Estimator and Blacklist are
// not; have one of each per cluster. What is learned over days can be saved and restored ([Estimator.MarshalBinary]).
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/clone.go.
//
// Source: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly).
package clone
