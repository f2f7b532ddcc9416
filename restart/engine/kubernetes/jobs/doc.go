// Package jobs runs Kubernetes Jobs and mitigates their stragglers. [Controller] is a Job controller for the Indexed
// Jobs whose spec.managedBy names it: it makes their pods, copies those that lag behind on other nodes, lets the first
// success of an index win, and keeps the Job's status as the API server wants it, so that kubectl wait, CronJobs and
// owners go on as ever. It acts through the API alone: it needs no part of the control plane changed.
//
//	controller, err := jobs.New(jobs.Config{Client: client})
//	err = controller.Run(ctx) // in one process at a time
//
// Command straggler-controller is that with flags, metrics and leader election.
//
// # What a pod has to do
//
// Nothing, if it may run twice: what two pods of an index do must come to the same, or go to places of their own, such
// as a path with the pod's name. Of an index one pod keeps the label [WinnerLabel]; others that succeed are deleted. A
// pod that tells how far it is, and of how much, in [ProgressAnnotation], is judged sooner and better than one of which
// only the age is known. Where no two pods of an index may ever run at once, say podReplacementPolicy: Failed, or
// [CopiesAnnotation]: then what lags is deleted and made again elsewhere.
//
// # What of a Job is honoured
//
// completions (elastic ones, too), parallelism, which bounds copies as well, suspend, successPolicy, backoffLimit,
// backoffLimitPerIndex, maxFailedIndexes, activeDeadlineSeconds, podFailurePolicy, podReplacementPolicy, and the pod
// template. ttlSecondsAfterFinished is the business of another controller, which asks nobody who runs a Job. Stragglers
// that this controller deletes count as no failures; pods that it deletes because the Job fails do. Failed pods are made
// again after 10 s, 20 s and so on up to 10 min, counted by index. NonIndexed Jobs, and those of more than 100,000
// indexes, are left alone, with an event that says so.
//
// # Restarts
//
// A controller keeps nothing. One that starts lists the Jobs, pods and nodes, and goes on where the last one stopped,
// wherever that was: the plan is made of what the API server shows, ends are counted under the finalizer
// batch.kubernetes.io/job-tracking as the built-in controller does, and pods have names that follow from the attempt.
// What is lost is what was learned of nodes from Jobs that are gone.
//
// # The built-in controller
//
// With Config.Evict, Jobs with [EvictAnnotation] that the built-in controller runs are watched as well, and what lags
// is evicted, once their podFailurePolicy ignores DisruptionTarget; pods with the scheduling gate [Gate] are kept from
// where that was. With Config.Taint, nodes that the record of machines (package estimate/machines) calls slow get the
// taint [SlowTaint] for a while, which the scheduler heeds, and Kueue.
package jobs
