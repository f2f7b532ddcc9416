package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

const parallelCalls = 16 // largest number of requests to the API server at once, for one Job

// each calls f with the numbers from 0 to n-1, with up to parallelCalls calls at once. It returns all errors as one
// error. It ignores the errors "not found" and "already exists" of the API server.
func each(ctx context.Context, n int, f func(i int) error) error {
	var mu sync.Mutex
	var all []error
	workqueue.ParallelizeUntil(ctx, parallelCalls, n, func(i int) {
		if err := f(i); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			mu.Lock()
			all = append(all, err)
			mu.Unlock()
		}
	})
	return errors.Join(all...)
}

// act carries out the actions of the engine.Phase: it makes pods and deletes pods. made contains the IDs of the
// submitted attempts whose pods now exist. If an action fails, the engine.Phase returns the action again at a later
// sync.
func (c *Controller) act(
	ctx context.Context, job *batchv1.Job, p *plan, pods []*v1.Pod, actions []engine.Action, soft map[int]bool,
) (made map[string]bool, err error) {
	// byAttempt contains the pods of the attempts to cancel, by the ID of the attempt.
	byAttempt := make(map[string]*v1.Pod)
	for _, a := range actions {
		if a.Op != engine.Submit {
			byAttempt[a.ID] = nil
		}
	}
	for _, pod := range pods {
		if _, wanted := byAttempt[attemptOf(pod)]; wanted {
			byAttempt[attemptOf(pod)] = pod
		}
	}
	made = make(map[string]bool)
	var mu sync.Mutex
	err = each(ctx, len(actions), func(i int) error {
		a := &actions[i]
		if c.config.OnAction != nil && a.Op == engine.Submit {
			c.config.OnAction(job, *a)
		}
		switch a.Op {
		case engine.Submit:
			err := c.submit(ctx, job, p, a, soft[a.Task])
			if err == nil || apierrors.IsAlreadyExists(err) {
				mu.Lock()
				made[a.ID] = true
				mu.Unlock()
			}
			return err
		case engine.Cancel:
			pod := byAttempt[a.ID]
			if pod == nil || ended(pod) || pod.DeletionTimestamp != nil {
				return nil
			}
			if c.config.OnAction != nil {
				c.config.OnAction(job, *a)
			}
			return c.cancel(ctx, job, pod, a)
		}
		return nil // Publish: nothing to do, because the plan has chosen the winner
	})
	return made, err
}

