package jobs

import batchv1 "k8s.io/api/batch/v1"

// Manager is the default of Config.Manager: the value that spec.managedBy has in the Jobs that a controller runs.
const Manager = domain + "job-controller"

// These are the names of annotations, labels and taints of Jobs, pods and nodes. The owner of a Job sets the
// annotations of the Job. The program in a pod sets ProgressAnnotation. The controller sets all other annotations and
// labels, and the taint.
const (
	domain = "straggler-go.github.io/"

	// PolicyAnnotation of a Job is the text of the policy for the Job, such as "late,min-age=5s"; see [ParsePolicy].
	// With the text "none" no slow pod is copied or restarted. Without this annotation, Config.Policy is used.
	PolicyAnnotation = domain + "policy"
	// IntervalAnnotation of a Job is the longest time between two syncs of the Job, such as "1s". Without it,
	// Config.Interval is used.
	IntervalAnnotation = domain + "interval"
	// WorkAnnotation of a Job contains the size of each index, in a unit of the owner's choice. For example, "1,1,5"
	// means three indexes of the sizes 1, 1 and 5. "1*43,5*5" means 43 indexes of size 1, followed by 5 indexes of
	// size 5.
	WorkAnnotation = domain + "work"
	// CopiesAnnotation of a Job says whether two pods of an index may run at once: "true" or "false". Without this
	// annotation they may, unless podReplacementPolicy is Failed. Failed is the default for a Job with a
	// podFailurePolicy.
	CopiesAnnotation = domain + "copies"
	// ShadowAnnotation of a Job with the value "true" lets the controller decide about slow pods of the Job without
	// acting. Each decision is an event and a metric. So is the bill at the end of the Job: the time that the policy
	// would have saved. Failed and lost pods are made again as usual. With "false" the controller acts. Without this
	// annotation, Config.Shadow is used.
	ShadowAnnotation = domain + "shadow"
	// EvictAnnotation with the value "true", on a Job of the built-in controller, allows the controller of this
	// package to evict slow pods of the Job.
	EvictAnnotation = domain + "evict"
	// Gate is the name of a scheduling gate for the pod template of a Job with EvictAnnotation. With the gate, the
	// scheduler does not place a pod until the controller has set the nodes that the pod must avoid, and has removed
	// the gate.
	Gate = domain + "place"

	// ProgressAnnotation of a pod is its progress: a share such as "0.4", or a quotient such as "40/100". The time of
	// the report may follow, by the pod's clock, in seconds since 1970: "40/100@1763846400.5". The number after the
	// "/" is the size of the pod's index, in a unit that is the same for all pods of the Job. If all indexes have the
	// same number, or none, the indexes are taken to be of the same size.
	ProgressAnnotation = domain + "progress"
	// AttemptAnnotation of a pod is the ID of its attempt. For example, "17.1" is the second attempt of index 17; the
	// first is "17.0".
	AttemptAnnotation = domain + "attempt"
	// CancelledAnnotation of a pod means that the controller deletes the pod because it is not needed. Its value is
	// the reason. A pod with this annotation is not counted as a failure.
	CancelledAnnotation = domain + "cancelled"
	// AvoidAnnotation of a pod contains the names of the nodes on which the pod must not run, separated by commas.
	AvoidAnnotation = domain + "avoid"
	// WinnerLabel with the value "true" is on the pod whose result is the result of its index. At most one pod of an
	// index has this label.
	WinnerLabel = domain + "winner"
	// ManagedLabel with the value "true" is on each pod that the controller has made.
	ManagedLabel = domain + "managed"

	// SlowTaint is the key of the taint that the controller sets on slow nodes. The value of the taint is the time at
	// which the controller removes it, in seconds since 1970.
	SlowTaint = domain + "slow"
)

// These names are defined by Kubernetes, and not by this package.

const (
	finalizer        = batchv1.JobTrackingFinalizer
	indexAnnotation  = batchv1.JobCompletionIndexAnnotation
	countAnnotation  = batchv1.JobIndexFailureCountAnnotation
	legacyNameLabel  = "job-name"
	legacyOwnerLabel = "controller-uid"
)
