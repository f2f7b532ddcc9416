package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// plan is what a Job's status becomes and what is done to its pods, by what the API server shows and nothing else: a
// controller that dies anywhere makes the same plan again. The status is written before anything is done to the pods:
// an end stands in it before the pod's finalizer goes, and leaves its list of those that were not counted after that.
type plan struct {
	job     *batchv1.Job
	status  batchv1.JobStatus
	now     time.Time
	builtIn bool // the built-in controller counts the pods

	completed, given indexes // given up: status.failedIndexes
	winners          []*v1.Pod
	failures         []int // by index, if they count by index
	carried          []int // of them, as many as a later pod of the index knows

	setbacks map[int]setback // by index, of those with failures that count
	delayed  int             // failures that count and are not in the status yet

	listed map[types.UID]bool // pods whose failure is in the status
	later  map[types.UID]bool // pods whose failure it has no room for yet

	release []*v1.Pod // of which the finalizer goes
	remove  []removal // which are deleted
	soft    []int     // indexes whose next pod need not avoid any node
	wake    time.Duration
}

// removal is a pod to delete, and why.
type removal struct {
	pod    *v1.Pod
	why    string
	force  bool // it does not end by itself
	counts bool // it is a failure
}

// setback is how often an index has failed, and when it did last.
type setback struct {
	failures int
	last     time.Time
}

// makePlan makes the plan of an Indexed Job. The pods are those that it owns, in the order of their indexes and names.
// O(pods + completions).
func makePlan(job *batchv1.Job, pods []*v1.Pod, now time.Time) *plan {
	n := int(*job.Spec.Completions)
	p := &plan{job: job, status: *job.Status.DeepCopy(), now: now, winners: make([]*v1.Pod, n)}
	p.completed, _ = parseIndexes(job.Status.CompletedIndexes, n) // it was written here
	p.given = make(indexes, n)
	if job.Status.FailedIndexes != nil {
		p.given, _ = parseIndexes(*job.Status.FailedIndexes, n)
	}
	p.chooseWinners(pods)
	if finishedJob(job) { // its status is as it is to stay
		p.status = job.Status
		p.clear(pods)
		p.free(pods)
		return p
	}
	p.start()
	p.countPods(pods)
	failJob := p.judgeIndexes(pods)
	p.countFailures(pods)
	p.conclude(pods, failJob)
	if p.failing() {
		p.list(pods)
	}
	p.clear(pods)
	p.free(pods)
	p.end(pods)
	return p
}

func (p *plan) suspended() bool { return p.job.Spec.Suspend != nil && *p.job.Spec.Suspend }

// ending reports whether the Job is to end, well or not, and gets no pod any more.
func (p *plan) ending() bool {
	return holds(&p.status, batchv1.JobSuccessCriteriaMet) || holds(&p.status, batchv1.JobFailureTarget) || p.over()
}

func (p *plan) over() bool {
	return holds(&p.status, batchv1.JobComplete) || holds(&p.status, batchv1.JobFailed)
}

// start dates the Job's start, and says whether it is suspended.
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

// set sets a condition, and reports whether it was not so before.
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

// chooseWinners names for each index the pod whose success counts: the one that has the label, else the first by its
// end, else by its name.
func (p *plan) chooseWinners(pods []*v1.Pod) {
	for _, pod := range pods {
		i := index(pod)
		if pod.Status.Phase != v1.PodSucceeded || i < 0 || i >= len(p.winners) || p.given[i] || !p.mayWin(pod) {
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

// mayWin reports whether the success of a pod counts. A pod without its finalizer has been counted as a failure, unless its
// index was complete before. A pod that this controller deletes may exit with 0 because it was told to stop.
func (p *plan) mayWin(pod *v1.Pod) bool {
	return p.builtIn || p.completed[index(pod)] || pod.Labels[WinnerLabel] != "" ||
		hasFinalizer(pod) && (!ours(pod) || pod.DeletionTimestamp == nil)
}

func better(a, b *v1.Pod) bool {
	if x, y := a.Labels[WinnerLabel], b.Labels[WinnerLabel]; x != y {
		return x != ""
	}
	_, x := span(a)
	_, y := span(b)
	return x.Before(y)
}

// judgeIndexes gives up the indexes that have failed too often, and says why the whole Job fails, if a pod says so.
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
		if !lost(p.job, pod) || p.ending() { // the Job's failed indexes are as they are to stay
			continue
		}
		switch action, why := verdict(p.job, pod); action {
		case batchv1.PodFailurePolicyActionFailJob:
			if failJob == "" {
				failJob = why
			}
		case batchv1.PodFailurePolicyActionFailIndex:
			p.given[i] = limit != nil && !p.completed[i]
		}
	}
	if limit == nil {
		return failJob
	}
	for i, n := range p.failures {
		if n > int(*limit) && !p.completed[i] && !p.ending() {
			p.given[i] = true
		}
	}
	text := p.given.String()
	p.status.FailedIndexes = &text
	return failJob
}
