package trace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// argoNode is a node in the graph of a workflow. A node of type Pod ran something. The other nodes group nodes.
type argoNode struct {
	kind, template, name, phase, host []byte
	start, finish                     Opt
	children                          []string
	retry                             string // the node of which this node is an attempt
}

// nodes reads the nodes of a workflow, by ID.
func (k *kube) nodes() {
	c := &k.c
	k.o.nodes = map[string]*argoNode{}
	c.fields(func(key []byte) {
		n := &argoNode{}
		id := string(key)
		c.fields(func(key []byte) { k.node(n, key) })
		k.o.nodes[id] = n
		k.o.order = append(k.o.order, id)
	})
}

func (k *kube) node(n *argoNode, key []byte) {
	c := &k.c
	switch string(key) {
	case "type":
		n.kind = c.text()
	case "templateName":
		n.template = c.name()
	case "templateRef": // a template of another object
		c.fields(func(key []byte) {
			if string(key) == "template" {
				n.template = c.name()
			}
		})
	case "displayName":
		n.name = c.name()
	case "phase":
		n.phase = c.text()
	case "hostNodeName":
		n.host = c.name()
	case "startedAt":
		n.start = c.moment(&k.log.Faults)
	case "finishedAt":
		n.finish = c.moment(&k.log.Faults)
	case "children":
		c.elements(func() { n.children = append(n.children, string(c.text())) })
	}
}

// workflow reads a workflow of Argo. The pods of one template are a phase. A task is a pod, or several pods, each of
// which ran after the failure of the pod before.
func (k *kube) workflow() {
	nodes := k.o.nodes
	for _, id := range k.o.order {
		if n := nodes[id]; string(n.kind) == "Retry" {
			for _, child := range n.children {
				if c := nodes[child]; c != nil && string(c.kind) == "Pod" {
					c.retry = id
				}
			}
		}
	}
	slices.SortStableFunc(k.o.order, func(a, b string) int {
		const never = maxTime + 1
		return cmp.Compare(nodes[a].start.Or(never), nodes[b].start.Or(never))
	})
	phases := map[string]int{} // by node
	fans := map[int]string{}   // for each phase, the node of which all its pods are items
	for _, id := range k.o.order {
		switch n := nodes[id]; string(n.kind) {
		case "Pod":
			i := k.pod(id, n)
			phases[id] = i
			base, _, _ := strings.Cut(k.nameOfPod(n), "(")
			if before, known := fans[i]; known && before != base || base == k.nameOfPod(n) {
				base = "" // the phase has more than the items of one node
			}
			fans[i] = base
		case "HTTP", "Container", "Plugin":
			k.notRun("nodes of the kind " + string(n.kind))
		}
	}
	for i, base := range fans {
		if base != "" {
			k.log.Phases[i].Kin = alike.Alike
		}
	}
	k.edges(phases)
}

func (k *kube) pod(id string, n *argoNode) int {
	i := k.phase(nameOf(k.o.name), nameOf(n.template))
	k.log.Phases[i].Family = nameOf(k.o.family)
	a := Attempt{Start: n.start, Finish: n.finish, Host: k.host(n.host, nil)}
	switch string(n.phase) {
	case "Succeeded":
		a.State = Succeeded
	case "Failed", "Error":
		a.State = Failed
	default:
		a.Finish = Opt{}
	}
	task := id
	if n.retry != "" {
		task = n.retry
		retries := k.o.nodes[n.retry].children
		a.Number = int32(max(slices.Index(retries, id), 0))
	}
	a.Task = k.task(i, -1, []byte(task))
	k.nameTask(i, a.Task, []byte(k.nameOfPod(n)))
	k.add(i, a)
	return i
}

// nameOfPod returns the name of the node; for an attempt, the name of the node of which it is an attempt.
func (k *kube) nameOfPod(n *argoNode) string {
	if n.retry != "" {
		n = k.o.nodes[n.retry]
	}
	return string(n.name)
}

// edges finds the input phases. From each phase, and from each node outside the phases, it goes down to the next
// phases.
func (k *kube) edges(phases map[string]int) {
	type place struct { // a phase, or a node outside the phases
		node  string
		phase int
	}
	placeOf := func(id string) place {
		if i, ok := phases[id]; ok {
			return place{phase: i}
		}
		return place{node: id, phase: -1}
	}
	below := map[place][]place{}
	known := map[[2]place]bool{}
	for _, id := range k.o.order {
		from := placeOf(id)
		for _, child := range k.o.nodes[id].children {
			if to := placeOf(child); from != to && !known[[2]place{from, to}] {
				known[[2]place{from, to}] = true
				below[from] = append(below[from], to)
			}
		}
	}
	for from := range below {
		if from.phase < 0 {
			continue
		}
		seen := map[place]bool{}
		var down func(at place)
		down = func(at place) {
			for _, to := range below[at] {
				if seen[to] {
					continue
				}
				seen[to] = true
				if to.phase < 0 {
					down(to)
				} else if to != from {
					k.after[to.phase] = append(k.after[to.phase], from.phase)
				}
			}
		}
		down(from)
	}
}
