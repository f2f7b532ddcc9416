package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conclude decides whether the Job has succeeded or failed. If so, it sets the condition SuccessCriteriaMet or
// FailureTarget in the next status. It checks the causes in the same order as the built-in controller.
func (p *plan) conclude(pods []*v1.Pod, failJob string) {
	if p.ending() {
		return
	}
	fail := func(reason, message string) { p.set(batchv1.JobFailureTarget, v1.ConditionTrue, reason, message) }
	failures := int(p.status.Failed) + len(p.status.UncountedTerminatedPods.Failed) + p.delayed
	perIndex, spec := p.job.Spec.BackoffLimitPerIndex != nil, &p.job.Spec
	failedIndexes := p.givenUp.count()
	switch {
	case failJob != "":
		fail(batchv1.JobReasonPodFailurePolicy, failJob)
	case failures > backoffLimit(p.job) || pastRestarts(p.job, pods):
		fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case p.pastDeadline():
		fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	case perIndex && spec.MaxFailedIndexes != nil && failedIndexes > int(*spec.MaxFailedIndexes):
		fail(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case failedIndexes > 0 && failedIndexes+int(p.status.Succeeded) >= len(p.winners):
		fail(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	case p.meetsPolicy():
	case int(p.status.Succeeded) >= len(p.winners) && (!p.suspended() || len(p.winners) == 0):
		p.set(batchv1.JobSuccessCriteriaMet, v1.ConditionTrue, batchv1.JobReasonCompletionsReached,
			"Reached expected number of succeeded pods")
	}
}

// pastDeadline reports whether the Job has been active for longer than activeDeadlineSeconds. If not, it makes sure
// that the Job is synced at its deadline.
func (p *plan) pastDeadline() bool {
	if p.job.Spec.ActiveDeadlineSeconds == nil || p.status.StartTime == nil || p.suspended() {
		return false
	}
	left := time.Duration(*p.job.Spec.ActiveDeadlineSeconds)*time.Second - p.now.Sub(p.status.StartTime.Time)
	p.nextSync = max(left, 0)
	return left <= 0
}

// meetsPolicy reports whether a rule of the Job's successPolicy is met. If so, it sets the condition
// SuccessCriteriaMet.
func (p *plan) meetsPolicy() bool {
	if p.job.Spec.SuccessPolicy == nil {
		return false
	}
	for k := range p.job.Spec.SuccessPolicy.Rules {
		rule := &p.job.Spec.SuccessPolicy.Rules[k]
		have, want := p.completed.count(), 0
		// A rule may have a list of indexes, and a number. The rule is met if so many indexes of its list are
		// complete. Without a list, all indexes of the Job are meant. Without a number, all indexes of the list must
		// be complete.
		if rule.SucceededIndexes != nil {
			among, err := parseIndexes(*rule.SucceededIndexes, len(p.winners))
			if err != nil {
				continue
			}
			want, have = among.count(), 0
			for i, in := range among {
				if in && p.completed[i] {
					have++
				}
			}
		}
		if rule.SucceededCount != nil {
			want = int(*rule.SucceededCount)
		}
		if want > 0 && have >= want {
			p.set(batchv1.JobSuccessCriteriaMet, v1.ConditionTrue, batchv1.JobReasonSuccessPolicy,
				fmt.Sprintf("Matched rules at index %d", k))
			return true
		}
	}
	return false
}

// clear puts the pods that shall be deleted into p.remove:
//
//   - deleted pods that have not ended long after their grace period, which are deleted by force;
//   - all pods of a Job that ends or is suspended;
//   - successful pods that did not give their index the result;
//   - pods of an index that the Job does not have, or that was given up;
//   - pods beyond the Job's parallelism: waiting pods before running pods, and younger pods before older pods;
//   - pods that have CancelledAnnotation and are not deleted yet;
//   - pods that find no node because of the nodes that they must avoid, if no other pod of the index is active.
func (p *plan) clear(pods []*v1.Pod) {
	var alive []*v1.Pod
	for _, pod := range pods {
		i, why := index(pod), ""
		within := i >= 0 && i < len(p.winners)
		switch {
		case p.overdue(pod):
			p.remove = append(p.remove, removal{pod: pod, force: true})
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == v1.PodSucceeded:
			if within && p.winners[i] != pod && p.winners[i] != nil {
				why = "another pod of the index has won"
			}
		case ended(pod):
		case cancelledHere(pod):
			why = pod.Annotations[CancelledAnnotation]
		case p.failsWith(pod):
			p.remove = append(p.remove, removal{pod: pod, why: "the Job fails", counts: true})
		case p.ending():
			why = "the Job ends"
		case p.suspended():
			why = "the Job is suspended"
		case !within:
			why = "the Job has no such index"
		case p.givenUp[i]:
			why = "the index is given up"
		case stuck(pod, p.now) && p.sole(pod, pods):
			why = "the pod finds no node that it may use"
			p.soft = append(p.soft, i)
		default:
			alive = append(alive, pod)
		}
		if why != "" {
			p.remove = append(p.remove, removal{pod: pod, why: why})
		}
	}
	// If there are too many pods, running pods and older pods are kept first.
	if room := p.parallelism(); len(alive) > room {
		slices.SortStableFunc(alive, oldestFirst)
		for _, pod := range alive[room:] {
			p.remove = append(p.remove, removal{pod: pod, why: "the Job's parallelism is lower"})
		}
	}
}

// sole reports whether the pod is the only pod of its index that waits or runs.
func (p *plan) sole(pod *v1.Pod, pods []*v1.Pod) bool {
	return !slices.ContainsFunc(pods, func(o *v1.Pod) bool { return o != pod && active(o) && index(o) == index(pod) })
}

// parallelism returns how many pods of the Job may be active at once. The API's default is 1.
func (p *plan) parallelism() int {
	if p.job.Spec.Parallelism == nil {
		return 1
	}
	return int(*p.job.Spec.Parallelism)
}

// oldestFirst compares two pods for a sort: running pods come before waiting pods, and then older pods before younger
// pods.
func oldestFirst(a, b *v1.Pod) int {
	if x, y := a.Status.Phase == v1.PodRunning, b.Status.Phase == v1.PodRunning; x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.CreationTimestamp.Unix(), b.CreationTimestamp.Unix())
}

// free puts the pods whose finalizer shall be removed into p.release. These are the pods that have ended. When the
// finalizers are removed, the status that counts or lists these pods is already written.
func (p *plan) free(pods []*v1.Pod) {
	for _, pod := range pods {
		// While the Job is suspended, a deleted pod without a node is released, too. Such a pod never runs, so nobody
		// would ever report its end.
		neverRan := pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
		done := ended(pod) || p.overdue(pod) || p.listed[pod.UID] || neverRan && p.suspended()
		if hasFinalizer(pod) && done && !p.delays(pod) && !p.later[pod.UID] {
			p.release = append(p.release, pod)
		}
	}
}

// end sets the condition Complete or Failed if the Job ends and all its pods have ended and are counted.
func (p *plan) end(pods []*v1.Pod) {
	if p.over() || !p.ending() || p.status.Active > 0 || *p.status.Terminating > 0 ||
		len(p.status.UncountedTerminatedPods.Failed) > 0 || slices.ContainsFunc(pods, hasFinalizer) {
		return
	}
	p.nextSync = 0
	at := metav1.NewTime(p.now)
	if p.status.StartTime == nil { // the Job was suspended when it ended
		p.status.StartTime = &at
	}
	if at.Before(p.status.StartTime) { // the clock of an earlier controller was ahead
		at = *p.status.StartTime
	}
	// The condition FailureTarget leads to Failed, and SuccessCriteriaMet leads to Complete, with the same reason and
	// message.
	for _, c := range slices.Clone(p.status.Conditions) {
		switch {
		case c.Status != v1.ConditionTrue:
		case c.Type == batchv1.JobFailureTarget:
			p.set(batchv1.JobFailed, v1.ConditionTrue, c.Reason, c.Message)
		case c.Type == batchv1.JobSuccessCriteriaMet:
			p.set(batchv1.JobComplete, v1.ConditionTrue, c.Reason, c.Message)
			p.status.CompletionTime = &at
		}
	}
}
