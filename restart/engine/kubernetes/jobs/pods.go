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

// index returns the completion index of a pod, by the annotation that Kubernetes defines for it. It returns -1 if the
// pod has no index.
func index(p *v1.Pod) int {
	i, err := strconv.ParseUint(p.Annotations[indexAnnotation], 10, 31)
	if err != nil {
		return -1
	}
	return int(i)
}

// attemptOf returns the ID that a pod's attempt has in the engine.Phase. This is the pod's AttemptAnnotation. If
// another controller has made the pod, it is the UID of the pod.
func attemptOf(p *v1.Pod) string {
	if id := p.Annotations[AttemptAnnotation]; id != "" {
		return id
	}
	return string(p.UID)
}

// cancelledHere reports whether this controller deletes a pod because the pod is not needed. Such a pod is not
// counted as a failure.
func cancelledHere(p *v1.Pod) bool { return p.Annotations[CancelledAnnotation] != "" }

// terminal reports whether the phase in a pod's status is Succeeded or Failed.
func terminal(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// ended reports whether a pod does not run and will never run again. This includes a pod that has no node and that
// this controller deletes as not needed.
func ended(p *v1.Pod) bool {
	return terminal(p) || p.DeletionTimestamp != nil && p.Spec.NodeName == "" && cancelledHere(p)
}

// hasFailed reports whether a pod of a Job is counted as failed. There are two cases: the phase in its status is
// Failed, or somebody else deletes the pod and the Job's podReplacementPolicy does not demand to wait for its end. A
// pod that this controller deletes as not needed has not failed.
func hasFailed(job *batchv1.Job, p *v1.Pod) bool {
	return !cancelledHere(p) &&
		(p.Status.Phase == v1.PodFailed || p.DeletionTimestamp != nil && !terminal(p) && !replacesFailed(job))
}

// active reports whether a pod waits or runs and is not being deleted. The field active of a Job's status counts
// these pods.
func active(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp == nil }

// terminating reports whether a pod is being deleted and still runs.
func terminating(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp != nil }

// ready reports whether a pod is active and has the condition Ready.
func ready(p *v1.Pod) bool { return active(p) && condition(p, v1.PodReady) }

// condition reports whether the condition of this type is true in a pod's status.
func condition(p *v1.Pod, kind v1.PodConditionType) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// hasFinalizer reports whether a pod has the finalizer of Job controllers. A pod has it until its end has been
// counted.
func hasFinalizer(p *v1.Pod) bool {
	for _, f := range p.Finalizers {
		if f == finalizer {
			return true
		}
	}
	return false
}

// state returns the state in which a pod is reported to the engine.Phase. If waits is false, a pod that is being
// deleted is reported as ended. If waits is true, it is reported as ended only when it has ended.
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

// span returns when the containers of a pod began and ended. A zero time means not yet. A kubelet cuts times to whole
// seconds, so they are half a second too early on average. span adds this half second.
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

// endOf returns when a pod has ended, by the clock of the API server. A kubelet's clock may be wrong, so that the
// pod's times lie before the creation of the pod or in the future. In this case endOf returns the time of the
// creation plus the run time of the pod.
func endOf(p *v1.Pod, now time.Time) time.Time {
	// slack is an error of times that is taken to be normal: times are whole seconds, and clocks differ a little.
	const slack = 2 * time.Second
	made := p.CreationTimestamp.Time
	begun, ended := span(p)
	switch {
	case ended.IsZero(): // no container has ended, so the pod never ran
		return made
	case begun.IsZero(): // the run time is not known
		if ended.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
			return made
		}
		return ended
	}
	// The kubelet's clock is wrong. The run time is right all the same, because begin and end are by the same clock.
	if begun.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
		return made.Add(max(ended.Sub(begun), 0))
	}
	return ended
}

var errProgress = errors.New(`want a share as "0.4" or "40/100", and after an "@" the seconds since 1970`)

// parseProgress parses the text of a ProgressAnnotation, such as "40/100@1763846400.5". share is the share of the
// work that is done, in [0, 1]; here 0.4. total is the number after the "/", or 0 if there is none; here 100. asOf is
// the time after the "@", or the zero time if there is none.
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

// mostTotal is a limit for the size of an index: a size must be below it. So the sum of all sizes is a finite number.
const mostTotal = 1e18

// restarts returns how often the kubelet has restarted containers of the pod.
func restarts(p *v1.Pod) (n int) {
	for _, list := range [][]v1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			n += int(list[i].RestartCount)
		}
	}
	return n
}

// finishedJob reports whether a Job has the condition Complete or Failed.
func finishedJob(job *batchv1.Job) bool {
	return holds(&job.Status, batchv1.JobComplete) || holds(&job.Status, batchv1.JobFailed)
}

// holds reports whether the condition of type kind is true in a Job's status.
func holds(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// forceAfter is how long after the end of its grace period a deleted pod may still be there. After that, its node is
// taken to be dead, and the pod is deleted by force. The pod may still run on the node, but its result is not needed.
const forceAfter = 10 * time.Second

// overdue reports whether a deleted pod shall be deleted by force, because it has not ended within forceAfter after
// its grace period. If the Job ends, this may be any pod of the Job. Otherwise it may only be a pod that this
// controller has deleted as not needed. If two pods of an index must never run at once, no pod is deleted by force
// while the Job goes on.
func (p *plan) overdue(pod *v1.Pod) bool {
	copies, _ := mayCopy(p.job)
	return terminating(pod) && p.now.Sub(pod.DeletionTimestamp.Time) > forceAfter && (p.ending() || copies && cancelledHere(pod))
}
