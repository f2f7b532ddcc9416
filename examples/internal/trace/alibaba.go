package trace

import (
	"bytes"
	"strconv"
)

// alibaba reads the batch tables of Alibaba's cluster traces: batch_instance has a line for each instance, and
// batch_task a line for each task. A task of the trace becomes a phase, and an instance becomes a task. Times are
// whole seconds.
type alibaba struct {
	*builder
	table  alibabaTable
	fields [][]byte
	phases map[int]alibabaPhase
}

// alibabaTable has the positions of the fields in a table; -1 for a field that the table lacks.
type alibabaTable struct {
	columns                                                     int
	instance, task, job, status, start, end, machine, seq, many int
}

// alibabaTables are the tables of 2018 and of 2017, which have different numbers of columns.
var alibabaTables = []alibabaTable{
	{columns: 14, instance: 0, task: 1, job: 2, status: 4, start: 5, end: 6, machine: 7, seq: 8, many: -1},
	{columns: 12, instance: -1, task: 3, job: 2, status: 5, start: 0, end: 1, machine: 4, seq: 6, many: -1},
	{columns: 9, instance: -1, task: 0, job: 2, status: 4, start: 5, end: 6, machine: -1, seq: -1, many: 1},
	{columns: 8, instance: -1, task: 3, job: 2, status: 5, start: 0, end: 1, machine: -1, seq: -1, many: 4},
}

// alibabaPhase is the content of the name of a phase. For example, R4_1_2 is the fourth phase of the job, after the
// first and the second.
type alibabaPhase struct {
	number int
	after  []int
}

// alibabaTableOf returns the table to which a line belongs. The number of fields decides, and the status and the
// times must be valid.
func alibabaTableOf(line []byte) (alibabaTable, bool) {
	fields, ok := commaFields(line, nil)
	if !ok {
		return alibabaTable{}, false
	}
	return alibabaTableWith(fields)
}

func alibabaTableWith(fields [][]byte) (alibabaTable, bool) {
	for _, t := range alibabaTables {
		if len(fields) == t.columns && t.fits(fields) {
			return t, true
		}
	}
	return alibabaTable{}, false
}

func (t *alibabaTable) fits(fields [][]byte) bool {
	for _, at := range [...]int{t.start, t.end} {
		if _, err := strconv.ParseInt(string(fields[at]), 10, 64); err != nil && len(fields[at]) > 0 {
			return false
		}
	}
	switch string(fields[t.status]) {
	case "Terminated", "Failed", "Running", "Waiting", "Ready", "Interrupted", "Cancelled", "Error":
		return true
	}
	return false
}

func readAlibaba(l *lineReader) *builder {
	a := &alibaba{builder: newBuilder(Alibaba), phases: map[int]alibabaPhase{}}
	a.eachLine(l, a.line)
	a.dependencies()
	if a.table.many >= 0 {
		a.hint("the table batch_task has no instances of tasks, so nothing can be replayed: " +
			"use the table batch_instance")
	}
	return a.builder
}

func (a *alibaba) line(line []byte) bool {
	var ok bool
	if a.fields, ok = commaFields(line, a.fields); !ok {
		return false
	}
	table, ok := alibabaTableWith(a.fields)
	if !ok {
		first := a.log.Records == 1
		if first {
			a.pass([]byte("heading")) // the table of 2017 has one
		}
		return first
	}
	if a.table.columns == 0 {
		a.table = table
	}
	if table.columns != a.table.columns {
		return false
	}
	i := a.phase(nameOf(a.fields[table.job]), nameOf(a.fields[table.task]))
	if _, seen := a.phases[i]; !seen {
		a.phases[i] = alibabaName(string(a.fields[table.task]))
	}
	if table.many >= 0 {
		a.whole(i)
	} else {
		a.instance(i)
	}
	return true
}

// seconds reads a time. 0 stands for unknown if the other time of the line is known, too.
func (a *alibaba) seconds(at int) Opt {
	c := &cursor{data: a.fields[at], plain: true}
	n, ok := c.integer()
	if !ok || n < 0 {
		return Opt{}
	}
	return momentFrom(n*1000, n < maxTime/1000, &a.log.Faults)
}

func (a *alibaba) whole(i int) {
	p := &a.log.Phases[i]
	c := &cursor{data: a.fields[a.table.many], plain: true}
	if n := c.index(); n > 0 && n <= maxTask {
		p.Tasks = int(n)
	}
	p.Submitted, p.Completed = a.seconds(a.table.start), a.seconds(a.table.end)
}

func (a *alibaba) instance(i int) {
	t := &a.table
	at := Attempt{Start: a.seconds(t.start), Finish: a.seconds(t.end), Host: a.host(a.fields[t.machine], nil)}
	switch string(a.fields[t.status]) {
	case "Terminated":
		at.State = Succeeded
	case "Failed", "Error":
		at.State = Failed
	case "Interrupted", "Cancelled":
		at.State = Killed
	}
	if at.State == Unfinished {
		at.Finish = Opt{} // an attempt that runs has no finish, even if the line has one
	}
	at.Task = a.count(i) // the tables of 2017 have no names of instances
	if t.instance >= 0 {
		c := &cursor{data: a.fields[t.seq], plain: true}
		at.Number = max(c.index()-1, 0)
		at.Task = a.task(i, -1, a.fields[t.instance])
	}
	a.add(i, at)
}

// alibabaName reads the name of a task: a letter, its number, and the numbers of the tasks before it.
func alibabaName(name string) alibabaPhase {
	digits := bytes.TrimLeft([]byte(name), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if len(digits) == len(name) {
		return alibabaPhase{}
	}
	var numbers []int
	for part := range bytes.SplitSeq(digits, []byte("_")) {
		n, err := strconv.Atoi(string(part))
		if err != nil || n <= 0 {
			break
		}
		numbers = append(numbers, n)
	}
	if numbers == nil {
		return alibabaPhase{}
	}
	return alibabaPhase{numbers[0], numbers[1:]}
}

// dependencies sets the input phases from the names of the phases.
func (a *alibaba) dependencies() {
	type numbered struct {
		job    string
		number int
	}
	byNumber := map[numbered]int{}
	for i, p := range a.phases {
		if p.number > 0 {
			byNumber[numbered{a.log.Phases[i].Job, p.number}] = i
		}
	}
	after := map[int][]int{}
	for i, p := range a.phases {
		for _, n := range p.after {
			if parent, ok := byNumber[numbered{a.log.Phases[i].Job, n}]; ok && parent != i {
				after[i] = append(after[i], parent)
			}
		}
	}
	a.after(after)
}
