package trace

import (
	"bytes"
	"strings"
)

// jhist reads the job history of Hadoop 2 and 3 as JSON: the line Avro-Json, a schema, and one event a line.
type jhist struct{ *hadoop }

const jhistMagic = "Avro-Json"

func readJhist(l *lineReader) *builder {
	h := jhist{newHadoop(JobHistory)}
	h.eachLine(l, h.line)
	return h.finish()
}

func (h jhist) line(line []byte) bool {
	if line[0] != '{' {
		return string(line) == jhistMagic
	}
	c := &cursor{data: line}
	e := hadoopEvent{}
	var kind []byte
	c.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = c.text()
		case "event":
			c.fields(func([]byte) { c.fields(func(key []byte) { e.member(c, key) }) })
		}
	})
	if !c.done() || kind == nil {
		return false
	}
	switch name := string(kind); {
	case name == "JOB_SUBMITTED" || name == "JOB_INITED" || name == "JOB_INFO_CHANGED":
		h.ofJob(&e)
	case name == "TASK_STARTED":
		h.ofTask(&e)
	case strings.HasSuffix(name, "_ATTEMPT_STARTED"):
		e.a.State = Unfinished
		h.ofAttempt(&e)
	case strings.HasSuffix(name, "_ATTEMPT_FINISHED"), strings.HasSuffix(name, "_ATTEMPT_FAILED"),
		strings.HasSuffix(name, "_ATTEMPT_KILLED"):
		if e.a.State == Unfinished {
			e.state([]byte(strings.Replace(name[strings.LastIndexByte(name, '_')+1:], "FINISHED", "SUCCEEDED", 1)))
		}
		h.ofAttempt(&e)
	default:
		h.pass(kind)
	}
	return true
}

// plainly reads the value at the cursor. Avro wraps a value that may be absent, as in {"string":"..."}.
func plainly(c *cursor, read func()) {
	if c.space() != '{' {
		read()
		return
	}
	c.fields(func([]byte) { read() })
}

func (e *hadoopEvent) member(c *cursor, key []byte) {
	switch string(key) {
	case "counters":
		plainlyGroup(c, e)
		return
	case "jobid", "taskid", "attemptId", "taskType", "launchTime", "totalMaps", "totalReduces", "splitLocations",
		"startTime", "finishTime", "trackerName", "hostname", "rackname", "taskStatus", "status", "locality", "avataar",
		"clockSplits":
	default:
		return
	}
	plainly(c, func() { e.plainMember(c, key) })
}

func (e *hadoopEvent) plainMember(c *cursor, key []byte) {
	switch string(key) {
	case "jobid":
		e.job = c.text()
	case "taskid":
		e.task = c.text()
	case "attemptId":
		e.id = c.text()
	case "taskType":
		e.kind = c.text()
	case "launchTime":
		e.launched = c.clock(&e.faults)
	case "totalMaps":
		e.maps = c.index()
	case "totalReduces":
		e.reduces = c.index()
	case "splitLocations":
		e.splits = c.text()
	case "startTime":
		e.a.Start = c.clock(&e.faults)
	case "clockSplits":
		e.clock = readSplits(c)
	case "finishTime":
		e.a.Finish = c.clock(&e.faults)
	case "trackerName":
		e.host = trackerHost(c.text())
	case "hostname":
		e.host = c.text()
	case "rackname":
		e.rack = c.text()
	case "taskStatus", "status":
		e.state(c.text())
	case "locality":
		e.a.Locality = hadoopLocality(c.text())
	case "avataar":
		e.a.Speculative = avatar(c.text())
	}
}

// plainlyGroup reads the groups of counters. For failed attempts they may be wrapped, or null.
func plainlyGroup(c *cursor, e *hadoopEvent) {
	c.fields(func(key []byte) {
		if string(key) != "groups" {
			if c.space() == '{' { // the group is wrapped
				plainlyGroup(c, e)
			}
			return
		}
		c.elements(func() {
			c.fields(func(key []byte) {
				if string(key) == "counts" {
					c.elements(func() { e.count(c) })
				}
			})
		})
	})
}

func (e *hadoopEvent) count(c *cursor) {
	var name []byte
	var value Opt
	c.fields(func(key []byte) {
		switch string(key) {
		case "name":
			name = c.text()
		case "value":
			value = c.bytes()
		}
	})
	e.counter(string(name), value)
}

// trackerHost returns the host in the name of a task tracker, which may be tracker_<host>:<address>:<port>.
func trackerHost(name []byte) []byte {
	name, _, _ = bytes.Cut(name, []byte(":"))
	return bytes.TrimPrefix(name, []byte("tracker_"))
}

func hadoopLocality(name []byte) Locality {
	if string(name) == "OFF_SWITCH" {
		return Any
	}
	return Locality(find(localityNames[:], name))
}

func avatar(name []byte) Answer {
	switch string(name) {
	case "VIRGIN":
		return No
	case "SPECULATIVE":
		return Yes
	}
	return AnswerUnknown
}
