package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/examples/kubernetes/internal/plane"
	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

// trial is one Job under one policy.
type trial struct {
	lab      *lab
	scenario *scenario
	policy   string
	name     string

	mu         sync.Mutex
	controller *plane.Process
	other      *plane.Process // a second controller that does not know of the first
	kills      int
	wrong      []error

	seconds float64
	ended   bool // the Job ended before the time limit
	pods    map[string]bool
	again   int // number of pods beyond one for each index
	failed  int // number of failed pods in the status of the Job
	events  []string
}

func (t *trial) asBuiltIn() bool { return t.policy == builtIn || t.policy == eviction }

// note stores an error about the Job, if err is not nil.
func (t *trial) note(err error) {
	if err != nil {
		t.mu.Lock()
		t.wrong = append(t.wrong, err)
		t.mu.Unlock()
	}
}

// run runs the trial. It returns errors of the demonstration. Errors of the Job are stored in the trial.
func (t *trial) run(ctx context.Context) error {
	t.lab.trial++
	t.name, t.pods = fmt.Sprintf("job-%d", t.lab.trial), map[string]bool{}
	if err := os.RemoveAll(t.lab.out()); err != nil {
		return err
	}
	if err := os.Mkdir(t.lab.out(), 0o700); err != nil {
		return err
	}
	if err := t.lab.resize(ctx, nodeCount+t.scenario.spare); err != nil {
		return err
	}
	if t.policy != builtIn {
		if err := t.startControllers(); err != nil {
			return err
		}
	}
	client := t.lab.plane.Client.BatchV1().Jobs(metav1.NamespaceDefault)
	began := time.Now()
	if _, err := client.Create(ctx, t.job(), metav1.CreateOptions{}); err != nil {
		return err
	}
	watched, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	if t.scenario.happens != nil {
		group.Go(func() { t.scenario.happens(watched, t.lab, t) })
	}
	job, err := t.await(ctx, began)
	t.seconds = time.Since(began).Seconds()
	if err == nil {
		t.check(ctx, job)
		t.kubectl()
		t.collect(ctx)
	}
	stop()
	group.Wait()
	for _, c := range []*plane.Process{t.controller, t.other} {
		if c != nil {
			c.Kill()
		}
	}
	return errors.Join(err, t.clean(context.WithoutCancel(ctx)))
}

// job is the Job of the trial.
func (t *trial) job() *batchv1.Job {
	self, _ := os.Executable() // if the path is missing, the pods fail with an error
	n, mode, grace := int32(t.scenario.tasks), batchv1.IndexedCompletion, int64(1)
	slotCount := int32(len(t.lab.nodes) * slots)
	says := map[string]string{jobs.IntervalAnnotation: "300ms"}
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: t.name, Annotations: says}}
	args := append([]string{self, "work", "-units", strconv.Itoa(t.scenario.units())}, t.scenario.args...)
	j.Spec = batchv1.JobSpec{Completions: &n, Parallelism: &slotCount, CompletionMode: &mode,
		Template: v1.PodTemplateSpec{Spec: v1.PodSpec{
			RestartPolicy: v1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace,
			Containers: []v1.Container{{Name: "work", Image: "process", Command: args, Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}},
		}}}
	if t.scenario.told {
		long := t.scenario.long
		j.Annotations[jobs.WorkAnnotation] = fmt.Sprintf("1*%d,5*%d", long, t.scenario.tasks-long)
	}
	switch t.policy {
	case builtIn:
	case eviction:
		j.Annotations[jobs.EvictAnnotation] = "true"
		j.Spec.Template.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: jobs.Gate}}
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type: v1.DisruptionTarget, Status: v1.ConditionTrue}},
		}}}
	default:
		manager := jobs.Manager
		j.Spec.ManagedBy = &manager
		if t.policy != "default" {
			j.Annotations[jobs.PolicyAnnotation] = t.policy
		}
	}
	return j
}

func (t *trial) startControllers() (err error) {
	if t.scenario.two {
		if t.other, err = plane.Spawn(t.lab.dir, "controller", t.lab.plane.Kubeconfig); err != nil {
			return err
		}
	}
	return t.startController()
}

func (t *trial) startController() (err error) {
	t.controller, err = plane.Spawn(t.lab.dir, "controller", t.lab.plane.Kubeconfig)
	return err
}

// killController kills the controller and starts another controller, which has no state.
func (t *trial) killController() {
	t.controller.Kill()
	t.kills++
	t.note(t.startController())
}

// await waits until the Job is over, or until the time limit.
func (t *trial) await(ctx context.Context, began time.Time) (job *batchv1.Job, err error) {
	client := t.lab.plane.Client
	for ; time.Since(began) < t.scenario.cap; time.Sleep(50 * time.Millisecond) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now, err := client.BatchV1().Jobs(metav1.NamespaceDefault).Get(ctx, t.name, metav1.GetOptions{})
		if err != nil {
			continue // the API server may be down
		}
		job = now
		list, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
			LabelSelector: batchv1.JobNameLabel + "=" + t.name})
		if err == nil {
			for i := range list.Items {
				t.pods[list.Items[i].Name] = true
			}
		}
		for _, c := range job.Status.Conditions {
			if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue {
				t.ended = true
				return job, nil
			}
		}
	}
	return job, nil
}

// clean removes the Job and its pods, and waits until they are gone.
func (t *trial) clean(ctx context.Context) error {
	client, background := t.lab.plane.Client, metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{PropagationPolicy: &background}
	err := client.BatchV1().Jobs(metav1.NamespaceDefault).Delete(ctx, t.name, o)
	if err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		list, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		if len(list.Items) == 0 {
			return t.untaint(ctx)
		}
		if time.Until(end) < 55*time.Second { // remove the finalizers, since no controller is left that would do it
			for _, p := range list.Items {
				p.Finalizers = nil
				_, _ = client.CoreV1().Pods(p.Namespace).Update(ctx, &p, metav1.UpdateOptions{})
				_ = client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
			}
		}
	}
	return fmt.Errorf("the pods of %s were not removed in time", t.name)
}

// untaint removes the taints of the controller, so that the next trial begins without taints.
func (t *trial) untaint(ctx context.Context) error {
	nodes := t.lab.plane.Client.CoreV1().Nodes()
	list, err := nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, n := range list.Items {
		for _, taint := range n.Spec.Taints {
			if taint.Key == jobs.SlowTaint {
				patch := []byte(`{"spec":{"taints":null}}`)
				if _, err := nodes.Patch(ctx, n.Name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
