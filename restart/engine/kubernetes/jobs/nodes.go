package jobs

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart/engine"
)

// nodeChanged records whether a changed node may get new pods: it must exist, be ready and not be cordoned.
func (c *Controller) nodeChanged(n *v1.Node) {
	_, exists, _ := c.nodes.GetIndexer().GetByKey(n.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[n.Name] = true
	c.machines.SetDown(n.Name, !exists || !usable(n))
	if !exists && len(c.known) > renewAbove {
		c.renew()
	}
}

// renewAbove is a number of known nodes. If more nodes are known, the controller forgets nodes that no longer exist;
// see renew.
const renewAbove = 1000

// renew forgets the nodes that no longer exist, if they are at least half of the known nodes. In the field machines a
// node keeps its number for ever, so renew makes a new value of this field. With it, the knowledge about all other
// nodes is lost, too, and each Job is synced next as by a new controller. If Config.Knowledge is set, renew
// does nothing, because it refers to the nodes by their old numbers. The caller has locked c.mu.
func (c *Controller) renew() {
	names := c.nodes.GetIndexer().ListKeys()
	if c.config.Knowledge != nil || len(c.known) < 2*len(names) {
		return
	}
	// The runs of the Jobs refer to the old value of the field machines, so they are closed. The next sync of each Job
	// makes a new run.
	for _, r := range c.runs {
		c.metrics.count(r)
		r.close(c.config.Now())
	}
	clear(c.runs)
	clear(c.known)
	c.machines, _ = engine.NewMachines(engine.MachinesConfig{}) // no error: no field of the configuration is out of range
	for _, o := range c.nodes.GetIndexer().List() {
		n := o.(*v1.Node)
		c.known[n.Name] = true
		c.machines.SetDown(n.Name, !usable(n))
	}
}

// usable reports whether a node may get new pods: it is ready, not cordoned and not being deleted.
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

// stuck reports whether a pod has waited for a node for longer than softAfter, while there are nodes that it must
// avoid.
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
