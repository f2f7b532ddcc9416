package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/restart/engine"
)

// errStale means that the Job in the API server is newer than the Job in the cache. A later sync will succeed.
var errStale = errors.New("the Job has changed meanwhile")

const (
	batchPeriod = time.Second // longest time for which changes of pods are collected before a sync
	maxCreates  = 500         // largest number of pods that one sync makes, as in the built-in controller
	// softAfter is a time in which a pod must find a node. If a pod finds none because of the nodes that it must
	// avoid, the pod is replaced after softAfter. The next pod of its index may then run on these nodes, too.
	softAfter = 30 * time.Second
)

// jobChanged puts a Job into the queue of Jobs to sync. If the queue already contains the Job, nothing changes.
func (c *Controller) jobChanged(job *batchv1.Job) { c.queue.Add(job.Namespace + "/" + job.Name) }

// podChanged puts the Job of a changed pod into the queue of Jobs to sync. If only the pod's progress has changed,
// podChanged does nothing: the next regular sync reads the progress.
func (c *Controller) podChanged(was, is any) {
	p := is.(*v1.Pod)
	if o, known := was.(*v1.Pod); known && o.Status.Phase == p.Status.Phase && ready(o) == ready(p) &&
		(o.DeletionTimestamp == nil) == (p.DeletionTimestamp == nil) &&
		hasFinalizer(o) == hasFinalizer(p) && cancelledHere(o) == cancelledHere(p) {
		return
	}
	// Because of this short delay, one sync handles the changes of several pods.
	if name := p.Labels[batchv1.JobNameLabel]; name != "" {
		c.queue.AddAfter(p.Namespace+"/"+name, min(c.config.Interval/10, batchPeriod))
	}
}

// sync makes the plan of one Job and carries it out. key is "namespace/name" of the Job. again is the time after
// which the Job must be synced again. 0 means only after the next change.
func (c *Controller) sync(ctx context.Context, key string) (again time.Duration, err error) {
	o, exists, err := c.jobs.GetIndexer().GetByKey(key)
	if err != nil {
		return 0, err
	}
	var job *batchv1.Job
	if exists {
		job = o.(*batchv1.Job)
	}
	pods, orphans, err := c.podsOf(key, job)
	if err != nil {
		return 0, err
	}
	err = c.freeOrphans(ctx, orphans)
	switch {
	case job == nil || job.DeletionTimestamp != nil:
		c.drop(key)
		if job != nil { // Kubernetes deletes the pods with the Job, as soon as they have no finalizers
			err = errors.Join(err, c.freeOrphans(ctx, pods))
		}
		return 0, err
	case c.evicts(job):
		again, evictErr := c.syncEvicting(ctx, key, job, pods)
		return again, errors.Join(err, evictErr)
	case !c.manages(job):
		c.drop(key)
		return 0, err
	}
	again, syncErr := c.syncManaged(ctx, key, job, pods)
	return again, errors.Join(err, syncErr)
}

// manages reports whether this controller runs the Job, as spec.managedBy says.
func (c *Controller) manages(job *batchv1.Job) bool {
	return job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == c.config.Manager
}

