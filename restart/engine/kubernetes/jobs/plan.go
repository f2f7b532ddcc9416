package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// plan contains the next status of a Job, the pods to release from their finalizer, and the pods to delete. A plan is
// made only from objects of the API server. So if a controller dies at any point, the next controller makes the same
// plan again.
//
// The status is written before the pods are changed. A failure is counted in three steps. First the failed pod is
// listed in the status. Then its finalizer is removed. Then the failure is added to the number of failures in the
// status, and the pod is removed from the list.
type plan struct {
	job     *batchv1.Job
	status  batchv1.JobStatus // the next status
	now     time.Time
	builtIn bool // the built-in controller runs the Job and writes its status

	completed indexes   // status.completedIndexes
	givenUp   indexes   // status.failedIndexes
	winners   []*v1.Pod // by index: the pod that gave the index its result; nil: none is known
	failures  []int     // by index: number of failures; nil without backoffLimitPerIndex
	carried   []int     // by index: largest number of earlier failures in a pod's annotation

	setbacks map[int]setback // by index: number and last time of the failures, as far as pods show them
	delayed  int             // number of failures that the status neither counts nor lists yet

	listed map[types.UID]bool // by UID: failed pods that the status lists
	later  map[types.UID]bool // by UID: failed pods for which the list in the status has no room yet

	release  []*v1.Pod     // pods whose finalizer shall be removed
	remove   []removal     // pods to delete
	soft     []int         // indexes whose next pod may run on any node
	nextSync time.Duration // time after which the Job must be synced again; 0: after its interval
}

// removal is a pod that shall be deleted, with the reason why.
type removal struct {
	pod    *v1.Pod
	why    string
	force  bool // delete it without a grace period, because its node is taken to be dead
	counts bool // the pod is counted as a failure, so it gets no CancelledAnnotation
}

// setback is the number of failures of an index, and the time of the last failure.
type setback struct {
	failures int
	last     time.Time
}

// makePlan makes the plan for an Indexed Job. pods are the pods that the Job owns, ordered by index and then by name.
// makePlan takes O(pods + completions) time.
func makePlan(job *batchv1.Job, pods []*v1.Pod, now time.Time) *plan {
	n := int(*job.Spec.Completions)
	p := &plan{job: job, status: *job.Status.DeepCopy(), now: now, winners: make([]*v1.Pod, n)}
	p.completed, _ = parseIndexes(job.Status.CompletedIndexes, n) // no error: a Job controller wrote the text
	p.givenUp = make(indexes, n)
	if job.Status.FailedIndexes != nil {
		p.givenUp, _ = parseIndexes(*job.Status.FailedIndexes, n)
	}
	p.chooseWinners(pods)
	if finishedJob(job) { // the status of a finished Job must not change
		p.status = job.Status
		p.clear(pods)
		p.free(pods)
		return p
	}
	// The status is made first, because the conditions in it decide which pods are deleted.
	p.start()
	p.countPods(pods)
	failJob := p.judgeIndexes(pods)
	p.countFailures(pods)
	p.conclude(pods, failJob)
	if p.failing() { // now the running pods are counted as failures, too
		p.list(pods)
	}
	p.clear(pods)
	p.free(pods)
	p.end(pods)
	return p
}

// suspended reports whether the owner has suspended the Job, by spec.suspend.
func (p *plan) suspended() bool { return p.job.Spec.Suspend != nil && *p.job.Spec.Suspend }

// ending reports whether the Job gets no more pods: it has succeeded or failed, or will do so as soon as its pods
// have ended.
func (p *plan) ending() bool {
	return holds(&p.status, batchv1.JobSuccessCriteriaMet) || holds(&p.status, batchv1.JobFailureTarget) || p.over()
}

// over reports whether the next status of the Job has the condition Complete or Failed.
func (p *plan) over() bool {
	return holds(&p.status, batchv1.JobComplete) || holds(&p.status, batchv1.JobFailed)
}

// start sets the start time and the condition Suspended in the Job's next status.
func (p *plan) start() {
	at := metav1.NewTime(p.now)
	switch {
	case p.suspended():
		if p.set(batchv1.JobSuspended, v1.ConditionTrue, "JobSuspended", "Job suspended") {
			p.status.StartTime = nil
		}
	case holds(&p.status, batchv1.JobSuspended):
		p.set(batchv1.JobSuspended, v1.ConditionFalse, "JobResumed", "Job resumed")
		p.status.StartTime = &at
	case p.status.StartTime == nil:
		p.status.StartTime = &at
	}
}

