package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// see starts or stops the process of a pod of this node, as the API server shows the pod.
func (n *Node) see(ctx context.Context, p *v1.Pod) {
	n.mu.Lock()
	_, runs := n.runs[p.UID]
	n.mu.Unlock()
	switch {
	case p.DeletionTimestamp != nil && runs:
		n.kill(p.UID)
	case p.DeletionTimestamp != nil:
		n.gone(ctx, p)
	case !runs && p.Status.Phase == v1.PodPending:
		n.launch(ctx, p)
	}
}

// gone tells the API server that a deleted pod has no process left on this node.
func (n *Node) gone(ctx context.Context, p *v1.Pod) {
	if p.Status.Phase == v1.PodPending {
		n.say(ctx, p, v1.PodStatus{Phase: v1.PodFailed})
	}
	o := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &p.UID}}
	_ = n.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, o) // the pod may already be removed
}

// say writes the status of a pod. It tries again after errors, because the API server may be down.
func (n *Node) say(ctx context.Context, p *v1.Pod, status v1.PodStatus) {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	for try := 0; err == nil && try < 200 && ctx.Err() == nil; try++ {
		_, failed := n.client.CoreV1().Pods(p.Namespace).Patch(
			ctx, p.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
		if failed == nil || strings.Contains(failed.Error(), "not found") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// launch starts the process of a pod, and writes the status of the pod.
func (n *Node) launch(ctx context.Context, p *v1.Pod) {
	c := p.Spec.Containers[0]
	args := append(append([]string{}, c.Command...), c.Args...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), n.env...), "POD_NAME="+p.Name)
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			key := strings.TrimSuffix(strings.TrimPrefix(e.ValueFrom.FieldRef.FieldPath, "metadata.labels['"), "']")
			if value = p.Labels[key]; value == "" {
				value = p.Annotations[strings.TrimPrefix(key, "metadata.annotations['")]
			}
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	n.mu.Lock()
	err := errors.New("the node is dead")
	if !n.dead {
		err = cmd.Start()
	}
	if err == nil {
		n.runs[p.UID] = cmd
	}
	n.mu.Unlock()
	began := metav1.Now()
	if err != nil {
		n.say(ctx, p, v1.PodStatus{Phase: v1.PodFailed, Message: err.Error(), StartTime: &began})
		return
	}
	go n.follow(ctx, p, cmd, began)
}

// follow writes that the process runs, waits for its end, and writes how it ended.
func (n *Node) follow(ctx context.Context, p *v1.Pod, cmd *exec.Cmd, began metav1.Time) {
	ready := func(s v1.ConditionStatus) []v1.PodCondition {
		return []v1.PodCondition{{Type: v1.PodReady, Status: s, LastTransitionTime: metav1.Now()}}
	}
	c := v1.ContainerStatus{
		Name: p.Spec.Containers[0].Name, Ready: true, Image: p.Spec.Containers[0].Image, ImageID: "process",
		ContainerID: fmt.Sprintf("process://%d", cmd.Process.Pid),
		State:       v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: began}},
	}
	n.say(ctx, p, v1.PodStatus{Phase: v1.PodRunning, StartTime: &began, HostIP: "127.0.0.1", PodIP: "127.0.0.1",
		HostIPs: []v1.HostIP{{IP: "127.0.0.1"}}, PodIPs: []v1.PodIP{{IP: "127.0.0.1"}},
		Conditions: ready(v1.ConditionTrue), ContainerStatuses: []v1.ContainerStatus{c}})
	err := cmd.Wait()
	n.mu.Lock()
	delete(n.runs, p.UID)
	n.mu.Unlock()
	phase, code := v1.PodSucceeded, int32(0)
	if err != nil {
		phase, code = v1.PodFailed, 137
		if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() >= 0 {
			code = int32(exit.ExitCode())
		}
	}
	c.Ready, c.State = false, v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: code, StartedAt: began, FinishedAt: metav1.Now()}}
	n.say(ctx, p, v1.PodStatus{
		Phase: phase, Conditions: ready(v1.ConditionFalse), ContainerStatuses: []v1.ContainerStatus{c}})
	now, err := n.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err == nil && now.UID == p.UID && now.DeletionTimestamp != nil {
		n.gone(ctx, now)
	}
}
