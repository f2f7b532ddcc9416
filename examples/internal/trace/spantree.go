package trace

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// spanTree collects the spans of traces of OpenTelemetry or Jaeger. A span waits for the spans inside it. So the
// spans without a span inside are the tasks. A trace is a job. An operation is the same work in every trace. If most
// spans have the attribute step, or training.step, the steps are the phases.
type spanTree struct {
	d      *document
	spans  []treeSpan
	parent map[[2]string]bool // the spans that contain other spans, by trace and span
}

type treeSpan struct {
	trace, id, parent, service, name, step, stage string
	a                                             Attempt
}

func newSpanTree(d *document) *spanTree { return &spanTree{d: d, parent: map[[2]string]bool{}} }

// add adds a span. start and finish are in milliseconds.
func (t *spanTree) add(trace, id, parent, service, name, step, stage, host []byte, start, finish Opt, failed bool) {
	a := Attempt{Start: start, Finish: finish, Host: t.d.host(host, nil)}
	switch {
	case failed:
		a.State = Failed
	case finish.Known():
		a.State = Succeeded
	}
	t.spans = append(t.spans, treeSpan{
		string(trace), string(id), string(parent), nameOf(service), nameOf(name), nameOf(step), nameOf(stage), a,
	})
	if len(parent) > 0 {
		t.parent[[2]string{string(trace), string(parent)}] = true
	}
}

// finish makes tasks of the spans that contain no other span.
func (t *spanTree) finish() {
	if t.steps() {
		return
	}
	within := 0
	for _, s := range t.spans {
		if t.parent[[2]string{s.trace, s.id}] {
			within++
			continue
		}
		i := t.d.phase(nameOf([]byte(s.trace)), s.service)
		p := &t.d.log.Phases[i]
		p.Kin, p.Family = alike.Named, s.service
		s.a.Task = t.d.count(i)
		t.d.nameTask(i, s.a.Task, []byte(s.name))
		t.d.builder.add(i, s.a)
	}
	if within > 0 {
		t.d.hint(fmt.Sprintf("left out: %d of %d spans: they contain other spans", within, len(t.spans)))
	}
}

// isStep reports whether a key is that of an attribute with the step.
func isStep(key []byte) bool { return string(key) == "step" || string(key) == "training.step" }

// isStage reports whether a key is that of an attribute with the stage of a worker.
func isStage(key []byte) bool { return string(key) == "stage" || string(key) == "training.stage" }

// steps makes a phase of each step, and of each host or service in it a task, if at least half of the spans have a step.
// The time of a task is the sum of its spans that are in no other span with a step. A task with a span that has not ended
// is left out and counted.
func (t *spanTree) steps() bool {
	has := map[[2]string]bool{}
	for _, s := range t.spans {
		if s.step != "" {
			has[[2]string{s.trace, s.id}] = true
		}
	}
	if len(has) == 0 || 2*len(has) < len(t.spans) {
		return false
	}
	parents := map[[2]string]string{}
	for _, s := range t.spans {
		parents[[2]string{s.trace, s.id}] = s.parent
	}
	// within reports whether a span is in another span with a step. It keeps what it finds about each span on its way.
	found := map[[2]string]bool{}
	within := func(s *treeSpan) bool {
		var way [][2]string
		inside := false
		for at := s.parent; at != "" && !inside; {
			key := [2]string{s.trace, at}
			if known, ok := found[key]; ok {
				inside = known
				break
			}
			found[key] = false // also against a ring of spans
			way = append(way, key)
			inside, at = has[key], parents[key]
		}
		for _, key := range way {
			found[key] = inside
		}
		return inside
	}
	type part struct{ step, worker string }
	index, took := map[part]int{}, []int64{}
	var parts []part
	var first []Attempt
	unfinished := map[part]bool{}
	for _, s := range t.spans {
		if s.step == "" || within(&s) {
			continue
		}
		key := part{s.step, cmp.Or(t.d.log.Hosts[s.a.Host].Name, s.service)}
		d, ok := s.a.Duration()
		if !ok || d < 0 {
			unfinished[key] = true
			continue
		}
		k, known := index[key]
		if !known {
			k = len(parts)
			index[key], parts, took, first = k, append(parts, key), append(took, 0), append(first, s.a)
		}
		took[k] += d.Milliseconds()
		t.d.inStage(key.worker, s.stage)
	}
	t.d.unfinished(len(unfinished))
	for k, key := range parts {
		if unfinished[key] {
			continue
		}
		i := t.d.phase("", "step "+key.step)
		t.d.log.Phases[i].Step = true
		a := Attempt{
			Task: t.d.task(i, -1, []byte(key.worker)), Start: first[k].Start, State: Succeeded,
			Host: t.d.host([]byte(key.worker), nil),
		}
		a.Finish = Known(a.Start.Or(0) + took[k])
		t.d.nameTask(i, a.Task, []byte(key.worker))
		t.d.builder.add(i, a)
	}
	if n := len(t.spans) - len(has); n > 0 {
		t.d.hint(fmt.Sprintf("left out: %d of %d spans: they have no step", n, len(t.spans)))
	}
	return true
}

