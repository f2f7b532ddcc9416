package jobs

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart/engine"
)

// nodeChanged tells the hosts whether a node may get new pods.
func (c *Controller) nodeChanged(n *v1.Node) {
	_, exists, _ := c.nodes.GetIndexer().GetByKey(n.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[n.Name] = true
	c.hosts.SetDown(n.Name, !exists || !usable(n))
	if !exists && len(c.known) > renewAbove {
		c.renew()
	}
}

// renewAbove is the number of known nodes above which nodes that are gone are forgotten; see renew.
const renewAbove = 1000

// renew forgets the nodes that are gone, if at least half of the known nodes are gone. A node keeps its number in the
// hosts for ever, so renew makes new hosts, and the knowledge about the other nodes is lost, too. After that each Job
// is synced as by a new controller. With a record of the caller's own nothing is forgotten, because the record has the
// old numbers. The controller is locked.
func (c *Controller) renew() {
	names := c.nodes.GetIndexer().ListKeys()
	if c.config.Record != nil || len(c.known) < 2*len(names) {
		return
	}
	// The runs refer to the old hosts, so they end, too. The next sync of each Job makes a new run.
	for _, r := range c.runs {
		c.metrics.count(r)
		r.close(c.config.Now())
	}
	clear(c.runs)
	clear(c.known)
	c.hosts, _ = engine.NewMachines(engine.MachinesConfig{}) // no field can be out of range
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

// stuck reports whether a pod that must avoid nodes has found no other node for softAfter.
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