// set sets a condition in the Job's next status, and reports whether the status of this condition has changed.
func (p *plan) set(kind batchv1.JobConditionType, to v1.ConditionStatus, reason, message string) bool {
	at := metav1.NewTime(p.now)
	c := batchv1.JobCondition{
		Type: kind, Status: to, LastProbeTime: at, LastTransitionTime: at, Reason: reason, Message: message,
	}
	for i := range p.status.Conditions {
		if have := &p.status.Conditions[i]; have.Type == kind {
			changed := have.Status != to
			if changed {
				*have = c
			}
			return changed
		}
	}
	p.status.Conditions = append(p.status.Conditions, c)
	return true
}

// countPods sets the numbers of active, ready and terminating pods in the Job's next status.
func (p *plan) countPods(pods []*v1.Pod) {
	var alive, are, going int32
	for _, pod := range pods {
		switch {
		case active(pod):
			alive++
			if ready(pod) {
				are++
			}
		case pod.DeletionTimestamp != nil && !terminal(pod):
			going++
		}
	}
	p.status.Active, p.status.Ready, p.status.Terminating = alive, &are, &going
}

// chooseWinners chooses for each index the pod that gives the index its result, among the successful pods of the
// index. A pod with WinnerLabel is chosen, or else the pod that ended first. Of two pods that ended at the same time,
// the first by name is chosen.
func (p *plan) chooseWinners(pods []*v1.Pod) {
	for _, pod := range pods {
		i := index(pod)
		if pod.Status.Phase != v1.PodSucceeded || i < 0 || i >= len(p.winners) || p.givenUp[i] || !p.mayWin(pod) {
			continue
		}
		if best := p.winners[i]; best == nil || better(pod, best) {
			p.winners[i] = pod
		}
		p.completed[i] = true
	}
	p.status.CompletedIndexes = p.completed.String()
	p.status.Succeeded = int32(p.completed.count())
}

// mayWin reports whether a successful pod may give its index the result. There are two kinds of pods that may not. A
// pod without its finalizer may have been counted as a failure before, unless its index is complete. A pod that this
// controller deletes may have exited with 0 only because it was told to stop.
func (p *plan) mayWin(pod *v1.Pod) bool {
	return p.builtIn || p.completed[index(pod)] || pod.Labels[WinnerLabel] != "" ||
		hasFinalizer(pod) && (!cancelledHere(pod) || pod.DeletionTimestamp == nil)
}

// better reports whether the successful pod a is preferred to the successful pod b: a has WinnerLabel, or a ended
// earlier.
func better(a, b *v1.Pod) bool {
	if x, y := a.Labels[WinnerLabel], b.Labels[WinnerLabel]; x != y {
		return x != ""
	}
	_, x := span(a)
	_, y := span(b)
	return x.Before(y)
}

// judgeIndexes gives up indexes that have failed for good. An index is given up if it has more failures than
// backoffLimitPerIndex allows, or if one of its failed pods meets a rule of the podFailurePolicy with the action
// FailIndex. A complete index is never given up. If a failed pod meets a rule with the action FailJob, judgeIndexes
// returns why the whole Job fails. Otherwise it returns "".
func (p *plan) judgeIndexes(pods []*v1.Pod) (failJob string) {
	limit := p.job.Spec.BackoffLimitPerIndex
	if limit != nil {
		p.failures, p.carried = make([]int, len(p.winners)), make([]int, len(p.winners))
	}
	for _, pod := range pods {
		i := index(pod)
		if i < 0 || i >= len(p.winners) {
			continue
		}
		if limit != nil {
			p.failures[i], p.carried[i] = max(p.failures[i], failuresOf(p.job, pod)), max(p.carried[i], carries(pod))
		}
		if !hasFailed(p.job, pod) || p.ending() { // the failed indexes must not change any more while the Job ends
			continue
		}
		switch action, why := policyAction(p.job, pod); action {
		case batchv1.PodFailurePolicyActionFailJob:
			if failJob == "" {
				failJob = why
			}
		case batchv1.PodFailurePolicyActionFailIndex:
			p.givenUp[i] = limit != nil && !p.completed[i]
		}
	}
	if limit == nil {
		return failJob
	}
	for i, n := range p.failures {
		if n > int(*limit) && !p.completed[i] && !p.ending() {
			p.givenUp[i] = true
		}
	}
	text := p.givenUp.String()
	p.status.FailedIndexes = &text
	return failJob
}
