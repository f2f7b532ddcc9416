package jobs

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart/engine"
)

// nodeChanged tells the hosts whether a node may get something new.
func (c *Controller) nodeChanged(n *v1.Node) {
	_, exists, _ := c.nodes.GetIndexer().GetByKey(n.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[n.Name] = true
	c.hosts.SetDown(n.Name, !exists || !usable(n))
	if !exists && len(c.known) > mostGone {
		c.renew()
	}
}

// mostGone is how many nodes are remembered at least, of which any may be gone.
const mostGone = 1000

// renew forgets the nodes that are gone, if they are more than those that there are. Hosts keep their numbers for life,
// so what is known of the others goes with them, and each Job is looked at as by a controller that has just started. A
// record of the caller's own has the old numbers, so there nothing is forgotten. The controller is locked.
func (c *Controller) renew() {
	names := c.nodes.GetIndexer().ListKeys()
	if c.config.Record != nil || len(c.known) < 2*len(names) {
		return
	}
	for _, r := range c.runs {
		c.metrics.count(r)
		r.close(c.config.Now())
	}
	clear(c.runs)
	clear(c.known)
	c.hosts, _ = engine.NewMachines(engine.MachinesConfig{}) // it has no field that could be out of range
	for _, o := range c.nodes.GetIndexer().List() {
		n := o.(*v1.Node)
		c.known[n.Name] = true
		c.hosts.SetDown(n.Name, !usable(n))
	}
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
