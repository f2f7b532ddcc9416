package jobs

import batchv1 "k8s.io/api/batch/v1"

// Manager is the default of Config.Manager: the value of spec.managedBy in Jobs that this controller runs.
const Manager = domain + "job-controller"

// These are the annotations and labels of Jobs, pods and nodes. The Job's owner sets the annotations of a Job. The
// workload sets ProgressAnnotation of a pod. This controller sets all other labels and annotations.
const (
	domain = "straggler-go.github.io/"

	// PolicyAnnotation of a Job is its policy, as [ParsePolicy] reads it, such as "late,min-age=5s". "none" takes no action.
	// Without the annotation, Config.Policy decides.
	PolicyAnnotation = domain + "policy"
	// IntervalAnnotation of a Job is the time between two polls, such as "1s". Without it, Config.Interval counts.
	IntervalAnnotation = domain + "interval"
	// WorkAnnotation of a Job is the size of each index, in units of the owner's choice. "1,1,5" means three indexes of
	// sizes 1, 1 and 5. "1*43,5*5" means 43 indexes of size 1, then 5 indexes of size 5.
	WorkAnnotation = domain + "work"
	// CopiesAnnotation of a Job says whether two pods of an index may run at once: "true" or "false". Without it they
	// may, unless podReplacementPolicy is Failed.
	CopiesAnnotation = domain + "copies"
	// EvictAnnotation, "true", on a Job of the built-in controller allows this controller to evict its slow pods.
	EvictAnnotation = domain + "evict"
	// Gate is a scheduling gate for the template of a Job with EvictAnnotation. Gate keeps the pods from the scheduler
	// until this controller has set the nodes that they must avoid.
	Gate = domain + "place"

	// ProgressAnnotation of a pod is its progress: a share as "0.4", or a quotient as "40/100". A time may follow, by the
	// pod's clock, in seconds since 1970: "40/100@1763846400.5". The number behind the "/" is the size of the index, in
	// units that all pods of the Job share. If all indexes have the same number, or none, sizes are not known.
	ProgressAnnotation = domain + "progress"
	// AttemptAnnotation of a pod is the name of its attempt. "17.1" is the second attempt of index 17.
	AttemptAnnotation = domain + "attempt"
	// CancelledAnnotation of a pod says that this controller deletes the pod, and why. A pod with this annotation is no
	// failure.
	CancelledAnnotation = domain + "cancelled"
	// AvoidAnnotation of a pod lists the nodes on which the pod must not run, with commas between them.
	AvoidAnnotation = domain + "avoid"
	// WinnerLabel, "true", is on the pod whose result is the result of its index. At most one pod of an index has it.
	WinnerLabel = domain + "winner"
	// ManagedLabel, "true", is on each pod that this controller has made.
	ManagedLabel = domain + "managed"

	// SlowTaint is the key of the taint of slow nodes. Its value is the time at which the taint ends, in seconds since 1970.
	SlowTaint = domain + "slow"
)

// These are names of Kubernetes itself.

const (
	finalizer        = batchv1.JobTrackingFinalizer
	indexAnnotation  = batchv1.JobCompletionIndexAnnotation
	countAnnotation  = batchv1.JobIndexFailureCountAnnotation
	legacyNameLabel  = "job-name"
	legacyOwnerLabel = "controller-uid"
)
