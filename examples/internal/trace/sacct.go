package trace

import (
	"bytes"
	"strconv"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// sacctRow reads a row of the output of `sacct -P`. The indices of an array job are the tasks of a phase. Other jobs
// of one name are the same work. Steps are parts of their job and are ignored. A job that was queued again has a row
// for each run.
func (t *table) sacctRow() bool {
	id := t.field("jobid")
	if len(id) == 0 {
		return false
	}
	if bytes.IndexByte(id, '.') >= 0 {
		t.pass([]byte("steps of jobs"))
		return true
	}
	when := func(column string) Opt {
		switch text := t.field(column); string(text) {
		case "Unknown", "None", "N/A":
			return Opt{}
		default:
			return momentOf(text, &t.log.Faults)
		}
	}
	a := Attempt{Ready: when("submit"), Start: when("start"), Finish: when("end"), State: t.stateOf(t.field("state"))}
	if a.State != Unfinished && a.Start.Known() {
		a.states(elapsed(t.field("elapsed"))) // without the time in which the job was suspended
	}
	if !a.Start.Known() {
		t.notRun("jobs that never started")
		return true
	}
	if host := t.field("nodelist"); !bytes.HasPrefix(host, []byte("None")) {
		a.Host = t.host(host, nil)
	}
	job, index, array := bytes.Cut(id, []byte("_"))
	name := t.field("jobname")
	if !array {
		job, index = []byte("jobs"), id
	}
	i := t.phase(nameOf(job), nameOf(name))
	if array {
		t.log.Phases[i].Kin = alike.Alike
		name = index
	}
	key := string(id)
	task := t.tasks[key]
	if task == nil {
		task = &tried{task: t.made[i]}
		t.made[i]++
		t.tasks[key] = task
	}
	a.Task, a.Number = task.task, task.attempts
	task.attempts++
	t.nameTask(i, a.Task, name)
	t.add(i, a)
	return true
}

// elapsed reads Slurm's [days-]hours:minutes:seconds, in milliseconds.
func elapsed(text []byte) Opt {
	seconds := int64(0)
	days, rest, ok := bytes.Cut(text, []byte("-"))
	if ok {
		text = rest
		n, err := strconv.ParseInt(string(days), 10, 32)
		if err != nil {
			return Opt{}
		}
		seconds = 24 * n
	}
	parts := 0
	for part := range bytes.SplitSeq(text, []byte(":")) {
		n, err := strconv.ParseFloat(string(part), 64)
		if err != nil || n < 0 || n > 1e6 {
			return Opt{}
		}
		if parts++; parts == 1 {
			seconds += int64(n)
		} else {
			seconds = 60*seconds + int64(n)
		}
	}
	if parts != 3 {
		return Opt{}
	}
	return Known(1000 * seconds)
}
