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

// marks is what the controller remembers of the nodes that it has tainted.
type marks struct {
	evicted map[string]time.Time // nodes, by when a pod was last evicted there
	lifted  map[string]time.Time // when a taint was last taken away
}

// forget drops what says nothing any more.
func (m *marks) forget(now time.Time, taintFor time.Duration) {
	maps.DeleteFunc(m.evicted, func(_ string, at time.Time) bool { return now.Sub(at) >= evictedFor })
	maps.DeleteFunc(m.lifted, func(_ string, at time.Time) bool { return now.Sub(at) >= taintFor/4 })
}

// marking is a taint to set until a time, or with the zero time to take away.
type marking struct {
	node  string
	until time.Time
}

// evictedFor is for how long a node from which a pod was evicted is not preferred.
const evictedFor = time.Minute

// planTaints says which nodes are to have the taint from now on and which no more. The nodes are in the order of their
// names. A taint says itself when it ends, so it does not matter who set it. O(nodes).
func planTaints(nodes []*v1.Node, slow []string, m *marks, t Taint, now time.Time) (plan []marking) {
	m.forget(now, t.For)
	room := max(int(t.Share*float64(len(nodes))), 1)
	var bare []*v1.Node
	for _, n := range nodes {
		switch until, has := taintedUntil(n); {
		case !has && usable(n):
			bare = append(bare, n)
		case has && now.Before(until):
			room--
		case has:
			plan = append(plan, marking{node: n.Name})
		}
	}
	for _, n := range bare {
		if room <= 0 || len(bare) < 2 {
			return plan
		}
		evicted, recent := m.evicted[n.Name]
		_, again := m.lifted[n.Name]
		switch {
		case recent:
			plan = append(plan, marking{n.Name, evicted.Add(evictedFor)})
		case t.Effect == "" || !slices.Contains(slow, n.Name):
			continue
		case again: // it is to show first that it is slow still
			continue
		default:
			plan = append(plan, marking{n.Name, now.Add(t.For)})
		}
		room--
	}
	return plan
}

// taintedUntil returns until when a node has the taint, if it has.
func taintedUntil(n *v1.Node) (until time.Time, has bool) {
	for i := range n.Spec.Taints {
		if n.Spec.Taints[i].Key == SlowTaint {
			seconds, _ := strconv.ParseInt(n.Spec.Taints[i].Value, 10, 64) // what is not ours ends now
			return time.Unix(seconds, 0), true
		}
	}
	return until, false
}

// taintAll marks nodes until the context ends.
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

// taint brings the nodes' taints in line with what is known now.
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
	plan := planTaints(nodes, c.hosts.Slow(), &c.marks, c.config.Taint, now)
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

func hasTaint(n *v1.Node) bool {
	_, has := taintedUntil(n)
	return has
}

// mark sets or takes away a node's taint. The list of taints is replaced as a whole, so a node that has changed
// meanwhile is left for the next time.
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
