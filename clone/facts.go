package clone

// Job is what the host knows of a job whose first task is about to be launched, or of one phase of it.
type Job struct {
	// Tasks is n.
	Tasks int
	// Upstream is the number of copies that each task of the phase that this one reads was launched with; 0 if it reads
	// none. A phase never gets more copies than the one that it reads, so that they need not fight over its output
	// [Dolly §3.2].
	Upstream int
	// NoCopy says that two copies of a task must never run at once: it has side effects.
	NoCopy bool
}

// Cluster is what the host knows of the cluster now.
type Cluster struct {
	// Capacity is C, the number of slots. It may change as machines join and leave.
	Capacity int
	// Busy is U, the slots in use, with those of running clones and without those of the job that asks: its tasks are
	// being placed now.
	Busy int
	// Straggler is p, the probability that a task straggles, in [0, 1), such as an [Estimator] gives. NaN, or any value
	// out of range, is unknown, and nothing is cloned. 0 is not: it says that no task straggles.
	Straggler float64
}