// micros reads a time in microseconds at the cursor, which may be in quotes.
func (d *document) micros() Opt { return d.scaled(1000) }

func (d *document) nanos() Opt { return d.scaled(1_000_000) }

func (d *document) scaled(unit int64) Opt {
	c := cursor{data: bytes.TrimSpace(d.c.name()), plain: false}
	n, ok := c.integer()
	return momentFrom(n/unit, ok, &d.log.Faults)
}

// jaeger reads traces as Jaeger's API returns them.
var jaeger = byObjects(Traces, []string{"traceID", "spans"}, []string{"data"}, func(d *document) {
	t := newSpanTree(d)
	type span struct {
		trace, id, parent, name, process, step, stage []byte
		start                                         Opt
		micros                                        int64
		failed                                        bool
	}
	var s span
	var spans []span
	type process struct{ service, host []byte }
	processes := map[string]process{}
	var p process
	d.record = members{
		"spans": func() {
			d.c.elements(func() {
				s = span{}
				d.c.members(members{
					"traceID": d.text(&s.trace), "spanID": d.text(&s.id), "parentSpanID": d.text(&s.parent),
					"operationName": d.text(&s.name), "processID": d.text(&s.process),
					"startTime": func() { s.start = d.micros() }, "duration": func() { s.micros, _ = d.c.integer() },
					"references": func() {
						d.c.elements(func() { d.c.members(members{"spanID": d.text(&s.parent)}) })
					},
					"tags": func() {
						d.tags(func(key, value []byte) {
							s.failed = s.failed || string(key) == "error" && string(value) == "true"
							switch {
							case isStep(key):
								s.step = value
							case isStage(key):
								s.stage = value
							}
						})
					},
				})
				spans = append(spans, s)
			})
		},
		"processes": func() {
			d.c.fields(func(key []byte) {
				p = process{}
				d.c.members(members{"serviceName": d.text(&p.service), "tags": func() {
					d.tags(func(key, value []byte) {
						if string(key) == "hostname" || string(key) == "host.name" {
							p.host = value
						}
					})
				}})
				processes[string(key)] = p
			})
		},
	}
	d.take = func() {
		for _, s := range spans {
			p := processes[string(s.process)]
			finish := Opt{}
			if at, ok := s.start.Get(); ok && s.micros >= 0 {
				finish = Known(at + s.micros/1000)
			}
			t.add(s.trace, s.id, s.parent, p.service, s.name, s.step, s.stage, p.host, s.start, finish, s.failed)
		}
		spans = spans[:0]
		clear(processes)
	}
	d.end = t.finish
})

// tags calls each for pairs of a key and a value. Jaeger's value is plain, and OpenTelemetry's value is inside an
// object.
func (d *document) tags(each func(key, value []byte)) {
	d.c.elements(func() {
		var key, value []byte
		d.c.members(members{"key": d.text(&key), "value": func() {
			if d.c.space() != '{' {
				start := d.c.pos
				if value = d.c.name(); value == nil {
					value = d.c.data[start:d.c.pos] // true or false
				}
				return
			}
			d.c.members(members{"stringValue": d.text(&value), "intValue": d.text(&value)})
		}})
		each(key, value)
	})
}

// openTelemetry reads traces as OpenTelemetry's exporters write them in JSON.
var openTelemetry = byObjects(Traces, []string{"resource", "scopeSpans"}, []string{"resourceSpans", "batches"}, func(d *document) {
	t := newSpanTree(d)
	var service, host, trace, id, parent, name, step, stage, code []byte
	var start, finish Opt
	var spans []func() // the spans of a resource, which may be after them
	span := func() {
		trace, id, parent, name, step, stage, code, start, finish = nil, nil, nil, nil, nil, nil, nil, Opt{}, Opt{}
		d.c.members(members{
			"traceId": d.text(&trace), "spanId": d.text(&id), "parentSpanId": d.text(&parent), "name": d.text(&name),
			"startTimeUnixNano": func() { start = d.nanos() }, "endTimeUnixNano": func() { finish = d.nanos() },
			"status": d.inside(members{"code": d.text(&code)}),
			"attributes": func() {
				d.tags(func(key, value []byte) {
					switch {
					case isStep(key):
						step = value
					case isStage(key):
						stage = value
					}
				})
			},
		})
		trace, id, parent, name, step, stage, start, finish := trace, id, parent, name, step, stage, start, finish
		failed := string(code) == "2" || string(code) == "STATUS_CODE_ERROR"
		spans = append(spans, func() { t.add(trace, id, parent, service, name, step, stage, host, start, finish, failed) })
	}
	scope := func() {
		d.c.elements(func() { d.c.members(members{"spans": func() { d.c.elements(span) }}) })
	}
	d.record = members{
		"resource": d.inside(members{"attributes": func() {
			d.tags(func(key, value []byte) {
				switch string(key) {
				case "service.name":
					service = value
				case "host.name", "k8s.pod.name", "service.instance.id":
					if host == nil {
						host = value
					}
				}
			})
		}}),
		"scopeSpans": scope, "instrumentationLibrarySpans": scope,
	}
	d.take = func() {
		for _, add := range spans {
			add()
		}
		spans, service, host = nil, nil, nil
	}
	d.end = t.finish
})