// submit makes the pod of an attempt. It records the event SuccessfulCreate or FailedCreate, as the built-in
// controller does. If the attempt is a copy, it also records the event StragglerCopied with the decision, such as
//
//	StragglerCopied: Created pod j-17-1f0c9a52, not on n3: copy idle-slot ...
func (c *Controller) submit(ctx context.Context, job *batchv1.Job, p *plan, a *engine.Action, soft bool) error {
	failures := 0
	if p.failures != nil {
		failures = p.failures[a.Task]
	}
	// A copy must always avoid the nodes on which its index was tried, because a copy would be as slow there.
	soft = soft && a.Decision.Action != restart.Copy
	pod := makePod(job, a.Task, a.ID, a.Avoid, soft, failures)
	_, err := c.config.Client.CoreV1().Pods(job.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
	case err != nil:
		c.events.Eventf(job, v1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
	default:
		c.metrics.did(a)
		c.events.Eventf(job, v1.EventTypeNormal, "SuccessfulCreate", "Created pod: %s", pod.Name)
		if a.Decision.Action != restart.Keep && a.Decision.Action != restart.Restart {
			c.events.Event(job, v1.EventTypeNormal, "StragglerCopied", eventText("Created", pod.Name, a))
		}
	}
	return err
}

// cancel deletes the pod of an attempt. Before that, it writes the reason to the pod, so that the pod is not counted
// as a failure.
func (c *Controller) cancel(ctx context.Context, job *batchv1.Job, pod *v1.Pod, a *engine.Action) error {
	why := a.Decision.String()
	if err := c.end(ctx, job, removal{pod: pod, why: why}); err != nil {
		return err
	}
	c.metrics.did(a)
	if d := a.Decision; d.Action == restart.Restart || d.Action == restart.Kill && d.Reason != restart.Overtaken {
		c.events.Event(job, v1.EventTypeNormal, "StragglerKilled", eventText("Deleted", pod.Name, a))
	}
	return nil
}

// eventText returns the text of an event about a pod: the verb, the pod, the nodes that the pod must avoid, and the
// decision.
func eventText(verb, pod string, a *engine.Action) string {
	text := verb + " pod " + pod
	if len(a.Avoid) > 0 {
		text += ", not on " + strings.Join(a.Avoid, ", ")
	}
	d := a.Decision
	d.Avoid = restart.MachineSet{} // without the nodes by their numbers, which mean nothing to a reader
	return text + ": " + d.String()
}

// remove deletes the pods in p.remove.
func (c *Controller) remove(ctx context.Context, p *plan) error {
	return each(ctx, len(p.remove), func(i int) error { return c.end(ctx, p.job, p.remove[i]) })
}

// end deletes a pod of a Job. If the pod shall not be counted as a failure, end first writes the reason to the pod.
func (c *Controller) end(ctx context.Context, job *batchv1.Job, r removal) error {
	pods := c.config.Client.CoreV1().Pods(r.pod.Namespace)
	if !cancelledHere(r.pod) && !ended(r.pod) && !r.counts {
		why := or(r.why, "not needed")
		mark := map[string]any{"annotations": map[string]string{CancelledAnnotation: why}}
		switch now, err := c.patch(ctx, r.pod, mark); {
		case err != nil:
			return err
		case ended(now): // the pod has ended since the cache saw it; it may have succeeded, so it is not deleted
			return nil
		}
	}
	// Because of the UID, a later pod of the same name is not deleted. A grace period of 0 means to delete by force.
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.pod.UID}}
	if r.force {
		options.GracePeriodSeconds = new(int64)
	}
	err := pods.Delete(ctx, r.pod.Name, options)
	switch {
	case apierrors.IsConflict(err): // another pod has this name now
		return nil
	case err == nil && r.pod.DeletionTimestamp == nil:
		c.events.Eventf(job, v1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %s", r.pod.Name)
	case err != nil && !apierrors.IsNotFound(err):
		c.events.Eventf(job, v1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
	}
	return err
}

// release removes the finalizer from the pods in p.release. A pod that gave its index the result also gets
// WinnerLabel.
func (c *Controller) release(ctx context.Context, p *plan) error {
	return each(ctx, len(p.release), func(k int) error {
		pod := p.release[k]
		meta := map[string]any{"$deleteFromPrimitiveList/finalizers": []string{finalizer}}
		if i := index(pod); i >= 0 && i < len(p.winners) && p.winners[i] == pod {
			meta["labels"] = map[string]string{WinnerLabel: "true"}
		}
		_, err := c.patch(ctx, pod, meta)
		return err
	})
}

// freeOrphans removes the finalizer from pods of a Job that no longer exists, so that Kubernetes can delete the pods.
func (c *Controller) freeOrphans(ctx context.Context, pods []*v1.Pod) error {
	return each(ctx, len(pods), func(i int) error {
		if !hasFinalizer(pods[i]) || pods[i].Labels[ManagedLabel] == "" {
			return nil
		}
		_, err := c.patch(ctx, pods[i], map[string]any{"$deleteFromPrimitiveList/finalizers": []string{finalizer}})
		return err
	})
}

// patch changes the metadata of a pod, and returns the pod after the change. If another pod has this name now, patch
// returns an error and changes nothing.
func (c *Controller) patch(ctx context.Context, pod *v1.Pod, meta map[string]any) (*v1.Pod, error) {
	meta["uid"] = pod.UID
	data, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return nil, err
	}
	return c.config.Client.CoreV1().Pods(pod.Namespace).Patch(
		ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
}

// eventOnce records an event about a Job, unless the same event was recorded before.
func (c *Controller) eventOnce(job *batchv1.Job, kind, reason, message string) {
	key := fmt.Sprint(job.UID, reason, message)
	c.mu.Lock()
	said := c.announced[key]
	if len(c.announced) > 10000 { // to save memory; after that an old event may be repeated
		clear(c.announced)
	}
	c.announced[key] = true
	c.mu.Unlock()
	if !said {
		c.events.Event(job, kind, reason, message)
	}
}
