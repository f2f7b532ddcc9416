package jobs

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart/engine"
)

// index returns the completion index of a pod, or -1 if it has none.
func index(p *v1.Pod) int {
	i, err := strconv.ParseUint(p.Annotations[indexAnnotation], 10, 31)
	if err != nil {
		return -1
	}
	return int(i)
}

// attemptOf returns the name of a pod's attempt: its annotation, or the UID of a pod that this controller has not made.
func attemptOf(p *v1.Pod) string {
	if id := p.Annotations[AttemptAnnotation]; id != "" {
		return id
	}
	return string(p.UID)
}

// cancelledHere reports whether this controller deletes a pod as not needed. A pod that is cancelled here is no failure.
func cancelledHere(p *v1.Pod) bool { return p.Annotations[CancelledAnnotation] != "" }

// terminal reports whether a pod's phase is Succeeded or Failed.
func terminal(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// ended reports whether a pod has stopped for good. A pod without a node that this controller deletes never runs.
func ended(p *v1.Pod) bool {
	return terminal(p) || p.DeletionTimestamp != nil && p.Spec.NodeName == "" && cancelledHere(p)
}

// hasFailed reports whether a pod of a Job counts as failed: its phase is Failed, or somebody else deletes the pod and
// the Job's podReplacementPolicy does not wait for its end.
func hasFailed(job *batchv1.Job, p *v1.Pod) bool {
	return !cancelledHere(p) && (p.Status.Phase == v1.PodFailed || p.DeletionTimestamp != nil && !terminal(p) && !replacesFailed(job))
}

// active reports whether a pod waits or runs, as a Job's status counts it.
func active(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp == nil }

// terminating reports whether a pod is being deleted and has not ended.
func terminating(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp != nil }

// ready reports whether a pod is active and has the condition Ready.
func ready(p *v1.Pod) bool { return active(p) && condition(p, v1.PodReady) }

// condition reports whether a pod has a condition.
func condition(p *v1.Pod, kind v1.PodConditionType) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// hasFinalizer reports whether a pod has the finalizer for Jobs, so that its end is not counted yet.
func hasFinalizer(p *v1.Pod) bool {
	for _, f := range p.Finalizers {
		if f == finalizer {
			return true
		}
	}
	return false
}

// state returns the state of a pod for the engine. A pod that is being deleted counts as ended, unless waits says that
// the Job waits for its end.
func state(p *v1.Pod, waits bool) engine.State {
	switch {
	case p.Status.Phase == v1.PodSucceeded:
		return engine.Succeeded
	case (ended(p) || p.DeletionTimestamp != nil && !waits) && condition(p, v1.DisruptionTarget) && !cancelledHere(p):
		return engine.Lost
	case p.DeletionTimestamp != nil && (ended(p) || !waits), ended(p) && cancelledHere(p):
		return engine.Cancelled
	case ended(p):
		return engine.Failed
	case p.Status.Phase == v1.PodRunning:
		return engine.Running
	}
	return engine.Queued
}

// span returns when a pod's containers began and ended; zero means not yet. A kubelet reports whole seconds, on average
// half a second too early, so span adds half a second.
func span(p *v1.Pod) (begun, ended time.Time) {
	const half = time.Second / 2
	for i := range p.Status.ContainerStatuses {
		switch s := &p.Status.ContainerStatuses[i].State; {
		case s.Running != nil && (begun.IsZero() || s.Running.StartedAt.Time.Before(begun)):
			begun = s.Running.StartedAt.Time
		case s.Terminated != nil:
			if at := s.Terminated.StartedAt.Time; !at.IsZero() && (begun.IsZero() || at.Before(begun)) {
				begun = at
			}
			if at := s.Terminated.FinishedAt.Time; at.After(ended) {
				ended = at
			}
		}
	}
	if !begun.IsZero() {
		begun = begun.Add(half)
	}
	if !ended.IsZero() {
		ended = ended.Add(half)
	}
	return begun, ended
}

// endOf returns when a pod has ended, by the clock of the API server. If a kubelet's clock is wrong, the pod's times
// may lie before the pod's creation or in the future. Then endOf adds the pod's run time to the time of its creation.
func endOf(p *v1.Pod, now time.Time) time.Time {
	// slack allows for whole seconds and for small errors of clocks.
	const slack = 2 * time.Second
	made := p.CreationTimestamp.Time
	begun, ended := span(p)
	switch {
	case ended.IsZero(): // the pod never ran
		return made
	case begun.IsZero(): // the run time is not known
		if ended.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
			return made
		}
		return ended
	}
	// The kubelet's clock is wrong, but its run time is right: both times come from the same clock.
	if begun.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
		return made.Add(max(ended.Sub(begun), 0))
	}
	return ended
}

var errProgress = errors.New(`want a share as "0.4" or "40/100", and after an "@" the seconds since 1970`)

// parseProgress reads a progress annotation. parseProgress returns the share of the work that is done, in [0, 1]; the
// total work, 0 if it is not given; and the time of the report, zero if it is not given.
func parseProgress(text string) (share, total float64, asOf time.Time, err error) {
	text, seconds, dated := strings.Cut(text, "@")
	done, all, ofTotal := strings.Cut(text, "/")
	if share, err = strconv.ParseFloat(strings.TrimSpace(done), 64); err != nil {
		return 0, 0, time.Time{}, errProgress
	}
	if ofTotal {
		if total, err = strconv.ParseFloat(strings.TrimSpace(all), 64); err != nil || !(total > 0 && total < mostTotal) {
			return 0, 0, time.Time{}, errProgress
		}
		share /= total
	}
	if !(share >= 0 && share <= 1) {
		return 0, 0, time.Time{}, errProgress
	}
	if dated {
		at, err := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
		if err != nil || !(at > 0 && at < math.MaxInt32*2) {
			return 0, 0, time.Time{}, errProgress
		}
		asOf = time.UnixMicro(int64(at * 1e6))
	}
	return share, total, asOf, nil
}

// mostTotal is the limit of an index's size, so that the sum of all sizes is a finite number.
const mostTotal = 1e18

// restarts returns how often a pod's containers were restarted on its node.
func restarts(p *v1.Pod) (n int) {
	for _, list := range [][]v1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			n += int(list[i].RestartCount)
		}
	}
	return n
}

// finishedJob reports whether a Job is Complete or Failed.
func finishedJob(job *batchv1.Job) bool {
	return holds(&job.Status, batchv1.JobComplete) || holds(&job.Status, batchv1.JobFailed)
}

// holds reports whether a Job's status has a condition.
func holds(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// forceAfter is how long after its grace period a kubelet may take to end a deleted pod. After that the node is taken
// to be dead, and the pod is deleted by force. The pod may still run there, but its result is not needed.
const forceAfter = 10 * time.Second

// overdue reports whether a deleted pod has not ended forceAfter its grace period, and may be deleted by force. This
// holds for any pod of a Job that ends. While a Job goes on, it holds only for a pod that this controller has deleted,
// and not if two pods of an index must never run at once.
func (p *plan) overdue(pod *v1.Pod) bool {
	copies, _ := mayCopy(p.job)
	return terminating(pod) && p.now.Sub(pod.DeletionTimestamp.Time) > forceAfter && (p.ending() || copies && cancelledHere(pod))
}
