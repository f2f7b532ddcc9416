// Package delay is for a scheduler that offers free slots to jobs whose input lies on some machines only. The package
// says whether a job should launch a task on the offered slot, or wait for a slot nearer to its data. The method is
// delay scheduling. Use the package if reading over the network is slow and slots become free often. Package
// delay/assign has a related question: how long should a clone wait for an upstream output of its own?
//
// # Example
//
// The levels are 0 for a machine with the job's data, 1 for a machine in the same rack, and 2 for any machine. The job
// waits 15 s at level 0 and 15 s at level 1:
//
//	policy, err := delay.New(delay.Config{})
//	job := policy.Start(now)
//	fmt.Println(job.Offer(now, 2))
//	// wait delayed level=2 allowed=0 next-level-in=15s
//
// The offered slot is at level 2, and the job may launch only at level 0 now. So the job declines the slot and waits. In
// 15 s the allowed level rises to 1.
//
// # Delay scheduling
//
// A job starts at level 0, and may launch only at this level. A declined offer starts the wait. After a wait of at least
// T_1 the job may also launch at level 1. After a further wait of T_2 it may also launch at level 2, and so on [FAIR §4.2].
// So a small job waits a short time for a machine with its data, instead of reading over the network. [Locality.Offer]
// answers an offer. [Reset] selects the rule by which the wait starts again.
//
// Does waiting pay? Suppose that a slot on a machine with the data is offered every t on average, and that a task without
// its data takes D longer. A wait of at most w then gains
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// [Gain] computes this. The gain is positive exactly if D > t. D is 0 for work that does not wait for its input. Launch
// such jobs at once, so that other jobs find free slots on the busy machines. The paper calls this IO-rate biasing
// ([ByReadRate]).
//
// # Symbols
//
//	T_1, T_2 ...  Config.Waits   time that a job stays at a level
//	w             Gain wait      longest wait
//	t             Gain spacing   mean time between local offers
//	D             Gain cost      additional time of a task without its data
//
// # Limits
//
// Delay scheduling assumes that slots become free often, compared with the waits. With long tasks and few slots a job
// waits without success ([LocalWithin]). But its wait never exceeds the sum of its waits; then it may launch anywhere. The
// gain assumes that local offers arrive at random and independently.
//
// # Cost and concurrency
//
// An offer costs tens of nanoseconds and does not allocate. Functions and a [Policy] are safe for concurrent use. A
// [Locality] is not safe, and belongs to one job. The package reads no clock: the host passes the time. If the host's
// clock steps back, no wait becomes longer or shorter.
//
// A host to copy from is the simulated cluster: examples/internal/cluster/delay.go calls this package.
//
// Source: Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UC Berkeley TR EECS-2009-55 (FAIR), §4.
package delay
