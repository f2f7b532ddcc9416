package jobs

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// nodeChanged tells the hosts whether a node may get something new.
func (c *Controller) nodeChanged(n *v1.Node) {
	_, exists, _ := c.nodes.GetIndexer().GetByKey(n.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hosts.SetDown(n.Name, !exists || !usable(n))
}

// usable reports whether a node is ready and not cordoned.
func usable(n *v1.Node) bool {
	if n.Spec.Unschedulable || n.DeletionTimestamp != nil {
		return false
	}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == v1.NodeReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// stuck reports whether a pod that avoids nodes has found no other one for so long that it had better not avoid any.
func stuck(p *v1.Pod, now time.Time) bool {
	if p.Spec.NodeName != "" || p.Annotations[AvoidAnnotation] == "" || !active(p) {
		return false
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Reason == v1.PodReasonUnschedulable && now.Sub(p.CreationTimestamp.Time) > softAfter
		}
	}
	return false
}
