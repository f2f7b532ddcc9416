package trace

import "cmp"

// rayTasks reads the output of `ray list tasks --detail --format json`, or the answer of the dashboard. The calls of
// a function are a phase.
var rayTasks = byObjects(RayTasks, []string{"task_id", "result", "type"}, []string{"data", "result"}, func(d *document) {
	var r struct {
		id, name, function, kind, state, job, node, worker []byte
		attempt                                            int32
		created, start, finish                             Opt
	}
	empty := r
	d.record = members{
		"task_id": d.text(&r.id), "name": d.text(&r.name), "func_or_class_name": d.text(&r.function),
		"type": d.text(&r.kind), "state": d.text(&r.state), "job_id": d.text(&r.job), "node_id": d.text(&r.node),
		"worker_id": d.text(&r.worker), "attempt_number": d.index(&r.attempt), "creation_time_ms": d.moment(&r.created),
		"start_time_ms": d.moment(&r.start), "end_time_ms": d.moment(&r.finish),
	}
	d.take = func() {
		defer func() { r = empty }()
		switch string(r.kind) {
		case "DRIVER_TASK", "ACTOR_CREATION_TASK":
			d.pass(r.kind)
			return
		}
		if r.id == nil {
			return
		}
		i := d.phase(nameOf(r.job), cmp.Or(nameOf(r.function), nameOf(r.name)))
		host := d.host(r.node, nil)
		a := Attempt{
			Task: d.task(i, -1, r.id), Number: max(r.attempt, 0), Ready: r.created, Start: r.start, Finish: r.finish,
			Host: host, Executor: d.executor(r.worker, host, 0),
		}
		switch string(r.state) {
		case "FINISHED":
			a.State = Succeeded
		case "FAILED":
			a.State = Failed
		default: // one of a dozen states of waiting or running
			a.Finish = Opt{}
		}
		d.nameTask(i, a.Task, r.id)
		d.builder.add(i, a)
	}
})
