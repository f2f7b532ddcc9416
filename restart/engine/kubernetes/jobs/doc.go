// Package jobs is for clusters and programs that run Kubernetes Jobs and lose time to a few slow pods. The type
// [Controller] is a Job controller: it makes the pods of a Job. If a pod is slow, it makes a copy of the pod on
// another node. The first pod that succeeds gives its index the result. The Controller runs the Indexed Jobs whose
// spec.managedBy is the name of the Controller:
//
//	controller, err := jobs.New(jobs.Config{Client: client})
//	err = controller.Run(ctx) // in one process at a time
//
// The controller writes the Job's status as the built-in Job controller does, so kubectl wait, CronJobs and owners of
// Jobs work as before. The controller uses only the Kubernetes API, and needs no change of the control plane. The
// command straggler-controller runs this package with flags, metrics and leader election.
//
// # What a pod must allow
//
// Two pods of the same index may run at once. Their results must be equal, or go to separate places, such as a path
// that contains the name of the pod. The pod that gave the index its result gets the label [WinnerLabel]. Other
// successful pods of the index are deleted.
//
// If two pods of an index must never run at once, set podReplacementPolicy: Failed, or set [CopiesAnnotation] to
// "false". Then the controller deletes a slow pod, waits for its end, and makes a new pod on another node.
//
// A pod may write its progress, and the size of its index, to [ProgressAnnotation]. Then the controller finds slow
// pods sooner and more surely than by their age alone.
//
// # Fields of a Job
//
// The controller obeys these fields of a Job's spec, and the pod template:
//
//   - completions, also if they change while the Job runs; parallelism, which limits all active pods, copies
//     included; suspend; successPolicy;
//   - backoffLimit, backoffLimitPerIndex, maxFailedIndexes, activeDeadlineSeconds;
//   - podFailurePolicy and podReplacementPolicy.
//
// A controller of Kubernetes handles ttlSecondsAfterFinished for all Jobs. If this controller deletes a slow pod, the
// pod is not counted as a failure. If it deletes a pod because the Job fails, the pod is counted as a failure. After
// a failure of an index, the next pod of the index is made after a pause: 10 s after the first failure of the index,
// 20 s after the second, and so on up to 10 min. NonIndexed Jobs and Jobs with more than 100,000 indexes are not run,
// and get an event that says so.
//
// # A sync
//
// The controller works in syncs. A sync reads the state of one Job and its pods, and brings the Job closer to its
// end. A sync has these steps:
//
//  1. A plan is made from the Job and its pods. It contains the next status of the Job, the winning pod of each
//     index, and the pods to delete.
//  2. The status is written to the API server. A failed pod is first listed in the status, and counted as a failure
//     in a later sync.
//  3. The finalizer is removed from ended pods. Pods that are not needed get an annotation with the reason, and are
//     deleted.
//  4. The state of the pods is reported to package restart/engine, which returns actions: pods to make and pods to
//     delete.
//  5. The actions are carried out. A new pod gets a node affinity that excludes the nodes that it must avoid.
//
// A Job is synced after a change of the Job or of one of its pods, and at least once in each Config.Interval. If a
// request to the API server fails, the next sync makes the same plan again, and the engine returns the same actions
// again.
//
// # Restarts of the controller
//
// The controller saves no state of its own. A new controller lists the Jobs, pods and nodes, and continues where the
// last controller has stopped. It can do so because it makes each plan only from the objects of the API server. As in
// the built-in controller, the finalizer batch.kubernetes.io/job-tracking keeps an ended pod until the pod is
// counted. The name of a pod follows from its attempt, so no pod is made twice. After a restart, only the knowledge
// about nodes from finished Jobs is lost.
//
// # The built-in controller
//
// With Config.Evict the controller also watches Jobs of the built-in controller, if they have [EvictAnnotation]. It
// evicts a slow pod of such a Job if the podFailurePolicy of the Job ignores DisruptionTarget, or if the Job is far
// from its backoffLimit. If the pods have the scheduling gate [Gate], a new pod waits until the controller has set
// the nodes that the pod must avoid.
//
// With Config.Taint the controller sets the taint [SlowTaint] on slow nodes for some time. Package estimate/machines
// finds out which nodes are slow, from the run times of the attempts there. The scheduler and Kueue respect the
// taint.
//
// # Cost
//
// A sync takes O(pods + completions) time, plus the requests to the API server. For a Job with 10,000 pods, of which
// 100 have ended since the last sync, a sync takes 0.1 s of CPU time, with its writes. The command go test -bench
// Sync ./jobs measures this.
package jobs
