package trace

import (
	"bytes"
	"io"
	"math"
)

// timeline reads trace events as Chrome defined them and Ray, Bazel and many others write them: an array, or an
// object with the array traceEvents. Events of the same name are a phase, each event is a task, its process is the
// host and its thread the executor. Times there are microseconds, here milliseconds.
type timeline struct {
	*builder
	open map[string][]attemptRef // by thread: what has begun and not ended
}

func readTimeline(in io.Reader, limit int) *builder {
	t := &timeline{newBuilder(Timeline), map[string][]attemptRef{}}
	s := newStream(in, limit, ofTimelineEvent)
	if b, err := s.peek(); err == nil && b == '{' && !s.atRecord() {
		if err := s.unwrap("traceEvents"); err != nil { // the wrapping is broken: look for the first event
			if s.fault(t.log, err) {
				return t.builder
			}
		}
	}
	s.each(t.log, t.event)
	return t.builder
}

// ofTimelineEvent says whether a key is one of an event's. Some may begin an event's arguments, too; those are
// dropped as broken when they are met behind a mistake.
func ofTimelineEvent(key []byte) bool {
	switch string(key) {
	case "ph", "ts", "dur", "pid", "tid", "cat", "cname", "tts":
		return true
	case "name", "id", "args":
		return true
	}
	return false
}

// timelineEvent holds what is needed of one event. Texts may alias the record.
type timelineEvent struct {
	name, kind, pid, tid []byte
	ts, dur              float64 // microseconds
	timed, lasts         bool
}

func (t *timeline) event(record []byte) bool {
	c := &cursor{data: record}
	e := timelineEvent{}
	c.fields(func(key []byte) {
		switch string(key) {
		case "name":
			e.name = c.name()
		case "ph":
			e.kind = c.text()
		case "pid":
			e.pid = c.name()
		case "tid":
			e.tid = c.name()
		case "ts":
			e.ts, e.timed = c.number(), true
		case "dur":
			e.dur, e.lasts = c.number(), true
		}
	})
	if !c.done() || e.kind == nil && !e.timed {
		return false
	}
	switch string(e.kind) {
	case "X", "":
		return t.complete(&e)
	case "B":
		thread := string(e.thread())
		t.open[thread] = append(t.open[thread], t.begin(&e))
	case "E":
		t.finish(&e)
	default:
		t.pass(append([]byte("events of the kind "), e.kind...))
	}
	return true
}

func (e *timelineEvent) thread() []byte {
	if len(e.pid) == 0 {
		return e.tid
	}
	return bytes.Join([][]byte{e.pid, e.tid}, []byte("/"))
}

// begin makes an attempt that has not ended.
func (t *timeline) begin(e *timelineEvent) attemptRef {
	i := t.phase("", nameOf(e.name))
	host := t.host(e.pid, nil)
	return t.add(i, Attempt{
		Task: t.count(i), Start: t.moment(e.ts, e.timed),
		Host: host, Executor: t.executor(e.thread(), host, 0),
	})
}

func (t *timeline) complete(e *timelineEvent) bool {
	ref := t.begin(e)
	a := t.attempt(ref)
	if e.lasts && e.dur >= 0 {
		a.Finish, a.State = t.moment(e.ts+e.dur, e.timed), Succeeded
	}
	return true
}

// finish ends what began last on the thread.
func (t *timeline) finish(e *timelineEvent) {
	thread := string(e.thread())
	open := t.open[thread]
	if len(open) == 0 {
		t.log.Faults[Repeated]++
		return
	}
	ref := open[len(open)-1]
	t.open[thread] = open[:len(open)-1]
	a := t.attempt(ref)
	a.Finish, a.State = t.moment(e.ts, e.timed), Succeeded
}

// moment takes microseconds since any epoch.
func (t *timeline) moment(micros float64, known bool) Opt {
	if !known {
		return Opt{}
	}
	millis := math.Round(micros / 1000)
	if millis < 0 || millis > maxTime {
		t.log.Faults[BadTime]++
		return Opt{}
	}
	return Known(int64(millis))
}
