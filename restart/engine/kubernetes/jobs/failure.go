package jobs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// policyAction returns the action that a Job's podFailurePolicy demands for a failed pod, and the reason as a text.
// If no rule matches the pod, the action is Count.
func policyAction(job *batchv1.Job, p *v1.Pod) (action batchv1.PodFailurePolicyAction, message string) {
	if policy := job.Spec.PodFailurePolicy; policy != nil {
		for i := range policy.Rules {
			rule := &policy.Rules[i]
			if why := matches(rule, p); why != "" {
				return rule.Action, fmt.Sprintf("%s matching %v rule at index %d", why, rule.Action, i)
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount, ""
}

// matches returns a text that says why a pod meets a rule of a podFailurePolicy, or "" if the pod does not meet the
// rule.
func matches(rule *batchv1.PodFailurePolicyRule, p *v1.Pod) string {
	if codes := rule.OnExitCodes; codes != nil && p.Status.Phase == v1.PodFailed {
		for _, list := range [][]v1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
			for i := range list {
				s := &list[i]
				if s.State.Terminated == nil || codes.ContainerName != nil && *codes.ContainerName != s.Name {
					continue
				}
				code := s.State.Terminated.ExitCode
				if code != 0 && slices.Contains(codes.Values, code) == (codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
					return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v", s.Name, p.Namespace, p.Name, code)
				}
			}
		}
	}
	for _, pattern := range rule.OnPodConditions {
		for i := range p.Status.Conditions {
			c := &p.Status.Conditions[i]
			if c.Type == pattern.Type && (c.Status == pattern.Status || pattern.Status == "" && c.Status == v1.ConditionTrue) {
				return fmt.Sprintf("Pod %s/%s has condition %v", p.Namespace, p.Name, c.Type)
			}
		}
	}
	return ""
}

// failuresOf returns how often a pod's index has failed, as far as this pod shows it. This is the number of failures
// before the pod was made, plus 1 if the pod itself has failed and its failure is not ignored.
func failuresOf(job *batchv1.Job, p *v1.Pod) int {
	n := carries(p)
	if action, _ := policyAction(job, p); hasFailed(job, p) && action != batchv1.PodFailurePolicyActionIgnore {
		n++
	}
	return n
}

// carries returns how often a pod's index had failed when the pod was made. An annotation of the pod contains this
// number.
func carries(p *v1.Pod) int {
	n, _ := strconv.Atoi(p.Annotations[countAnnotation])
	return n
}

const (
	firstBackoff = 10 * time.Second
	maxBackoff   = 10 * time.Minute
)

// backoff returns how long an index must wait for its next pod after this number of failures: 10 s after the first
// failure, 20 s after the second, 40 s after the third and so on, up to 10 min.
func backoff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(firstBackoff<<min(failures-1, 10), maxBackoff)
}

// pastRestarts reports whether the Job fails because its containers were restarted too often. This is possible only
// with the restartPolicy OnFailure. Then the kubelets restart containers. The Job fails if the number of restarts in
// its active pods reaches backoffLimit, or 1 if backoffLimit is 0.
func pastRestarts(job *batchv1.Job, pods []*v1.Pod) bool {
	if job.Spec.Template.Spec.RestartPolicy != v1.RestartPolicyOnFailure {
		return false
	}
	n, limit := 0, backoffLimit(job)
	for _, p := range pods {
		if active(p) {
			n += restarts(p)
		}
	}
	return n > 0 && n >= limit
}

// backoffLimit returns how many failures a Job may have. If spec.backoffLimit is not set, the API's default is used:
// 6, or no limit if backoffLimitPerIndex is set.
func backoffLimit(job *batchv1.Job) int {
	switch {
	case job.Spec.BackoffLimit != nil:
		return int(*job.Spec.BackoffLimit)
	case job.Spec.BackoffLimitPerIndex != nil:
		return math.MaxInt32
	}
	return 6
}

// mostUncounted is the largest number of failed pods that a Job's status lists before they are counted. The built-in
// controller has the same limit. Without a limit, the Job could become too large for the API server.
const mostUncounted = 500

// countFailures brings the failures in the next status up to date. If a pod is listed as failed and no longer has its
// finalizer, the pod is added to the number of failures and removed from the list. New failures are added to the
// list.
func (p *plan) countFailures(pods []*v1.Pod) {
	// held contains the pods that still have the finalizer. A listed pod that does not have it is counted now, and is
	// removed from the list.
	held := make(map[types.UID]bool)
	for _, pod := range pods {
		if hasFinalizer(pod) {
			held[pod.UID] = true
		}
	}
	p.listed = make(map[types.UID]bool)
	var open []types.UID
	if u := p.status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Failed {
			if p.listed[uid] = true; held[uid] {
				open = append(open, uid)
			} else {
				p.status.Failed++
			}
		}
	}
	p.status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: open}
	for _, pod := range pods {
		if pod.Status.Phase == v1.PodFailed && p.counts(pod) {
			p.noteFailure(pod)
		}
	}
	p.list(pods)
}

