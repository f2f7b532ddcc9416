package jobs

import batchv1 "k8s.io/api/batch/v1"

// Manager is the value of a Job's spec.managedBy that hands it to this controller, unless Config.Manager says another.
const Manager = domain + "job-controller"

// Annotations and labels. Those of a Job are choices of its owner; those of a pod are facts, of which Progress is the
// workload's to write.
const (
	domain = "straggler-go.github.io/"

	// PolicyAnnotation of a Job names its policy as rules.Parse reads it: "late,min-age=5s". "none" makes no copies.
	PolicyAnnotation = domain + "policy"
	// IntervalAnnotation of a Job is how often its attempts are looked at: "1s".
	IntervalAnnotation = domain + "interval"
	// WorkAnnotation of a Job is how much its indexes have to do, in units of its owner: "1,1,5", or "1*43,5*5" for
	// 43 of 1 and then 5 of 5.
	WorkAnnotation = domain + "work"
	// CopiesAnnotation of a Job, "true" or "false", says whether two pods of an index may run at once. Without it they
	// may, unless podReplacementPolicy is Failed.
	CopiesAnnotation = domain + "copies"
	// EvictAnnotation of a Job that the built-in controller runs, "true", lets its stragglers be evicted.
	EvictAnnotation = domain + "evict"
	// Gate, in the schedulingGates of such a Job's template, keeps its pods from the scheduler until this controller has
	// said which nodes they must avoid.
	Gate = domain + "place"

	// ProgressAnnotation of a pod is how far it is: "0.4", or "40/100", and if it says when that was true, by its own
	// clock, "40/100@1763846400.5": in seconds since 1970. The 100 is how much the index has to do, in units that the
	// pods of a Job share; where all say the same, or nothing, sizes are not known.
	ProgressAnnotation = domain + "progress"
	// AttemptAnnotation of a pod is the name of the attempt: "17.1" is the second of index 17.
	AttemptAnnotation = domain + "attempt"
	// CancelledAnnotation of a pod says that this controller has it deleted, and why. Such a pod is no failure.
	CancelledAnnotation = domain + "cancelled"
	// AvoidAnnotation of a pod names the nodes on which it must not run.
	AvoidAnnotation = domain + "avoid"
	// WinnerLabel of a pod, "true", says that its result is that of its index. Of an index one pod has it.
	WinnerLabel = domain + "winner"
	// ManagedLabel is on each pod that this controller has made.
	ManagedLabel = domain + "managed"

	// SlowTaint is on nodes that the record of machines calls slow.
	SlowTaint = domain + "slow"
)

const (
	finalizer        = batchv1.JobTrackingFinalizer
	indexAnnotation  = batchv1.JobCompletionIndexAnnotation
	countAnnotation  = batchv1.JobIndexFailureCountAnnotation
	legacyNameLabel  = "job-name"
	legacyOwnerLabel = "controller-uid"
)
