// Package jobs is for clusters and programs that run Kubernetes Jobs and lose time to a few slow pods. Its [Controller]
// is a Job controller: it makes the pods of a Job, copies slow pods on other nodes, and lets the first success of an
// index win. The Controller runs the Indexed Jobs with its name in spec.managedBy:
//
//	controller, err := jobs.New(jobs.Config{Client: client})
//	err = controller.Run(ctx) // in one process at a time
//
// The controller keeps the Job's status as the API server requires it, so kubectl wait, CronJobs and owners work as
// before. The controller uses only the API, and needs no change of the control plane. Command straggler-controller is
// this package with flags, metrics and leader election.
//
// # What a pod must allow
//
// An index may have two running pods at once. Their results must be equal, or go to separate places, such as a path
// with the pod's name. The pod whose result counts has the label [WinnerLabel]. Other successful pods of the index are
// deleted.
//
// If two pods of an index must never run at once, set podReplacementPolicy: Failed, or [CopiesAnnotation]. Then a slow
// pod is deleted and made again on another node.
//
// A pod may write its progress, and the work of its index, to [ProgressAnnotation]. Then slow pods are found sooner and
// more surely than by their age alone.
//
// # Fields of a Job
//
// The controller honours these fields, and the pod template:
//
//   - completions, also of elastic Jobs; parallelism, which bounds copies, too; suspend; successPolicy;
//   - backoffLimit, backoffLimitPerIndex, maxFailedIndexes, activeDeadlineSeconds;
//   - podFailurePolicy and podReplacementPolicy.
//
// Another controller handles ttlSecondsAfterFinished for all Jobs. A slow pod that this controller deletes is no
// failure. A pod that this controller deletes because the Job fails is a failure. A failed pod is made again after 10
// s, then 20 s, and so on up to 10 min; failures are counted by index. NonIndexed Jobs and Jobs with more than 100,000
// indexes are not run, and get an event that says so.
//
// # A sync
//
// A sync brings one Job closer to its goal, in this order:
//
//  1. The plan is made from the Job and its pods: the next status, the winner of each index, the pods to delete.
//  2. The status is written. The status lists a failed pod before the pod is counted.
//  3. Ended pods are released from their finalizer, and unneeded pods are marked with a reason and deleted.
//  4. The state of the attempts is reported to package restart/engine, which answers with actions.
//  5. The actions become pods, with a node affinity against nodes to avoid, and deletions.
//
// A Job is synced after a change of the Job or of a pod, and once in an interval. A failed request needs no special care:
// the next sync makes the same plan again, and the engine repeats its actions.
//
// # Restarts of the controller
//
// The controller saves no state of its own. A new controller lists the Jobs, pods and nodes, and goes on where the last
// one has stopped: it makes its plan from the objects of the API server, it counts ended pods under the finalizer
// batch.kubernetes.io/job-tracking, as the built-in controller does, and it derives a pod's name from its attempt. Only
// the knowledge about nodes from finished Jobs is lost.
//
// # The built-in controller
//
// With Config.Evict the controller also watches the built-in controller's Jobs with [EvictAnnotation]. The controller
// evicts their slow pods if the podFailurePolicy ignores DisruptionTarget. A pod with the scheduling gate [Gate] waits
// until the controller has set the nodes that it must avoid.
//
// With Config.Taint, slow nodes get the taint [SlowTaint] for a while. The record of machines (package estimate/machines)
// says which nodes are slow. The scheduler and Kueue respect the taint.
//
// # Cost
//
// A sync takes O(pods + completions) time, plus the requests to the API server. If 100 of a Job's 10,000 pods have
// ended since the sync before, a sync takes 0.1 s of CPU time with its writes (go test -bench Sync ./jobs).
package jobs
