// Package clone is for a scheduler of small jobs that must not wait for a straggler. For each task of a small job the
// scheduler launches several clones at once. The scheduler takes the result of the first clone that ends, and kills
// the other clones. The package says how many clones to launch, and whether the cluster can afford them. The method
// is Dolly's proactive cloning.
//
// Use the package where most jobs are small and use few of the slots. The tasks of a small job start together, so no
// finished task shows early that another task is slow. A copy that starts later comes too late.
//
// # Example
//
//	budget, err := clone.NewBudget(clone.Config{})
//	d := budget.Admit(clone.Job{Tasks: 10}, clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1})
//	fmt.Println(d)
//	// clone room-for-all clones=3 tasks=10 wanted=3 spent=30/90 busy=930/1440
//
// The host launches three clones of each of the ten tasks, 30 attempts in all. With these clones, 30 slots are charged to
// the cloning budget, and the limit is 90. With these clones, 930 slots of the cluster are busy, and the limit is 1440.
//
// # The rule
//
// A clone straggles with probability p, independently of all other clones. A task with c clones straggles if all its
// clones straggle, so a job of n tasks straggles with probability 1 - (1 - p^c)^n. [Count] returns the smallest c that
// keeps this probability within the accepted risk ε:
//
//	c = ⌈ log(1 - (1-ε)^(1/n)) / log p ⌉
//
// [Budget.Admit] clones a job only if there is room for c clones of all n tasks. Two limits must hold. The first is the
// cloning budget, and the second is a ceiling for the use of the cluster:
//
//	B_U + c n ≤ β C   and   U + c n ≤ τ C
//
// Otherwise each task of the job gets a single attempt. The limits favour small jobs without knowledge of other jobs.
//
// # Symbols
//
//	n      Job.Tasks                tasks of the job, or of the phase
//	c      Count, Decision.Clones   clones of each task, the first attempt included
//	p      Cluster.Straggler        probability that a task straggles; Estimator learns it
//	ε      Config.AcceptableRisk    5 %
//	β      Config.BudgetShare       5 %
//	τ      Config.Ceiling           80 %
//	C, U   Cluster.Capacity, .Busy  slots of the cluster, slots in use
//	B_U    Budget.Spent             slots charged to the cloning budget
//
// # Other questions
//
//   - [Estimator]: how likely is a task to straggle, judged by the progress rates of finished phases?
//   - [Blacklist]: which machines will cause stragglers?
//   - [Budget.Victims]: which larger jobs should give up their clones to make room for a smaller job?
//   - [Budget.Readmit]: how does a restarted host take over the clones that still run?
//   - Package clone/risk: how likely is a job to straggle under each way of cloning that the paper compares?
//   - Package delay/assign: which clone of an upstream task should a clone of a downstream task read?
//
// # Limits
//
//   - Cloning does not help if all clones of a task straggle together. Clones that read the same bad disk, or run the same
//     bad record, are an example.
//   - A task that is slow because it has more data is not a straggler, and its clones are just as slow.
//   - p is one number for the whole cluster.
//   - Two clones of a task with side effects do harm. Set Job.NoCopy for such a task, and it is never cloned.
//
// On a small cluster the published budget allows no clones, even if the cluster is idle. With β = 5 %, a job with c n
// clones needs a cluster of 20 c n slots: 40 slots for one task with two clones, 300 slots for five tasks with three
// clones each. For a small cluster, set Config.BudgetShare to c n / C of the largest job to clone. On 24 slots this
// is 15/24 for the five tasks with three clones. As an alternative set Config.BudgetShare to [Off]: the ceiling still
// prevents clones on a busy cluster. The paper's clusters have thousands of machines.
//
// # Cost and concurrency
//
// Count and Budget.Admit need a few floating-point operations. Admit allocates only if more jobs are cloned at once than
// ever before. Functions and configurations are safe for concurrent use. Budget, Estimator and Blacklist are not safe;
// each cluster needs its own. A host can save and restore the knowledge of many days ([Estimator.MarshalBinary]).
//
// A host to copy from is the simulated cluster: examples/internal/cluster/clone.go calls this package.
//
// Source: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly).
package clone
