package trace

import (
	"io"
	"math"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// members has a function for each member of an object that is read.
type members map[string]func()

// members calls the functions of m for the members of the object at the cursor. It skips all other members.
func (c *cursor) members(m members) {
	c.fields(func(key []byte) {
		if take := m[string(key)]; take != nil {
			take()
		}
	})
}

// kube reads Kubernetes objects, as kubectl prints them, one after the other or in a list: jobs, pods, and workflows
// of Argo. A job that a cron job or a workflow created is a task of a phase with the creator's name. A pod is a task
// of its job, with the completion index as its number if it has one. Times are whole seconds.
type kube struct {
	*builder
	c     cursor
	o     kubeObject
	shape members
	after map[int][]int
	runs  map[[2]int32]int32    // number of attempts, by phase and task
	seen  map[string]attemptRef // by the identity of an object, since a watch prints an object several times
	kind  []byte                // kind of the objects in a list, which may have no kind themselves
}

// kubeObject has the fields of an object that are read.
type kubeObject struct {
	kind, name, namespace, owner, job, index, node, phase []byte
	ownerKind, family                                     []byte
	created, started, completed                           Opt
	begun, ended                                          Opt // times of the containers
	failed                                                bool
	nodes                                                 map[string]*argoNode
	order                                                 []string // the nodes, in the order of the object
}

// readKube reads objects, one after the other or in a list.
func readKube(in io.Reader, limit int, list bool) *builder {
	k := &kube{builder: newBuilder(Kubernetes), after: map[int][]int{}, runs: map[[2]int32]int32{},
		seen: map[string]attemptRef{}}
	k.shape = k.object()
	s := newStream(in, limit, ofKubeObject)
	if list {
		if err := s.unwrap("items"); err != nil {
			if s.fault(k.log, err) {
				return k.builder
			}
		}
	}
	k.kind = []byte(strings.TrimSuffix(s.kind, "List"))
	s.each(k.log, func(record []byte) bool {
		k.c, k.o = cursor{data: record}, kubeObject{kind: k.kind}
		k.c.members(k.shape)
		if !k.c.done() {
			return false
		}
		k.take()
		return true
	})
	k.builder.after(k.after)
	return k.builder
}

// ofKubeObject reports whether a key is one of the first keys of an object.
func ofKubeObject(key []byte) bool {
	switch string(key) {
	case "apiVersion", "kind", "metadata", "type":
		return true
	}
	return false
}

func (k *kube) object() members {
	c, o := &k.c, &k.o
	time := func(to *Opt) func() { return func() { *to = c.moment(&k.log.Faults) } }
	text := func(to *[]byte) func() { return func() { *to = c.name() } }
	inside := func(m members) func() { return func() { c.members(m) } }
	each := func(m members) func() { return func() { c.elements(func() { c.members(m) }) } }
	label := members{
		"job-name": text(&o.job), "batch.kubernetes.io/job-name": text(&o.job),
		"batch.kubernetes.io/job-completion-index": text(&o.index),
	}
	states := inside(members{
		"running":    inside(members{"startedAt": k.earliest}),
		"terminated": inside(members{"startedAt": k.earliest, "finishedAt": k.latest}),
	})
	condition := kubeCondition{}
	shape := members{
		"kind": text(&o.kind),
		"metadata": inside(members{
			"name": text(&o.name), "generateName": text(&o.family), "namespace": text(&o.namespace), "creationTimestamp": time(&o.created),
			"labels": inside(label), "annotations": inside(label),
			"ownerReferences": each(members{"name": text(&o.owner), "kind": text(&o.ownerKind)}),
		}),
		"spec": inside(members{"nodeName": text(&o.node)}),
		"status": inside(members{
			"phase": text(&o.phase), "startTime": time(&o.started), "completionTime": time(&o.completed),
			"containerStatuses": each(members{"state": states}),
			"conditions":        func() { c.elements(func() { condition.read(c, k) }) },
			"nodes":             k.nodes,
			"compressedNodes":   k.packedNodes, "offloadNodeStatusVersion": k.packedNodes,
		}),
	}
	shape["object"] = inside(shape) // an object of a watch, with its type before it
	return shape
}

// packedNodes adds a hint about nodes that are not in the object of the workflow.
func (k *kube) packedNodes() {
	if len(k.c.text()) > 0 {
		k.hint("the nodes of a workflow are compressed, or stored elsewhere: write the log with `argo get NAME -o json`")
	}
}

func (k *kube) earliest() {
	if at := k.c.moment(&k.log.Faults); at.Known() && at.Or(0) < k.o.begun.Or(math.MaxInt64) {
		k.o.begun = at
	}
}

func (k *kube) latest() {
	if at := k.c.moment(&k.log.Faults); at.Or(-1) > k.o.ended.Or(-1) {
		k.o.ended = at
	}
}

// kubeCondition is a condition in a status. The end of a failed job is only there.
type kubeCondition struct {
	kind, holds []byte
	since       Opt
}

func (d *kubeCondition) read(c *cursor, k *kube) {
	*d = kubeCondition{}
	c.fields(func(key []byte) {
		switch string(key) {
		case "type":
			d.kind = c.text()
		case "status":
			d.holds = c.text()
		case "lastTransitionTime":
			d.since = c.moment(&k.log.Faults)
		}
	})
	if string(d.kind) == "Failed" && string(d.holds) == "True" {
		k.o.failed, k.o.ended = true, d.since
	}
}

// take adds an object to the log.
func (k *kube) take() {
	switch o := &k.o; string(o.kind) {
	case "Job":
		a := Attempt{Ready: o.created, Start: o.started, Finish: o.completed}
		switch {
		case o.failed:
			a.Finish, a.State = o.ended, Failed
		case o.completed.Known():
			a.State = Succeeded
		}
		k.attempt(o.owner, "jobs", o.name, a)
	case "Pod":
		a := Attempt{Ready: o.created, Start: o.begun, Finish: o.ended, Host: k.host(o.node, nil)}
		if !a.Start.Known() {
			a.Start = o.started
		}
		switch string(o.phase) {
		case "Succeeded":
			a.State = Succeeded
		case "Failed":
			a.State = Failed
		default:
			a.Finish = Opt{} // the container will run again
		}
		phase, task := o.job, o.name
		if phase == nil {
			phase = o.owner
		}
		if o.index != nil {
			task = o.index
		}
		if i := k.attempt(phase, "pods", task, a); o.job != nil {
			k.log.Phases[i].Kin = alike.Alike
		}
	case "Workflow":
		k.log.Format = Argo
		k.workflow()
	default:
		k.pass(o.kind)
	}
}

// attempt adds a job or a pod, and returns its phase. If it was seen before, its values are replaced.
func (k *kube) attempt(phase []byte, otherwise string, task []byte, a Attempt) int {
	if phase == nil {
		phase = []byte(otherwise)
	}
	i := k.phase(nameOf(k.o.namespace), nameOf(phase))
	key := strings.Join([]string{string(k.o.kind), string(k.o.namespace), string(k.o.name)}, "\x00")
	if ref, again := k.seen[key]; again {
		old := k.builder.attempt(ref)
		a.Task, a.Number = old.Task, old.Number
		*old = a
		return i
	}
	c := cursor{data: task, plain: true}
	if index, ok := c.integer(); ok && c.done() && index >= 0 && index < maxTask {
		a.Task = k.task(i, int32(index), nil)
	} else {
		a.Task = k.task(i, -1, task)
	}
	name := task
	if string(k.o.kind) == "Job" && string(k.o.ownerKind) == "CronJob" {
		name = k.o.owner // each of its jobs is the same work
	}
	k.nameTask(i, a.Task, name)
	run := [2]int32{int32(i), a.Task}
	a.Number = k.runs[run]
	k.runs[run]++
	k.seen[key] = k.add(i, a)
	return i
}
