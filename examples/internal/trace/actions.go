package trace

import "bytes"

// gitHubJobs reads the jobs of workflow runs, as GitHub's API and command line print them. A run becomes a job, and
// its jobs the tasks of a phase. Jobs of one name are the same work in every run of a workflow.
var gitHubJobs = byObjects(GitHubActions, []string{"id", "databaseId", "total_count", "completedAt"}, []string{"jobs"}, func(d *document) {
	var r struct {
		run, workflow, name, status, conclusion, runner []byte
		attempt                                         int32
		created, start, finish                          Opt
	}
	empty := r
	d.record = members{
		"run_id": d.text(&r.run), "workflow_name": d.text(&r.workflow), "name": d.text(&r.name),
		"status": d.text(&r.status), "conclusion": d.text(&r.conclusion), "runner_name": d.text(&r.runner),
		"run_attempt": d.index(&r.attempt), "created_at": d.moment(&r.created),
		"started_at": d.moment(&r.start), "completed_at": d.moment(&r.finish),
		"startedAt": d.moment(&r.start), "completedAt": d.moment(&r.finish),
	}
	d.take = func() {
		defer func() { r = empty }()
		if string(r.conclusion) == "skipped" {
			d.notRun("skipped jobs")
			return
		}
		i := d.phase(nameOf(bytes.TrimSpace(bytes.Join([][]byte{r.workflow, r.run}, []byte(" ")))), "jobs")
		d.log.Phases[i].Family = nameOf(r.workflow)
		a := Attempt{
			Task: d.task(i, -1, r.name), Number: max(r.attempt-1, 0), Ready: r.created, Start: r.start, Finish: r.finish,
			Host: d.host(r.runner, nil),
		}
		switch {
		case string(r.status) != "completed":
			a.Finish = Opt{}
		case string(r.conclusion) == "neutral":
			a.State = Succeeded
		default:
			a.State = d.stateOf(r.conclusion)
		}
		d.nameTask(i, a.Task, r.name)
		d.builder.add(i, a)
	}
})
