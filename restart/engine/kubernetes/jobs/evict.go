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

// evicts reports whether a Job is one of the built-in controller's whose stragglers are to be evicted.
func (c *Controller) evicts(job *batchv1.Job) bool {
	by := job.Spec.ManagedBy
	return c.config.Evict && job.Annotations[EvictAnnotation] == "true" && (by == nil || *by == batchv1.JobControllerName)
}

// syncEvicting looks after a Job that the built-in controller runs. There are no copies: that controller deletes the
// younger of two pods of an index. What is to be restarted is evicted, and the node is marked so that the pod that
// takes its place goes elsewhere.
func (c *Controller) syncEvicting(
	ctx context.Context, key string, job *batchv1.Job, pods []*v1.Pod,
) (time.Duration, error) {
	defaults := spec{policy: c.config.Policy, limits: c.config.Limits, interval: c.config.Interval}
	s, wrong := readSpec(job, defaults, c.config.ParsePolicy)
	if wrong != nil {
		c.sayOnce(job, v1.EventTypeWarning, "BadSpec", wrong.Error())
	}
	p := &plan{job: job, now: c.config.Now(), builtIn: true}
	if errors.Is(wrong, errIndexed) || finishedJob(job) || p.suspended() {
		c.drop(key)
		return 0, nil
	}
	s.copies = false
	p.winners, p.given = make([]*v1.Pod, s.tasks), make(indexes, s.tasks)
	p.completed, _ = parseIndexes(job.Status.CompletedIndexes, s.tasks)
	p.chooseWinners(pods)
	actions, avoid, err := c.pollEvicting(key, job, s, p, pods)
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

func (c *Controller) pollEvicting(
	key string, job *batchv1.Job, s spec, p *plan, pods []*v1.Pod,
) (actions []engine.Action, avoid func(index int) []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.runOf(key, job.UID, s, p.now, pods, true)
	if err != nil {
		return nil, nil, err
	}
	r.bind(pods)
	r.phase.SetSlots(s.slots)
	actions = slices.Clone(r.phase.Poll(p.now, r.attempts(p.now, p, pods)))
	for i := range actions {
		if a := &actions[i]; a.Op == engine.Cancel {
			a.ID = r.uidOf(a.ID)
		}
	}
	r.forget(pods)
	c.metrics.count(r)
	return actions, c.avoided(r, pods, p.now), nil
}

// bind takes the pods that the built-in controller has made for those that the engine asked for.
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
		if id := wanted[index(pod)]; id != "" && !r.sight(pod).shown && active(pod) {
			r.sight(pod).id = id
			delete(wanted, index(pod))
		}
	}
}

// uidOf returns the UID of the pod that is an attempt.
func (r *run) uidOf(attempt string) string {
	for uid, s := range r.seen {
		if s.id == attempt {
			return string(uid)
		}
	}
	return ""
}

// evict has a pod go, if its Job bears it.
func (c *Controller) evict(ctx context.Context, job *batchv1.Job, p *plan, pods []*v1.Pod, a *engine.Action) error {
	at := slices.IndexFunc(pods, func(pod *v1.Pod) bool { return string(pod.UID) == a.ID && active(pod) })
	if at < 0 {
		return nil
	}
	pod := pods[at]
	if !bearsEviction(job) {
		c.sayOnce(job, v1.EventTypeWarning, "NotEvicted", "a podFailurePolicy that ignores DisruptionTarget is wanted: "+
			"without it evictions count as failures, and the backoffLimit is too near")
		return nil
	}
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

// askEviction asks for the eviction of a pod, and reports whether it goes. A disruption budget may say no.
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

// bearsEviction reports whether a Job does not count evictions as failures, or is far from its limit.
func bearsEviction(job *batchv1.Job) bool {
	return ignoresEviction(job) ||
		job.Spec.BackoffLimitPerIndex == nil && int(job.Status.Failed)+1 < backoffLimit(job)
}

// ignoresEviction reports whether a Job does not count evictions as failures.
func ignoresEviction(job *batchv1.Job) bool {
	if job.Spec.PodFailurePolicy == nil {
		return false
	}
	return slices.ContainsFunc(job.Spec.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return r.Action == batchv1.PodFailurePolicyActionIgnore && slices.ContainsFunc(r.OnPodConditions,
			func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type == v1.DisruptionTarget })
	})
}
