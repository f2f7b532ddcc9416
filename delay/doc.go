// Package delay is for a scheduler that offers free slots to jobs. The input of each job is stored on some
// machines only. The package decides whether a job should launch a task on the offered slot, or wait for a slot
// nearer to its data. The method is called delay scheduling. Use the package if tasks read slowly over the
// network, and if slots become free often. Package delay/assign decides how long a clone of a task should wait for
// an input that no other clone reads.
//
// # Example
//
// A slot at level 0 is on a machine with the job's data, a slot at level 1 is in the same rack, and a slot at
// level 2 is on any machine. The job waits 15 s at level 0 and 15 s at level 1:
//
//	policy, err := delay.New(delay.Config{})
//	job := policy.Start(now)
//	fmt.Println(job.Offer(now, 2))
//	// wait delayed level=2 allowed=0 next-level-in=15s
//
// The offered slot is at level 2, but the job may launch only at level 0 now. So the job declines the slot and
// waits. In 15 s it may also launch at level 1.
//
// # Delay scheduling
//
// At first a job may launch only at level 0. Its wait begins when it declines an offer. After it has waited for
// the time T_1 it may also launch at level 1. After it has waited for a further time T_2 it may also launch at
// level 2, and so on [FAIR §4.2]. So a small job waits a short time for a machine with its data, and does not read
// over the network. [Locality.Offer] decides about an offered slot. [Reset] is the rule by which the wait starts
// again from 0.
//
// Does it help to wait? Suppose that a slot on a machine with the data is offered every t on average. A task takes
// D longer on another machine. If a job waits for at most w, its task ends earlier, on average by
//
//	E[gain] = (1 - e^(-w/t)) (D - t)
//
// [Gain] computes this. The gain is positive if and only if D > t. If a task computes and hardly waits for its
// input, D is 0. Launch such tasks immediately, so that other jobs find free slots on the busy machines. The paper
// calls this IO-rate biasing ([ByReadRate]).
//
// # Symbols
//
//	T_1, T_2 ...  Config.Waits   time that a job waits at a level
//	w             Gain wait      longest wait
//	t             Gain spacing   mean time between offers of slots with the data
//	D             Gain cost      additional time of a task on another machine
//
// # Limits
//
// Delay scheduling assumes that slots become free often, compared with the waits. If tasks are long and slots are
// few, a job waits without success ([LocalWithin]). But it never waits longer than the sum of its waits; then it
// may launch on any machine. The formula for the gain assumes that slots are offered at random times and
// independently.
//
// # Cost and concurrency
//
// A decision takes tens of nanoseconds and does not allocate. Functions and a [Policy] are safe for concurrent
// use. A [Locality] is not safe for concurrent use; each job needs its own. The package reads no clock: the host
// passes the time. If the host's clock steps back, no wait becomes longer or shorter.
//
// The simulated cluster in examples/internal/cluster/delay.go is a scheduler that you can copy from.
//
// Source: Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UC Berkeley TR EECS-2009-55 (FAIR),
// §4.
package delay
