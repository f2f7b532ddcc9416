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

// attemptOf returns the name of the attempt that a pod is: the annotation of one that was made here, else its UID.
func attemptOf(p *v1.Pod) string {
	if id := p.Annotations[AttemptAnnotation]; id != "" {
		return id
	}
	return string(p.UID)
}

// ours reports whether this controller has a pod deleted, which then is no failure.
func ours(p *v1.Pod) bool { return p.Annotations[CancelledAnnotation] != "" }

// terminal reports whether a pod is in a phase that is its last.
func terminal(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// ended reports whether a pod has stopped for good. One that this controller deletes before any node had it does nothing
// any more.
func ended(p *v1.Pod) bool {
	return terminal(p) || p.DeletionTimestamp != nil && p.Spec.NodeName == "" && ours(p)
}

// lost reports whether a pod of a Job is taken to have failed: it has, or somebody else deletes it and the Job's
// podReplacementPolicy does not wait for its end.
func lost(job *batchv1.Job, p *v1.Pod) bool {
	return !ours(p) && (p.Status.Phase == v1.PodFailed || p.DeletionTimestamp != nil && !terminal(p) && !replacesFailed(job))
}

// active reports whether a pod waits or runs, as a Job's status counts it.
func active(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp == nil }

func terminating(p *v1.Pod) bool { return !ended(p) && p.DeletionTimestamp != nil }

func ready(p *v1.Pod) bool { return active(p) && condition(p, v1.PodReady) }

func condition(p *v1.Pod, kind v1.PodConditionType) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

func hasFinalizer(p *v1.Pod) bool {
	for _, f := range p.Finalizers {
		if f == finalizer {
			return true
		}
	}
	return false
}

// state says what the engine is told of a pod. One that is being deleted counts as gone, unless its Job wants to be
// sure (waits).
func state(p *v1.Pod, waits bool) engine.State {
	switch {
	case p.Status.Phase == v1.PodSucceeded:
		return engine.Succeeded
	case (ended(p) || p.DeletionTimestamp != nil && !waits) && condition(p, v1.DisruptionTarget) && !ours(p):
		return engine.Lost
	case p.DeletionTimestamp != nil && (ended(p) || !waits), ended(p) && ours(p):
		return engine.Cancelled
	case ended(p):
		return engine.Failed
	case p.Status.Phase == v1.PodRunning:
		return engine.Running
	}
	return engine.Queued
}

// span returns when a pod's containers began and ended, of which a kubelet says whole seconds: on the average half a
// second too early.
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

// endOf returns when a pod has ended, by the clock of the API server as far as that can be seen: a kubelet whose clock is
// off dates its pod before there was one, or what is still to come. Of such a pod it is believed how long it ran.
func endOf(p *v1.Pod, now time.Time) time.Time {
	const slack = 2 * time.Second // of whole seconds, and of clocks that are as good as right
	made := p.CreationTimestamp.Time
	begun, ended := span(p)
	switch {
	case ended.IsZero(): // it never ran
		return made
	case begun.IsZero(): // nothing says for how long it ran
		if ended.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
			return made
		}
		return ended
	}
	if begun.Before(made.Add(-slack)) || ended.After(now.Add(slack)) {
		return made.Add(max(ended.Sub(begun), 0))
	}
	return ended
}

var errProgress = errors.New(`want a share as "0.4" or "40/100", and behind "@" the seconds since 1970`)

// parseProgress reads a progress annotation: how far a pod is, in [0, 1], of how much in all, 0 if that is not said, and
// as of when; zero if that is not said.
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

// mostTotal keeps the sum of what all indexes have to do a number.
const mostTotal = 1e18

// restarts is how often the containers of a pod were started again on its node.
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

func holds(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == kind {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// forceAfter is how long beyond its grace a kubelet may take to end a pod that nobody wants. Then its node is taken to be dead,
// and what may still run there is not waited for: no result of it is wanted.
const forceAfter = 10 * time.Second

// overdue reports whether a pod that is deleted should long have ended: any pod of a Job that ends, and else one that this
// controller has deleted. One that may not run beside the next of its index is waited for, as long as there may be a next.
func (p *plan) overdue(pod *v1.Pod) bool {
	copies, _ := mayCopy(p.job)
	return terminating(pod) && p.now.Sub(pod.DeletionTimestamp.Time) > forceAfter && (p.ending() || copies && ours(pod))
}