// podsOf returns the pods of a Job, ordered by index and then by name. orphans are pods of this controller that
// belong to an earlier Job of the same name.
func (c *Controller) podsOf(key string, job *batchv1.Job) (pods, orphans []*v1.Pod, err error) {
	found, err := c.pods.GetIndexer().ByIndex(byJob, key)
	if err != nil {
		return nil, nil, err
	}
	type entry struct {
		pod   *v1.Pod
		index int
	}
	entries := make([]entry, 0, len(found))
	for _, o := range found {
		switch p := o.(*v1.Pod); {
		case job != nil && isOf(p, job.UID):
			entries = append(entries, entry{p, index(p)})
		case p.Labels[ManagedLabel] != "":
			orphans = append(orphans, p)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	pods = make([]*v1.Pod, len(entries))
	for i, e := range entries {
		pods[i] = e.pod
	}
	return pods, orphans, nil
}

// syncManaged syncs a Job that this controller runs. It writes the Job's status, then removes finalizers and deletes
// pods, and then carries out the actions of the engine.Phase. It returns the time after which the Job must be synced
// again.
func (c *Controller) syncManaged(
	ctx context.Context, key string, job *batchv1.Job, pods []*v1.Pod,
) (time.Duration, error) {
	s, wrong := readSpec(job, c.config.defaults(), c.config.ParsePolicy)
	if wrong != nil {
		c.eventOnce(job, v1.EventTypeWarning, "BadSpec", wrong.Error())
	}
	if errors.Is(wrong, errIndexed) {
		return 0, nil
	}
	// The status is written first, because it must list a failed pod before the pod loses its finalizer. After that
	// the pod may be gone.
	p := makePlan(job, pods, c.config.Now())
	if err := c.writeStatus(ctx, job, p); err != nil {
		return 0, err
	}
	err := errors.Join(c.release(ctx, p), c.remove(ctx, p))
	if p.ending() || p.suspended() {
		c.settle(key, job, p, pods)
		if finishedJob(job) && len(p.release)+len(p.remove) == 0 {
			return 0, err
		}
		return s.interval, err
	}
	actions, soft, pollErr := c.poll(key, job, s, p, pods)
	c.showWanted(key, job)
	made, actErr := c.act(ctx, job, p, pods, actions, soft)
	c.mu.Lock()
	if r := c.runs[key]; r != nil {
		r.made(made)
	}
	c.mu.Unlock()
	err = errors.Join(err, pollErr, actErr)
	if p.nextSync > 0 {
		return min(s.interval, p.nextSync), err
	}
	return s.interval, err
}

// writeStatus writes the Job's new status to the API server if it differs from the old status. It also records
// events: the Job was suspended, was resumed, is complete, or has failed.
func (c *Controller) writeStatus(ctx context.Context, job *batchv1.Job, p *plan) error {
	if equality.Semantic.DeepEqual(job.Status, p.status) {
		return nil
	}
	written := job.DeepCopy()
	written.Status = p.status
	_, err := c.config.Client.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, written, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errStale
	}
	if err == nil {
		c.eventSuspended(job, p)
	}
	if err == nil && !finishedJob(job) && finishedJob(written) {
		for _, condition := range p.status.Conditions {
			if condition.Type == batchv1.JobComplete {
				c.events.Event(job, v1.EventTypeNormal, "Completed", "Job completed")
			} else if condition.Type == batchv1.JobFailed {
				c.events.Event(job, v1.EventTypeWarning, condition.Reason, condition.Message)
			}
		}
		c.metrics.finished(holds(&p.status, batchv1.JobComplete))
	}
	return err
}

// eventSuspended records an event if the new status suspends or resumes the Job. The texts are the same as in the
// built-in controller.
func (c *Controller) eventSuspended(job *batchv1.Job, p *plan) {
	switch was, is := holds(&job.Status, batchv1.JobSuspended), holds(&p.status, batchv1.JobSuspended); {
	case is && !was:
		c.events.Event(job, v1.EventTypeNormal, "Suspended", "Job suspended")
	case was && !is:
		c.events.Event(job, v1.EventTypeNormal, "Resumed", "Job resumed")
	}
}

// poll reports the state of the Job's pods to the engine.Phase, and returns the actions to carry out now. soft is the
// set of the indexes whose next pod may run on any node.
func (c *Controller) poll(
	key string, job *batchv1.Job, s spec, p *plan, pods []*v1.Pod,
) (actions []engine.Action, soft map[int]bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.runOf(key, job, s, p.now, pods, false)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range p.soft {
		r.soft[i] = true
	}
	// After a failure an index has a pause before its next pod. For the engine.Phase, the attempt of this pod already
	// waits in a queue and occupies a slot. Other indexes may use the slot meanwhile, so the engine.Phase gets more
	// slots. The second bound makes sure that one sync makes at most maxCreates pods.
	r.phase.SetSlots(min(s.slots+r.paused(p), int(p.status.Active)+len(r.unmade)+maxCreates))
	r.spareRetries(p, pods)
	actions = r.takeDue(p, r.phase.Poll(p.now, r.attempts(p.now, p, pods)).Actions)
	r.forget(pods)
	c.metrics.count(r)
	return actions, r.soft, nil
}

// settle closes the phase of a Job that ends. Before that, it reports the ends of the last attempts to the phase, so
// that the metrics and the record of nodes are complete.
func (c *Controller) settle(key string, job *batchv1.Job, p *plan, pods []*v1.Pod) {
	c.mu.Lock()
	r := c.runs[key]
	if r != nil && r.uid == job.UID && r.spec.tasks == len(p.winners) {
		r.phase.Poll(p.now, r.attempts(p.now, p, pods)) // the returned actions are ignored
	} else {
		r = nil
	}
	c.mu.Unlock()
	if r != nil && (p.ending() || p.builtIn) {
		c.sumUp(r, job, p)
	}
	c.drop(key)
}

// drop closes the phase of a Job and forgets the Job. key is "namespace/name" of the Job.
func (c *Controller) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runs[key]; r != nil {
		c.metrics.count(r)
		r.close(c.config.Now())
		delete(c.runs, key)
	}
}
