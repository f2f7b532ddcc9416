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

// verdict is what a Job's podFailurePolicy says of a pod that has failed: by default that it counts.
func verdict(job *batchv1.Job, p *v1.Pod) (action batchv1.PodFailurePolicyAction, message string) {
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

// matches says why a rule is met by a pod, or nothing if it is not.
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

// failuresOf is how often an index has failed, as a pod of it that has failed shows: as often as when it was made, and
// once more if it counts.
func failuresOf(job *batchv1.Job, p *v1.Pod) int {
	n := carries(p)
	if action, _ := verdict(job, p); lost(job, p) && action != batchv1.PodFailurePolicyActionIgnore {
		n++
	}
	return n
}

// carries is how often the index of a pod had failed when the pod was made.
func carries(p *v1.Pod) int {
	n, _ := strconv.Atoi(p.Annotations[countAnnotation])
	return n
}

const (
	firstBackoff = 10 * time.Second
	maxBackoff   = 10 * time.Minute
)

// backoff is how long an index waits after its n-th failure.
func backoff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(firstBackoff<<min(failures-1, 10), maxBackoff)
}

// pastRestarts reports whether containers were restarted on their nodes more often than backoffLimit allows.
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

func backoffLimit(job *batchv1.Job) int {
	switch { // the API's defaults
	case job.Spec.BackoffLimit != nil:
		return int(*job.Spec.BackoffLimit)
	case job.Spec.BackoffLimitPerIndex != nil:
		return math.MaxInt32
	}
	return 6
}

// mostUncounted is how many failed pods the status lists at most before they are counted, as that of the built-in
// controller. The status of a Job has to fit into one object of the API server.
const mostUncounted = 500

// countFailures counts the failures whose pods have no finalizer any more, and lists those that are new.
func (p *plan) countFailures(pods []*v1.Pod) {
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
			p.note(pod)
		}
	}
	p.list(pods)
}

// list lists the failures that are new, as far as the status has room for them. It does so again as the Job fails, since
// pods fail with it.
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

// counts reports whether a pod is a failure that counts. As the Job fails, all its pods are that have not ended.
func (p *plan) counts(pod *v1.Pod) bool {
	i := index(pod)
	if i < 0 || i >= len(p.winners) || !lost(p.job, pod) && !p.failsWith(pod) {
		return false
	}
	action, _ := verdict(p.job, pod)
	return action != batchv1.PodFailurePolicyActionIgnore
}

// failing reports whether the Job is to fail.
func (p *plan) failing() bool { return holds(&p.status, batchv1.JobFailureTarget) }

// failsWith reports whether a pod is one that the Job takes along as it fails.
func (p *plan) failsWith(pod *v1.Pod) bool {
	i := index(pod)
	return p.failing() && !terminal(pod) && !ours(pod) && i >= 0 && i < len(p.winners) && !p.completed[i]
}

// note takes note of a failure that counts, for the pause before the next pod of its index.
func (p *plan) note(pod *v1.Pod) {
	i := index(pod)
	if p.setbacks == nil {
		p.setbacks = make(map[int]setback)
	}
	s := p.setbacks[i]
	if p.failures != nil && i >= 0 && i < len(p.failures) {
		s.failures = p.failures[i] // each pod knows of those before it
	} else {
		s.failures++
	}
	if at := endOf(pod, p.now); at.After(s.last) {
		s.last = at
	}
	p.setbacks[i] = s
}

// waits says until when an index waits for its next pod: the more of its pods have failed, the longer.
func (p *plan) waits(i int) time.Time {
	s := p.setbacks[i]
	return s.last.Add(backoff(s.failures))
}

// delays reports whether a failed pod has to stay, since it alone knows how often its index has failed.
func (p *plan) delays(pod *v1.Pod) bool {
	i := index(pod)
	if p.failures == nil || i < 0 || i >= len(p.winners) || p.completed[i] || p.given[i] || p.ending() || p.suspended() {
		return false
	}
	return failuresOf(p.job, pod) > p.carried[i] && p.counts(pod)
}
