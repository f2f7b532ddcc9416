package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

// check compares the Job with its requirements: each index is complete and has one winning pod with the right result.
func (t *trial) check(ctx context.Context, job *batchv1.Job) {
	t.failed, t.again = int(job.Status.Failed), len(t.pods)-t.scenario.tasks
	if !t.ended {
		t.note(errors.New("its time was over"))
		return
	}
	if want := fmt.Sprintf("0-%d", t.scenario.tasks-1); job.Status.CompletedIndexes != want {
		t.note(fmt.Errorf("completed indexes are %q, want %q", job.Status.CompletedIndexes, want))
	}
	list, err := t.lab.plane.Client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=" + t.name})
	t.note(err)
	if err != nil {
		return
	}
	winners := make([][]string, t.scenario.tasks)
	for _, p := range list.Items {
		won := p.Labels[jobs.WinnerLabel] == "true" || t.asBuiltIn() && p.Status.Phase == v1.PodSucceeded
		if i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil && won {
			winners[i] = append(winners[i], p.Name)
		}
	}
	for i, names := range winners {
		if len(names) != 1 {
			t.note(fmt.Errorf("index %d has %d winners, want 1", i, len(names)))
			continue
		}
		n := t.scenario.units()
		if i >= t.scenario.long {
			n *= 5
		}
		text, err := os.ReadFile(filepath.Join(t.lab.out(), names[0]))
		t.note(err)
		if string(text) != result(i, n) {
			t.note(fmt.Errorf("index %d: the result of the winner is %q", i, text))
		}
	}
}

// kubectl runs kubectl wait for the Job, if the machine has kubectl.
func (t *trial) kubectl() {
	tool, err := exec.LookPath("kubectl")
	if err != nil || !t.ended {
		return
	}
	out, err := exec.Command(tool, "--kubeconfig="+t.lab.plane.Kubeconfig, "wait", "--for=condition=complete",
		"--timeout=5s", "job/"+t.name).CombinedOutput()
	if err != nil {
		t.note(fmt.Errorf("kubectl wait: %w: %s", err, out))
	}
}

// collect lists the events of the controller about the Job.
func (t *trial) collect(ctx context.Context) {
	list, err := t.lab.plane.Client.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.name=" + t.name})
	if err != nil {
		return
	}
	for _, e := range list.Items {
		if strings.HasPrefix(e.Reason, "Straggler") {
			t.events = append(t.events, e.Reason+": "+e.Message)
		}
	}
}
