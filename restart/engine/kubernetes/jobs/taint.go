package jobs

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// marks contains two times for each node, by the node's name: the last eviction from the node, and the last removal
// of its taint.
type marks struct {
	evicted map[string]time.Time // when a pod was last evicted from the node
	lifted  map[string]time.Time // when the controller last removed the taint from the node
}

// forget deletes the times that no longer have an effect: times of evictions after a minute, and times of removed
// taints after a quarter of Taint.For.
func (m *marks) forget(now time.Time, taintFor time.Duration) {
	maps.DeleteFunc(m.evicted, func(_ string, at time.Time) bool { return now.Sub(at) >= evictedFor })
	maps.DeleteFunc(m.lifted, func(_ string, at time.Time) bool { return now.Sub(at) >= taintFor/4 })
}

// taintChange is a change of a node's taint: the taint shall be set, and shall stay until the given time. If the time
// is zero, the taint shall be removed.
type taintChange struct {
	node  string
	until time.Time
}

// evictedFor is how long a node has the taint after a pod was evicted from it.
const evictedFor = time.Minute

// planTaints returns the taints to set and to remove. nodes are all nodes, ordered by name, and slow are the names of
// the slow nodes. The value of a taint is the time at which it ends, so a later controller can remove it. planTaints
// takes O(nodes) time.
func planTaints(nodes []*v1.Node, slow []string, m *marks, t Taint, now time.Time) (plan []taintChange) {
	m.forget(now, t.For)
	// room is how many more nodes may get the taint. For example, a Share of 0.1 allows two taints for twenty nodes.
	room := max(int(t.Share*float64(len(nodes))), 1)
	var bare []*v1.Node
	for _, n := range nodes {
		switch until, has := taintedUntil(n); {
		case !has && usable(n):
			bare = append(bare, n)
		case has && now.Before(until):
			room--
		case has:
			plan = append(plan, taintChange{node: n.Name})
		}
	}
	// At least one usable node stays without the taint.
	spare := len(bare) - 1
	for _, n := range bare {
		if room <= 0 || spare <= 0 {
			return plan
		}
		evicted, recent := m.evicted[n.Name]
		_, again := m.lifted[n.Name]
		switch {
		case recent:
			plan = append(plan, taintChange{n.Name, evicted.Add(evictedFor)})
		case t.Effect == "" || !slices.Contains(slow, n.Name):
			continue
		case again: // the taint was removed a short time ago; new pods must first show whether the node is still slow
			continue
		default:
			plan = append(plan, taintChange{n.Name, now.Add(t.For)})
		}
		room--
		spare--
	}
	return plan
}

// taintedUntil returns the time at which the taint SlowTaint of a node ends. has is false if the node does not have
// this taint.
func taintedUntil(n *v1.Node) (until time.Time, has bool) {
	for i := range n.Spec.Taints {
		if n.Spec.Taints[i].Key == SlowTaint {
			// if the value is no number, the taint has ended
			seconds, _ := strconv.ParseInt(n.Spec.Taints[i].Value, 10, 64)
			return time.Unix(seconds, 0), true
		}
	}
	return until, false
}

// taintAll sets and removes the taints of nodes once in each Config.Interval, until ctx ends.
func (c *Controller) taintAll(ctx context.Context) {
	tick := time.NewTicker(c.config.Interval)
	defer tick.Stop()
	for {
		c.taint(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// taint sets the taint on nodes that are slow or had an eviction, and removes taints whose time is over.
func (c *Controller) taint(ctx context.Context) {
	var nodes []*v1.Node
	tainted := 0
	for _, o := range c.nodes.GetIndexer().List() {
		n := o.(*v1.Node)
		if nodes = append(nodes, n); hasTaint(n) {
			tainted++
		}
	}
	slices.SortFunc(nodes, func(a, b *v1.Node) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	now := c.config.Now()
	c.mu.Lock()
	plan := planTaints(nodes, c.machines.Slow(), &c.marks, c.config.Taint, now)
	c.mu.Unlock()
	c.metrics.tainted.Set(float64(tainted))
	for _, mark := range plan {
		at := slices.IndexFunc(nodes, func(n *v1.Node) bool { return n.Name == mark.node })
		if err := c.mark(ctx, nodes[at], mark.until); err != nil {
			c.metrics.log(mark.node, err)
			continue
		}
		if mark.until.IsZero() {
			c.mu.Lock()
			c.marks.lifted[mark.node] = now
			c.mu.Unlock()
		}
	}
}

// hasTaint reports whether a node has the taint SlowTaint.
func hasTaint(n *v1.Node) bool {
	_, has := taintedUntil(n)
	return has
}

// mark sets the taint of a node until a time, or removes the taint if the time is zero. The patch replaces the node's
// whole list of taints. So the patch contains the version of the node, and fails if the node has changed meanwhile.
// Then the next call of the method taint tries again.
func (c *Controller) mark(ctx context.Context, n *v1.Node, until time.Time) error {
	taints := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t v1.Taint) bool { return t.Key == SlowTaint })
	if !until.IsZero() {
		effect := or(c.config.Taint.Effect, v1.TaintEffectPreferNoSchedule)
		taints = append(taints, v1.Taint{Key: SlowTaint, Value: strconv.FormatInt(until.Unix(), 10), Effect: effect})
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": n.ResourceVersion}, "spec": map[string]any{"taints": taints},
	})
	if err != nil {
		return err
	}
	_, err = c.config.Client.CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, data, metav1.PatchOptions{})
	return err
}
