package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// plan is the next status of a Job, and the pods to release and to remove. plan follows only from the objects of the API
// server, so a controller that dies anywhere makes the same plan again.
//
// The status is written before the pods are changed. A failed pod is listed in the status before its finalizer is
// removed. After that the failure is counted, and the pod leaves the list.
type plan struct {
	job     *batchv1.Job
	status  batchv1.JobStatus // the next status
	now     time.Time
	builtIn bool // the built-in controller runs the Job and counts the pods

	completed indexes   // status.completedIndexes
	givenUp   indexes   // status.failedIndexes
	winners   []*v1.Pod // by index; nil: none
	failures  []int     // by index; nil without backoffLimitPerIndex
	carried   []int     // by index: the failures that a later pod of the index carries in an annotation

	setbacks map[int]setback // by index: the failures that count
	delayed  int             // failures that count and are not in the status yet

	listed map[types.UID]bool // pods whose failure is in the status
	later  map[types.UID]bool // pods whose failure has no room in the status yet

	release  []*v1.Pod     // pods to release from their finalizer
	remove   []removal     // pods to delete
	soft     []int         // indexes whose next pod need not avoid any node
	nextSync time.Duration // when the Job must be synced again; 0: after its interval
}

// removal is a pod to delete.
type removal struct {
	pod    *v1.Pod
	why    string
	force  bool // without grace, because the pod does not end by itself
	counts bool // the pod counts as a failure
}

// setback is how often an index has failed, and when it failed last.
type setback struct {
	failures int
	last     time.Time
}

// makePlan makes the plan of an Indexed Job. pods are the pods that the Job owns, in the order of their indexes and
// names. makePlan takes O(pods + completions) time.
func makePlan(job *batchv1.Job, pods []*v1.Pod, now time.Time) *plan {
	n := int(*job.Spec.Completions)
	p := &plan{job: job, status: *job.Status.DeepCopy(), now: now, winners: make([]*v1.Pod, n)}
	p.completed, _ = parseIndexes(job.Status.CompletedIndexes, n) // this controller wrote it
	p.givenUp = make(indexes, n)
	if job.Status.FailedIndexes != nil {
		p.givenUp, _ = parseIndexes(*job.Status.FailedIndexes, n)
	}
	p.chooseWinners(pods)
	if finishedJob(job) { // the status must not change any more
		p.status = job.Status
		p.clear(pods)
		p.free(pods)
		return p
	}
	// The status first, then the pods: the Job's condition decides which pods are removed.
	p.start()
	p.countPods(pods)
	failJob := p.judgeIndexes(pods)
	p.countFailures(pods)
	p.conclude(pods, failJob)
	if p.failing() { // the running pods have become failures
		p.list(pods)
	}
	p.clear(pods)
	p.free(pods)
	p.end(pods)
	return p
}

// suspended reports whether the Job is suspended by its spec.
func (p *plan) suspended() bool { return p.job.Spec.Suspend != nil && *p.job.Spec.Suspend }

// ending reports whether the Job has succeeded or failed, or soon will, and gets no more pods.
func (p *plan) ending() bool {
	return holds(&p.status, batchv1.JobSuccessCriteriaMet) || holds(&p.status, batchv1.JobFailureTarget) || p.over()
}

// over reports whether the next status is Complete or Failed.
func (p *plan) over() bool {
	return holds(&p.status, batchv1.JobComplete) || holds(&p.status, batchv1.JobFailed)
}

// start sets the Job's start time and the condition Suspended.
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

// set sets a condition, and reports whether the condition has changed.
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

// countPods counts the active, ready and terminating pods in the status.
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

// chooseWinners chooses the winner of each index among its successful pods: the pod with WinnerLabel, or the pod that
// ended first, or, at equal times, the first by name.
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

// mayWin reports whether the success of a pod counts. A pod without its finalizer was counted as a failure before,
// unless its index was complete. A pod that this controller deletes may exit with 0 only because it was told to stop.
func (p *plan) mayWin(pod *v1.Pod) bool {
	return p.builtIn || p.completed[index(pod)] || pod.Labels[WinnerLabel] != "" ||
		hasFinalizer(pod) && (!cancelledHere(pod) || pod.DeletionTimestamp == nil)
}

// better reports whether pod a wins over pod b: it has the label, or ended earlier.
func better(a, b *v1.Pod) bool {
	if x, y := a.Labels[WinnerLabel], b.Labels[WinnerLabel]; x != y {
		return x != ""
	}
	_, x := span(a)
	_, y := span(b)
	return x.Before(y)
}

// judgeIndexes gives up indexes: an index with more failures than the Job's backoffLimitPerIndex, and an index with a
// failed pod that meets a rule of the podFailurePolicy with the action FailIndex. A complete index is never given up.
// judgeIndexes returns why the whole Job fails, if a failed pod meets a rule with the action FailJob, and "" otherwise.
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
		if !hasFailed(p.job, pod) || p.ending() { // the failed indexes of a Job that ends must not change
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