// list adds new failures to the list of failed pods in the next status, up to mostUncounted. It is called a second
// time when the Job fails, because then all active pods are counted as failures.
func (p *plan) list(pods []*v1.Pod) {
	p.delayed, p.later = 0, nil
	open := &p.status.UncountedTerminatedPods.Failed
	for _, pod := range pods {
		switch {
		case !hasFinalizer(pod) || p.listed[pod.UID] || !p.counts(pod):
		case p.delays(pod):
			p.delayed++
		case len(*open) >= mostUncounted:
			p.delayed++
			if p.later == nil {
				p.later = make(map[types.UID]bool)
			}
			p.later[pod.UID] = true
		default:
			*open = append(*open, pod.UID)
			p.listed[pod.UID] = true
		}
	}
}

// counts reports whether a pod is counted as a failure. If the Job fails, pods that have not ended are counted as
// failures, too.
func (p *plan) counts(pod *v1.Pod) bool {
	i := index(pod)
	if i < 0 || i >= len(p.winners) || !hasFailed(p.job, pod) && !p.failsWith(pod) {
		return false
	}
	action, _ := policyAction(p.job, pod)
	return action != batchv1.PodFailurePolicyActionIgnore
}

// failing reports whether the Job fails: it has the condition FailureTarget.
func (p *plan) failing() bool { return holds(&p.status, batchv1.JobFailureTarget) }

// failsWith reports whether a pod is deleted and counted as a failure only because the whole Job fails. The pod has
// not ended, and its index has no result.
func (p *plan) failsWith(pod *v1.Pod) bool {
	i := index(pod)
	return p.failing() && !terminal(pod) && !cancelledHere(pod) && i >= 0 && i < len(p.winners) && !p.completed[i]
}

// noteFailure records the failure of a pod in p.setbacks. The pause before the next pod of the index is computed from
// it.
func (p *plan) noteFailure(pod *v1.Pod) {
	i := index(pod)
	if p.setbacks == nil {
		p.setbacks = make(map[int]setback)
	}
	s := p.setbacks[i]
	if p.failures != nil && i >= 0 && i < len(p.failures) {
		s.failures = p.failures[i] // each pod has the number of earlier failures in an annotation
	} else {
		s.failures++
	}
	if at := endOf(pod, p.now); at.After(s.last) {
		s.last = at
	}
	p.setbacks[i] = s
}

// pauseEnd returns the time from which on the next pod of index i may be made. After each failure of an index there
// is a pause, which grows with the number of its failures.
func (p *plan) pauseEnd(i int) time.Time {
	s := p.setbacks[i]
	return s.last.Add(backoff(s.failures))
}

// delays reports whether a failed pod must keep its finalizer for now. The index's number of failures is stored only
// in annotations of its pods. As long as no later pod has the number that includes this failure, the failed pod must
// stay.
func (p *plan) delays(pod *v1.Pod) bool {
	i := index(pod)
	if p.failures == nil || i < 0 || i >= len(p.winners) || p.completed[i] || p.givenUp[i] || p.ending() || p.suspended() {
		return false
	}
	return failuresOf(p.job, pod) > p.carried[i] && p.counts(pod)
}
