package clone

// Job is a job, or a phase of a job, before the host launches its first task.
type Job struct {
	// Tasks is the number of tasks. The paper calls it n.
	Tasks int
	// Upstream is the number of clones of each task in the phase whose output this phase reads. It is 0 if this phase
	// reads no other phase. A phase never gets more clones than the phase that it reads. So each clone can read the
	// output of a different clone, and clones do not compete for the same output [Dolly §3.2].
	Upstream int
	// NoCopy means that two attempts of a task must never run at the same time, for example because a task has
	// side effects.
	NoCopy bool
}

// Cluster is the current state of the cluster.
type Cluster struct {
	// Capacity is the number of slots, which the paper calls C. It may change when machines join or leave the
	// cluster.
	Capacity int
	// Busy is the number of slots in use, which the paper calls U. It includes running clones of other jobs. It does
	// not include slots for the job that asks, because its tasks have no slots yet.
	Busy int
	// Straggler is the probability that a task straggles, in [0, 1), which the paper calls p. [Estimator.P]
	// returns it. NaN or a value out of range means that the probability is unknown, and then no job is cloned. 0
	// means that no task straggles.
	Straggler float64
}
