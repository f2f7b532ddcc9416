package clone

// Job is a job, or one phase of a job, before the host launches its first task.
type Job struct {
	// Tasks is n, the number of tasks.
	Tasks int
	// Upstream is the number of clones of each task in the phase that this phase reads; 0 if this phase reads no other
	// phase. A phase never gets more clones than its upstream phase, so that its clones need not compete for the same
	// output [Dolly §3.2].
	Upstream int
	// NoCopy says that two attempts of a task must never run at once, because the task has side effects.
	NoCopy bool
}

// Cluster is the current state of the cluster.
type Cluster struct {
	// Capacity is C, the number of slots. The capacity may change when machines join or leave.
	Capacity int
	// Busy is U, the number of slots in use. Busy includes running clones of other jobs, and excludes the job that asks,
	// because that job's tasks have no slots yet.
	Busy int
	// Straggler is p, the probability that a task straggles, in [0, 1). [Estimator.P] returns such a value. NaN and
	// values out of range mean that p is unknown, and then no job is cloned. 0 means that no task straggles.
	Straggler float64
}
