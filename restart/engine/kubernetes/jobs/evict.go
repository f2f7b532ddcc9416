package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// evicts reports whether this controller may evict slow pods of a Job: Config.Evict is set, the built-in controller
// runs the Job, and the Job has EvictAnnotation.
func (c *Controller) evicts(job *batchv1.Job) bool {
	by := job.Spec.ManagedBy
	return c.config.Evict && job.Annotations[EvictAnnotation] == "true" && (by == nil || *by == batchv1.JobControllerName)
}

// syncEvicting syncs a Job that the built-in controller runs, and returns the time after which the Job must be synced
// again. Copies are not possible, because the built-in controller deletes the younger of two pods of an index. To
// restart a pod, syncEvicting evicts it. The pod's node gets a taint for a minute, so that the next pod of the index
// goes to another node.
func (c *Controller) syncEvicting(
	ctx context.Context, key string, job *batchv1.Job, pods []*v1.Pod,
) (time.Duration, error) {
	s, wrong := readSpec(job, c.config.defaults(), c.config.ParsePolicy)
	if wrong != nil {
		c.eventOnce(job, v1.EventTypeWarning, "BadSpec", wrong.Error())
	}
	p := &plan{job: job, now: c.config.Now(), builtIn: true}
	if errors.Is(wrong, errIndexed) || p.suspended() {
		c.drop(key)
		return 0, nil
	}
	// In this plan only the fields about winning pods are set. The built-in controller writes the status and deletes
	// pods.
	s.copies = false
	p.winners, p.givenUp = make([]*v1.Pod, s.tasks), make(indexes, s.tasks)
	p.completed, _ = parseIndexes(job.Status.CompletedIndexes, s.tasks)
	p.chooseWinners(pods)
	if finishedJob(job) {
		c.settle(key, job, p, pods)
		return 0, nil
	}
	actions, avoid, err := c.pollEvicting(key, job, s, p, pods)
	c.showWanted(key, job)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(c.ungate(ctx, job, pods, avoid), c.unstick(ctx, job, pods, p.now)); err != nil {
		return s.interval, err
	}
	for i := range actions {
		if a := &actions[i]; a.Op == engine.Cancel && a.Decision.Action == restart.Restart {
			if err := c.evict(ctx, job, p, pods, a); err != nil {
				return s.interval, err
			}
		}
	}
	return s.interval, nil
}

// pollEvicting reports the pods of a Job of the built-in controller to the engine.Phase, and returns its actions. In
// an action to cancel, ID is the UID of the pod. avoid returns the nodes that the next pod of an index must avoid.
func (c *Controller) pollEvicting(
	key string, job *batchv1.Job, s spec, p *plan, pods []*v1.Pod,
) (actions []engine.Action, avoid func(index int) []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.runOf(key, job, s, p.now, pods, true)
	if err != nil {
		return nil, nil, err
	}
	// The built-in controller makes the pods. The method bind connects each new pod with the attempt that the
	// engine.Phase has submitted.
	r.bind(pods)
	r.phase.SetSlots(s.slots)
	actions = slices.Clone(r.phase.Poll(p.now, r.attempts(p.now, p, pods)).Actions)
	for i := range actions {
		if a := &actions[i]; a.Op == engine.Cancel {
			a.ID = r.uidOf(a.ID)
		}
	}
	r.forget(pods)
	c.metrics.count(r)
	if s.shadow {
		return actions, func(int) []string { return nil }, nil
	}
	return actions, c.avoided(r, pods, p.now), nil
}

// bind connects new pods, which the built-in controller has made, with the attempts that the engine.Phase has
// submitted. A new pod of an index gets the ID of the attempt that was submitted for this index.
func (r *run) bind(pods []*v1.Pod) {
	var wanted map[int]string
	for _, q := range r.phase.Outstanding() {
		if q.Op == engine.Submit {
			if wanted == nil {
				wanted = map[int]string{}
			}
			wanted[q.Task] = q.ID
		}
	}
	for _, pod := range pods {
		if id := wanted[index(pod)]; id != "" && !r.recordOf(pod).shown && active(pod) {
			r.recordOf(pod).id = id
			delete(wanted, index(pod))
		}
	}
}

// uidOf returns the UID of the pod that runs an attempt, or "" if no such pod is known.
func (r *run) uidOf(attempt string) string {
	for uid, s := range r.seen {
		if s.id == attempt {
			return string(uid)
		}
	}
	return ""
}

// evict evicts the pod of the action a, and taints its node for a minute. If an eviction could make the Job fail,
// evict does not evict the pod, and records an event.
func (c *Controller) evict(ctx context.Context, job *batchv1.Job, p *plan, pods []*v1.Pod, a *engine.Action) error {
	at := slices.IndexFunc(pods, func(pod *v1.Pod) bool { return string(pod.UID) == a.ID && active(pod) })
	if at < 0 {
		return nil
	}
	pod := pods[at]
	if !mayEvict(job) {
		c.eventOnce(job, v1.EventTypeWarning, "NotEvicted", "the Job needs a podFailurePolicy that ignores DisruptionTarget: "+
			"without it evictions count as failures, and the Job is close to its backoffLimit")
		return nil
	}
	if c.config.OnAction != nil {
		c.config.OnAction(job, *a)
	}
	// The node is tainted before the pod is evicted, so that the next pod of the index does not run on the same node.
	c.mu.Lock()
	c.marks.evicted[pod.Spec.NodeName] = p.now
	c.mu.Unlock()
	c.taint(ctx)
	done, err := c.askEviction(ctx, pod)
	if done {
		c.metrics.did(a)
		c.events.Event(job, v1.EventTypeNormal, "StragglerEvicted", a.String())
	}
	return err
}

// askEviction asks the API server to evict a pod, and reports whether the API server does so. If a disruption budget
// forbids the eviction, or the pod no longer exists, askEviction returns false and no error.
func (c *Controller) askEviction(ctx context.Context, pod *v1.Pod) (done bool, err error) {
	err = c.config.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	if apierrors.IsTooManyRequests(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// mayEvict reports whether a pod of a Job may be evicted without the danger that the Job fails. There are two cases:
// the Job's podFailurePolicy ignores evictions, or the Job has no backoffLimitPerIndex and one more failure leaves
// the number of failures below backoffLimit.
func mayEvict(job *batchv1.Job) bool {
	return ignoresEviction(job) ||
		job.Spec.BackoffLimitPerIndex == nil && int(job.Status.Failed)+1 < backoffLimit(job)
}

// ignoresEviction reports whether a Job's podFailurePolicy ignores failed pods with the condition DisruptionTarget.
// Then evictions are not counted as failures of the Job.
func ignoresEviction(job *batchv1.Job) bool {
	if job.Spec.PodFailurePolicy == nil {
		return false
	}
	return slices.ContainsFunc(job.Spec.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return r.Action == batchv1.PodFailurePolicyActionIgnore && slices.ContainsFunc(r.OnPodConditions,
			func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type == v1.DisruptionTarget })
	})
}
