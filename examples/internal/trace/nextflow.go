package trace

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// nextflowRow reads a row of the trace that Nextflow writes with -with-trace. The row has the default columns, or
// start, complete and further columns. A process is a phase. A task has a name, and its runs after a failure are
// further attempts.
func (t *table) nextflowRow() bool {
	process, tag, _ := bytes.Cut(t.field("name"), []byte(" ("))
	tag = bytes.TrimSuffix(tag, []byte(")"))
	if own := t.field("process"); len(own) > 0 {
		process = own
	}
	if own := t.field("tag"); len(own) > 0 && string(own) != "-" {
		tag = own
	}
	switch string(t.field("status")) {
	case "CACHED":
		t.notRun("tasks from a cache")
		return true
	case "":
		return false
	}
	i := t.phase("", nameOf(process))
	a := Attempt{
		State: t.stateOf(t.field("status")), Host: t.host(t.known("hostname"), nil), Input: size(t.field("rchar")),
	}
	a.Ready = momentOf(t.known("submit"), &t.log.Faults)
	a.Start, a.Finish = momentOf(t.known("start"), &t.log.Faults), momentOf(t.known("complete"), &t.log.Faults)
	whole, running := lasts(t.field("duration")), lasts(t.field("realtime"))
	if submitted, ok := a.Ready.Get(); ok {
		if d, known := whole.Get(); known && !a.Finish.Known() {
			a.Finish = Known(submitted + d)
		}
	}
	if a.State != Unfinished {
		a.states(running)
	}
	task := t.tasks[nameOf(process)+"\x00"+string(tag)]
	if task == nil || !task.failed {
		task = &tried{task: t.made[i]}
		t.made[i]++
		t.tasks[nameOf(process)+"\x00"+string(tag)] = task
	}
	a.Task, a.Number = task.task, task.attempts
	task.attempts++
	task.failed = a.State == Failed
	t.nameTask(i, a.Task, tag)
	t.add(i, a)
	return true
}

// tried is a task that may run again.
type tried struct {
	task, attempts int32
	failed         bool
}

// known returns the field of a column; nil if it is unknown.
func (t *table) known(column string) []byte {
	if f := t.field(column); string(f) != "-" {
		return f
	}
	return nil
}

// lasts reads a duration: "1h 2m 3.5s", "457ms", or a number of milliseconds.
func lasts(text []byte) Opt {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return Known(n)
	}
	sum := time.Duration(0)
	for part := range strings.FieldsSeq(string(text)) {
		if days, ok := strings.CutSuffix(part, "d"); ok {
			n, err := strconv.ParseFloat(days, 64)
			if err != nil || n > 1e4 {
				return Opt{}
			}
			sum += time.Duration(n * 24 * float64(time.Hour))
			continue
		}
		d, err := time.ParseDuration(part)
		if err != nil {
			return Opt{}
		}
		sum += d
	}
	if len(text) == 0 {
		return Opt{}
	}
	return Known(sum.Milliseconds())
}

// size reads a number of bytes, such as "193.5 KB" or a plain number.
func size(text []byte) Opt {
	number, unit, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(number, 64)
	power := strings.Index("BKMGTP", unit[:min(len(unit), 1)])
	if err != nil || n < 0 || power < 0 {
		return Opt{}
	}
	for range power {
		n *= 1024
	}
	if n > maxBytes {
		return Opt{}
	}
	return Known(int64(n))
}
