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

// conclude sets the condition SuccessCriteriaMet or FailureTarget, if the Job has succeeded or failed. conclude checks
// the causes in the order of the built-in controller.
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

// pastDeadline reports whether the Job has been active for too long. Before that, it sets the time of the next sync.
func (p *plan) pastDeadline() bool {
	if p.job.Spec.ActiveDeadlineSeconds == nil || p.status.StartTime == nil || p.suspended() {
		return false
	}
	left := time.Duration(*p.job.Spec.ActiveDeadlineSeconds)*time.Second - p.now.Sub(p.status.StartTime.Time)
	p.nextSync = max(left, 0)
	return left <= 0
}

// meetsPolicy reports whether a rule of the Job's successPolicy is met, and then sets SuccessCriteriaMet.
func (p *plan) meetsPolicy() bool {
	if p.job.Spec.SuccessPolicy == nil {
		return false
	}
	for k := range p.job.Spec.SuccessPolicy.Rules {
		rule := &p.job.Spec.SuccessPolicy.Rules[k]
		have, want := p.completed.count(), 0
		// A rule counts the successes among its indexes, or among all indexes. The rule is met by all of its indexes, or by a
		// count.
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

// clear lists the pods to remove:
//
//   - terminating pods that have not ended long after their grace, by force;
//   - all pods of a Job that ends or is suspended;
//   - successful pods that did not win;
//   - pods of an index that the Job does not have, or has given up;
//   - pods beyond the Job's parallelism, the youngest first;
//   - pods that were marked for deletion and are not deleted yet;
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
	// Running pods stay before waiting pods, and older pods before younger pods.
	if room := p.parallelism(); len(alive) > room {
		slices.SortStableFunc(alive, oldestFirst)
		for _, pod := range alive[room:] {
			p.remove = append(p.remove, removal{pod: pod, why: "the Job's parallelism is lower"})
		}
	}
}

// sole reports whether no other pod of the pod's index waits or runs.
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

// oldestFirst orders running pods before waiting pods, and older pods before younger pods.
func oldestFirst(a, b *v1.Pod) int {
	if x, y := a.Status.Phase == v1.PodRunning, b.Status.Phase == v1.PodRunning; x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.CreationTimestamp.Unix(), b.CreationTimestamp.Unix())
}

// free lists the pods to release from their finalizer: the pods that have ended. The status is written first, so it
// already counts these pods.
func (p *plan) free(pods []*v1.Pod) {
	for _, pod := range pods {
		// A deleted pod without a node never gets a phase of its own while its Job is suspended: nothing waits for its end.
		neverRan := pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
		done := ended(pod) || p.overdue(pod) || p.listed[pod.UID] || neverRan && p.suspended()
		if hasFinalizer(pod) && done && !p.delays(pod) && !p.later[pod.UID] {
			p.release = append(p.release, pod)
		}
	}
}

// end sets the condition Complete or Failed, once no pod of the Job is active, terminating or uncounted.
func (p *plan) end(pods []*v1.Pod) {
	if p.over() || !p.ending() || p.status.Active > 0 || *p.status.Terminating > 0 ||
		len(p.status.UncountedTerminatedPods.Failed) > 0 || slices.ContainsFunc(pods, hasFinalizer) {
		return
	}
	p.nextSync = 0
	at := metav1.NewTime(p.now)
	if p.status.StartTime == nil { // the Job was suspended meanwhile
		p.status.StartTime = &at
	}
	if at.Before(p.status.StartTime) { // another controller's clock was ahead
		at = *p.status.StartTime
	}
	// FailureTarget becomes Failed, and SuccessCriteriaMet becomes Complete, with the same reason and message.
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
