package trace

import (
	"bytes"
	"io"
)

// timeline reads trace events, which Chrome defined and which Ray, Bazel and many others write: an array, or an
// object with the array traceEvents. spans.go decides which events are tasks. The times in the log are microseconds,
// and the times in Log milliseconds.
type timeline struct {
	*builder
	all  []span
	open map[int32][]int // for each thread, the events that have begun and not ended
	text texts
}

func readTimeline(in io.Reader, limit int) *builder {
	t := &timeline{builder: newBuilder(Timeline), open: map[int32][]int{}}
	s := newStream(in, limit, ofTimelineEvent)
	broken := false
	if b, err := s.peek(); err == nil && b == '{' && !s.atRecord() {
		if err := s.unwrap("traceEvents"); err != nil { // the object around the events is broken: search for the first event
			broken = s.fault(t.log, err)
		}
	}
	if !broken {
		s.each(t.log, t.event)
	}
	t.tasks()
	return t.builder
}

// ofTimelineEvent reports whether a key is a member of an event. The arguments of an event may begin with such a key,
// too. After an error, they are read as an event and dropped as broken.
func ofTimelineEvent(key []byte) bool {
	switch string(key) {
	case "ph", "ts", "dur", "pid", "tid", "cat", "cname", "tts":
		return true
	case "name", "id", "args":
		return true
	}
	return false
}

// timelineEvent has the fields of an event that are read. Texts may share memory with the record.
type timelineEvent struct {
	name, kind, cat, pid, tid []byte
	mnemonic, target          []byte
	step, stage               []byte
	ts, dur                   float64 // in microseconds
	timed, lasts              bool
}

func (t *timeline) event(record []byte) bool {
	c := &cursor{data: record}
	e := timelineEvent{}
	stated := false
	c.fields(func(key []byte) {
		switch string(key) {
		case "name":
			e.name = c.name()
		case "cat":
			e.cat = c.text()
		case "ph":
			e.kind = c.text()
		case "pid":
			e.pid = c.name()
		case "tid":
			e.tid = c.name()
		case "ts":
			stated = true
			e.ts, e.timed = t.micros(c)
		case "dur":
			e.dur, e.lasts = t.micros(c)
		case "args":
			c.fields(func(key []byte) { e.argument(c, key) })
		}
	})
	if !c.done() || e.kind == nil && !stated {
		return false
	}
	switch string(e.kind) {
	case "X", "":
		t.begin(&e)
	case "B":
		i := t.begin(&e)
		thread := t.all[i].thread
		t.open[thread] = append(t.open[thread], i)
	case "E":
		t.finish(&e)
	default:
		t.pass(append([]byte("events of the kind "), e.kind...))
	}
	return true
}

func (e *timelineEvent) argument(c *cursor, key []byte) {
	switch string(key) {
	case "mnemonic":
		e.mnemonic = c.text()
	case "target":
		e.target = c.text()
	case "step":
		e.step = c.name()
	case "stage":
		e.stage = c.name()
	}
}

// micros reads a number of microseconds, which may be in quotes.
func (t *timeline) micros(c *cursor) (n float64, ok bool) {
	if n, ok = c.number(); !ok || n > 1000*maxTime || n < -1000*maxTime {
		t.log.Faults[BadTime]++
		return 0, false
	}
	return n, true
}

func (e *timelineEvent) thread() []byte {
	if len(e.pid) == 0 {
		return e.tid
	}
	return bytes.Join([][]byte{e.pid, e.tid}, []byte("/"))
}

// begin adds an event and returns its index.
func (t *timeline) begin(e *timelineEvent) int {
	host := t.host(e.pid, nil)
	s := span{
		name: t.text.number(e.name), cat: t.text.number(e.cat), mnemonic: t.text.number(e.mnemonic),
		target: t.text.number(e.target), step: t.text.number(e.step), stage: t.text.number(e.stage), host: host,
		thread: t.executor(e.thread(), host, 0), start: e.ts, timed: e.timed,
	}
	if e.lasts && e.dur >= 0 && e.timed {
		s.end, s.ended = e.ts+e.dur, true
	}
	t.all = append(t.all, s)
	return len(t.all) - 1
}

// finish ends the last open event of the thread.
func (t *timeline) finish(e *timelineEvent) {
	thread := t.executor(e.thread(), t.host(e.pid, nil), 0)
	open := t.open[thread]
	if len(open) == 0 {
		t.log.Faults[Repeated]++
		return
	}
	s := &t.all[open[len(open)-1]]
	t.open[thread] = open[:len(open)-1]
	s.end, s.ended = e.ts, e.timed
}

// texts gives each text a number, from 1 on.
type texts struct {
	index map[string]int32
	all   []string
}

func (t *texts) number(text []byte) int32 {
	if len(text) == 0 {
		return 0
	}
	if i, ok := t.index[string(text)]; ok {
		return i
	}
	if t.index == nil {
		t.index, t.all = map[string]int32{}, []string{""}
	}
	t.index[string(text)] = int32(len(t.all))
	t.all = append(t.all, string(text))
	return int32(len(t.all) - 1)
}

func (t *texts) of(i int32) string {
	if i == 0 {
		return ""
	}
	return t.all[i]
}
