package jobs

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gated reports whether a pod still has the scheduling gate [Gate]. The pod waits until the controller has set the
// nodes that it must avoid.
func gated(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == Gate })
}

// avoided returns a function that lists the names of the nodes which the next pod of an index must avoid. These are
// the slow nodes, and the nodes from which a pod was evicted in the last minute. If no other node is left, or if a
// pod of the index has found no other node, the list is empty. The caller has locked c.mu.
func (c *Controller) avoided(r *run, pods []*v1.Pod, now time.Time) func(index int) []string {
	c.marks.forget(now, c.config.Taint.For)
	bad := map[string]bool{}
	for _, name := range c.machines.Slow() {
		bad[name] = true
	}
	for name := range c.marks.evicted {
		bad[name] = true
	}
	// left is the number of nodes that remain for the pods.
	left := 0
	for _, o := range c.nodes.GetIndexer().List() {
		if n := o.(*v1.Node); usable(n) && !bad[n.Name] {
			left++
		}
	}
	if left == 0 {
		clear(bad)
	}
	for _, pod := range pods {
		if stuck(pod, now) {
			r.soft[index(pod)] = true
		}
	}
	soft, names := maps.Clone(r.soft), slices.Sorted(maps.Keys(bad))
	return func(index int) []string {
		if soft[index] {
			return nil
		}
		return names
	}
}

// ungate removes the scheduling gate from the pods that have it, and adds to each pod the nodes that it must avoid.
// If evictions are counted as failures of the Job, the pods only prefer other nodes. Otherwise a pod that finds no
// other node would wait for ever, because it could not be evicted.
func (c *Controller) ungate(
	ctx context.Context, job *batchv1.Job, pods []*v1.Pod, avoid func(index int) []string,
) error {
	soft := !ignoresEviction(job)
	return each(ctx, len(pods), func(i int) error {
		pod := pods[i]
		if !gated(pod) || !active(pod) {
			return nil
		}
		meta := map[string]any{"uid": pod.UID}
		spec := map[string]any{"schedulingGates": []any{map[string]string{"$patch": "delete", "name": Gate}}}
		if nodes := avoid(index(pod)); len(nodes) > 0 {
			meta["annotations"] = map[string]string{AvoidAnnotation: strings.Join(nodes, ",")}
			spec["affinity"] = exclude(pod.Spec.Affinity.DeepCopy(), nodes, soft)
		}
		data, err := json.Marshal(map[string]any{"metadata": meta, "spec": spec})
		if err != nil {
			return err
		}
		_, err = c.config.Client.CoreV1().Pods(pod.Namespace).Patch(
			ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
		return err
	})
}

// unstick evicts the pods that have found no node because of the nodes that they must avoid. The next pods of their
// indexes may run on any node.
func (c *Controller) unstick(ctx context.Context, job *batchv1.Job, pods []*v1.Pod, now time.Time) error {
	return each(ctx, len(pods), func(i int) error {
		if !stuck(pods[i], now) || !mayEvict(job) {
			return nil
		}
		_, err := c.askEviction(ctx, pods[i])
		return err
	})
}
