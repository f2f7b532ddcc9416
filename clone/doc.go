// Package clone is for a scheduler of small jobs that must not wait for a straggler: a task that is much slower
// than the other tasks. For each task of a small job the scheduler launches several clones at the same time. It
// uses the result of the clone that ends first, and kills the other clones. The package decides how many clones to
// launch, and whether the cluster has enough free slots for them. The paper, Dolly, calls the method proactive
// cloning.
//
// Use the package if most jobs are small and use few of the slots. The tasks of a small job start together, so no
// finished task shows in time that another task is slow. A second attempt that starts later comes too late.
//
// # Example
//
//	budget, err := clone.NewBudget(clone.Config{})
//	d := budget.Admit(clone.Job{Tasks: 10}, clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1})
//	fmt.Println(d)
//	// clone room-for-all clones=3 tasks=10 wanted=3 spent=30 budget=90 busy=930 ceiling=1440
//
// The host launches three clones of each of the ten tasks, 30 attempts in all. After the launch, 30 slots are
// charged to cloning, and the limit is 90. 930 slots of the cluster are busy, and the limit is 1440.
//
// # The rule
//
// A clone straggles with probability p, independently of all other clones. A task straggles if all its c clones
// straggle. So a job of n tasks straggles with probability 1 - (1 - p^c)^n. [Count] returns the smallest c for
// which this probability is at most the accepted probability ε:
//
//	c = ⌈ log(1 - (1-ε)^(1/n)) / log p ⌉
//
// [Budget.Admit] clones a job only if c clones of all n tasks stay within two limits. At most a share β of the C
// slots of the cluster may be charged to cloning; B_U slots are charged already. And at most a share τ of the
// slots may be busy; U slots are busy already:
//
//	B_U + c n ≤ β C   and   U + c n ≤ τ C
//
// Otherwise the host launches one attempt of each task. With these limits small jobs are cloned more often than
// large jobs, although Admit knows no other job.
//
// # Symbols
//
//	n      Job.Tasks                tasks of the job, or of the phase
//	c      Count, Decision.Clones   clones of each task, the first attempt included
//	p      Cluster.Straggler        probability that a task straggles; Estimator estimates it
//	ε      Config.AcceptableRisk    5 %
//	β      Config.BudgetShare       5 %
//	τ      Config.Ceiling           80 %
//	C, U   Cluster.Capacity, .Busy  slots of the cluster, busy slots
//	B_U    Budget.Spent             slots charged to cloning
//
// # Other questions
//
//   - [Estimator]: how likely is a task to straggle, according to the progress rates of finished phases?
//   - [Blacklist]: on which machines will tasks straggle?
//   - [Budget.Victims]: which larger jobs should give up their clones, so that a smaller job can be cloned?
//   - [Budget.Readmit]: how does a restarted host charge the clones that still run?
//   - Package clone/risk: how likely is a job to straggle under each way of cloning that the paper compares?
//   - Package delay/assign: if both a task and the tasks that it reads are cloned, which clone should read which
//     clone?
//
// # Limits
//
//   - Cloning does not help if all clones of a task straggle for the same reason. For example, they read the same
//     slow disk or the same record.
//   - A task that is slow because it has more data is not a straggler, and its clones are just as slow.
//   - p is the same number for the whole cluster.
//   - If a task has side effects, to run two clones may do harm. Set Job.NoCopy for a job with such tasks, and it
//     is never cloned.
//
// On a small cluster the default limit β = 5 % allows no clones, even if the cluster is idle. A job of n tasks
// with c clones each needs a cluster of 20 c n slots. For example, one task with two clones needs 40 slots, and
// five tasks with three clones each need 300 slots. For a small cluster, set Config.BudgetShare to c n / C, where
// c n is for the largest job that should be cloned. With C = 24 slots and five tasks with three clones this is
// 15/24. Or set Config.BudgetShare to [Off]; Config.Ceiling still prevents clones on a busy cluster. The paper's
// clusters have thousands of machines.
//
// # Cost and concurrency
//
// Count and Budget.Admit need a few floating-point operations. Admit allocates only if more jobs are cloned at the
// same time than ever before. Functions and configurations are safe for concurrent use. Budget, Estimator and
// Blacklist are not safe for concurrent use; each cluster needs its own. The host can save and restore an
// Estimator, which contains the observations of many days ([Estimator.MarshalBinary]).
//
// The simulated cluster in examples/internal/cluster/clone.go is a scheduler that you can copy from.
//
// Source: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly).
package clone
