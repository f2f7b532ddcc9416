package trace

import (
	"bytes"
	"slices"
	"time"
)

// bazel reads Bazel's build events as JSON, one event a line. The tests are the tasks of one phase; each run and each
// shard of a test is a task. The actions of each kind are the tasks of another phase, if Bazel writes their times.
// Results from a cache did not run.
type bazel struct {
	*builder
	c     cursor
	e     bazelEvent
	shape members
}

// bazelEvent has the fields of an event that are read. Texts may share memory with the line.
type bazelEvent struct {
	test, action, aborted      bool
	label, run, shard, attempt []byte
	status, host, kind, output []byte
	start, finish              Opt
	millis                     Opt // duration in milliseconds
	cached, success            Answer
}

// bazelNotRun are the statuses of tests that did not run.
var bazelNotRun = []string{"NO_STATUS", "FAILED_TO_BUILD", "TOOL_HALTED_BEFORE_TESTING"}

func newBazel() *bazel {
	z := &bazel{builder: newBuilder(Bazel)}
	z.shape = z.members()
	return z
}

func readBazel(l *lineReader) *builder {
	z := newBazel()
	z.eachLine(l, z.line)
	return z.builder
}

// bazelKind returns the kind of an event; nil if the line is not an event. An event is an object that begins with its
// ID. The ID is an object that begins with the kind.
func bazelKind(line []byte) []byte {
	if string(firstKey(line)) != "id" {
		return nil
	}
	at := bytes.IndexByte(line, ':')
	return firstKey(line[skipSpace(line, at+1):])
}

// line reads an event. Events that are not needed, such as printed output, may be long.
func (z *bazel) line(line []byte) bool {
	kind := bazelKind(line)
	if string(kind) != "testResult" && string(kind) != "actionCompleted" {
		if kind == nil || skipValue(line, 0) != len(line) {
			return false
		}
		z.pass(kind)
		return true
	}
	z.c, z.e = cursor{data: line}, bazelEvent{}
	z.c.members(z.shape)
	if !z.c.done() {
		return false
	}
	switch e := &z.e; {
	case e.cached == Yes:
		z.notRun("results from a cache")
	case e.aborted:
		z.notRun("aborted results")
	case e.test && slices.Contains(bazelNotRun, string(e.status)):
		z.notRun("tests with the status " + string(e.status))
	case e.test:
		work := bytes.TrimSpace(bytes.Join([][]byte{e.label, e.shard}, []byte(" ")))
		z.attempt("tests", bytes.Join([][]byte{work, e.run}, []byte(" run ")), work)
	case e.action:
		z.attempt(nameOf(e.kind), bytes.Join([][]byte{e.label, e.output}, []byte(" ")), nil)
	}
	return true
}

func (z *bazel) members() members {
	c, e := &z.c, &z.e
	faults := &z.log.Faults
	text := func(to *[]byte) func() { return func() { *to = c.name() } }
	answer := func(to *Answer) func() { return func() { *to = c.answer() } }
	moment := func(to *Opt) func() { return func() { *to = c.moment(faults) } }
	inside := func(m members) func() { return func() { c.members(m) } }
	return members{
		"id": inside(members{
			"testResult": inside(members{
				"label": text(&e.label), "run": text(&e.run), "shard": text(&e.shard), "attempt": text(&e.attempt),
			}),
			"actionCompleted": inside(members{"label": text(&e.label), "primaryOutput": text(&e.output)}),
		}),
		"testResult": func() {
			e.test = true
			c.members(members{
				"status": text(&e.status), "cachedLocally": answer(&e.cached),
				"testAttemptStart": moment(&e.start), "testAttemptStartMillisEpoch": moment(&e.start),
				"testAttemptDuration":       func() { e.millis = duration(c.text()) },
				"testAttemptDurationMillis": moment(&e.millis),
				"executionInfo": inside(members{"hostname": text(&e.host), "cachedRemotely": func() {
					if c.answer() == Yes {
						e.cached = Yes
					}
				}}),
			})
		},
		"aborted": func() { e.aborted = true },
		"action": func() {
			e.action = true
			c.members(members{
				"success": answer(&e.success), "type": text(&e.kind), "label": text(&e.label),
				"startTime": moment(&e.start), "endTime": moment(&e.finish),
			})
		},
	}
}

// duration reads a span of time such as "1.5s", in milliseconds.
func duration(text []byte) Opt {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return Opt{}
	}
	return Known(d.Milliseconds())
}

func (z *bazel) attempt(phase string, task, work []byte) {
	e := &z.e
	i := z.phase("bazel", phase)
	a := Attempt{Task: z.task(i, -1, task), Start: e.start, Finish: e.finish, Host: z.host(e.host, nil)}
	if work == nil {
		work = task
	}
	z.nameTask(i, a.Task, work)
	c := cursor{data: e.attempt, plain: true}
	a.Number = max(c.index()-1, 0)
	if millis, ok := e.millis.Get(); ok && e.start.Known() && !a.Finish.Known() {
		a.Finish = Known(e.start.Or(0) + millis)
	}
	switch {
	case e.test && (string(e.status) == "PASSED" || string(e.status) == "FLAKY"), e.action && e.success == Yes:
		a.State = Succeeded
	default: // a value that is false is not written
		a.State = Failed
	}
	z.add(i, a)
}
