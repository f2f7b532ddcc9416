package trace

import (
	"bytes"
	"cmp"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// airflow reads task instances, as Airflow's API returns them. A run of a DAG becomes a job. The instances of a
// mapped task are a phase of tasks that are alike. All other instances are tasks of one more phase, with the same
// work in every run.
var airflow = byObjects(Airflow, []string{"task_id", "dag_id", "id"}, []string{"task_instances"}, func(d *document) {
	var r struct {
		dag, run, task, state, host []byte
		index, try                  int32
		queued, start, finish       Opt
	}
	r.index = -1
	empty := r
	d.record = members{
		"dag_id": d.text(&r.dag), "dag_run_id": d.text(&r.run), "task_id": d.text(&r.task), "state": d.text(&r.state),
		"hostname": d.text(&r.host), "map_index": d.index(&r.index), "try_number": d.index(&r.try),
		"queued_when": d.moment(&r.queued), "start_date": d.moment(&r.start), "end_date": d.moment(&r.finish),
	}
	d.take = func() {
		defer func() { r = empty }()
		switch string(r.state) {
		case "skipped", "upstream_failed", "removed", "":
			d.notRun("instances that are " + cmp.Or(nameOf(r.state), "not scheduled"))
			return
		}
		phase, name := "tasks", r.task
		if r.index >= 0 {
			phase, name = nameOf(r.task), nil
		}
		i := d.phase(nameOf(bytes.Join([][]byte{r.dag, r.run}, []byte(" "))), phase)
		p := &d.log.Phases[i]
		p.Family = nameOf(r.dag)
		a := Attempt{
			Task: r.index, Number: max(r.try-1, 0), Ready: r.queued, Start: r.start, Finish: r.finish, Host: d.host(r.host, nil),
			State: d.stateOf(r.state),
		}
		if r.index >= 0 {
			p.Kin = alike.Alike
		} else {
			a.Task = d.task(i, -1, r.task)
		}
		d.nameTask(i, a.Task, name)
		d.builder.add(i, a)
	}
})
