package trace

import (
	"io"
	"math"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// members says what to do at the members of an object.
type members map[string]func()

// members walks over the object at the cursor. What m does not name is passed over.
func (c *cursor) members(m members) {
	c.fields(func(key []byte) {
		if take := m[string(key)]; take != nil {
			take()
		}
	})
}

// kube reads Kubernetes objects as kubectl prints them, one behind the other or as a list: jobs, pods, and workflows of
// Argo. A job that a cron job or a workflow made is a task of a phase with its maker's name; a pod is one of its job's,
// by its completion index if it has one. Times are whole seconds.
type kube struct {
	*builder
	c     cursor
	o     kubeObject
	shape members
	after map[int][]int
	runs  map[[2]int32]int32    // attempts, by phase and task
	seen  map[string]attemptRef // by what makes an object one: a watch shows it again and again
	kind  []byte                // of the objects in a list, which need not have one each
}

// kubeObject holds what is needed of one object.
type kubeObject struct {
	kind, name, namespace, owner, job, index, node, phase []byte
	ownerKind, family                                     []byte
	created, started, completed                           Opt
	begun, ended                                          Opt // of the containers
	failed                                                bool
	nodes                                                 map[string]*argoNode
	order                                                 []string // of the nodes in the object
}

// readKube reads objects, one behind the other or in a list.
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

// ofKubeObject says whether a key is one that objects begin with.
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
	shape["object"] = inside(shape) // of a watch, whose type comes before it
	return shape
}

// packedNodes says what to do about nodes that are not in the workflow's object.
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

// kubeCondition is an element of a status's conditions. A job that failed has its end nowhere else.
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

// take takes in an object.
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
			a.Finish = Opt{} // of a container that will run again
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

// attempt takes in a job or a pod, and returns its phase. One that was seen before is seen again, later.
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
