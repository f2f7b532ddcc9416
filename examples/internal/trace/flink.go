package trace

// flink reads the answers of Flink's REST API about a vertex: its subtasks, or the times of their states. Attempts
// that Flink's own speculation started beside another attempt are inside it.
var flink = byObjects(Flink, []string{"id", "subtask", "name"}, []string{"subtasks"}, func(d *document) {
	var vertex []byte
	type subtask struct {
		index, attempt int32
		state          []byte
		host, manager  []byte
		start, finish  Opt
		input, output  Opt
	}
	fresh := subtask{index: -1}
	r := fresh
	add := func() {
		i := d.phase("", nameOf(vertex))
		host := d.host(r.host, nil)
		a := Attempt{
			Task: r.index, Number: max(r.attempt, 0), Start: r.start, Finish: r.finish, Input: r.input, Output: r.output,
			Host: host, Executor: d.executor(r.manager, host, 0),
		}
		if a.State = d.stateOf(r.state); a.State == Unfinished {
			a.Finish = Opt{}
		}
		d.builder.add(i, a)
	}
	own := members{
		"subtask": d.index(&r.index), "attempt": d.index(&r.attempt), "status": d.text(&r.state), "host": d.text(&r.host),
		"endpoint": d.text(&r.host), "taskmanager-id": d.text(&r.manager),
		"start-time": d.moment(&r.start), "end-time": d.moment(&r.finish),
		"metrics": d.inside(members{"read-bytes": d.bytes(&r.input), "write-bytes": d.bytes(&r.output)}),
		"timestamps": d.inside(members{
			"RUNNING": d.moment(&r.start), "FINISHED": func() { d.moment(&r.finish)(); r.state = []byte("FINISHED") },
		}),
	}
	d.record = members{"name": d.text(&vertex)}
	for key, take := range own {
		d.record[key] = take
	}
	d.record["other-concurrent-attempts"] = func() {
		original := r
		d.c.elements(func() {
			r = fresh
			r.index = original.index
			d.c.members(own)
			add()
		})
		r = original
	}
	d.take = func() {
		if r.index >= 0 && r.state != nil {
			add()
		}
		r = fresh
	}
})
