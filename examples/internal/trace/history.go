package trace

import "bytes"

// history reads the job histories of Hadoop 0.20 and 1. A record is a line: KIND KEY="value" ... and a full stop. A
// value, such as a stack trace, may have several lines.
type history struct {
	*hadoop
	open bool // the last record stops inside a value
}

func readHistory(l *lineReader) *builder {
	h := history{hadoop: newHadoop(JobHistory1)}
	h.eachLine(l, h.line)
	return h.hadoop.finish()
}

// historyKind returns the kind of the record with which a line begins; nil if it begins with no record.
func historyKind(line []byte) []byte {
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(kind) {
	case "Meta", "Job", "Task", "MapAttempt", "ReduceAttempt":
		if key, _, ok := bytes.Cut(rest, []byte(`="`)); ok && len(key) > 0 && bytes.IndexByte(key, ' ') < 0 {
			return kind
		}
	}
	return nil
}

func (h *history) line(line []byte) bool {
	for len(line) > 0 {
		kind := historyKind(line)
		if kind == nil {
			// Logs of several jobs may have been joined, with their configurations.
			if h.open || line[0] == '<' || bytes.HasPrefix(line, []byte("!!FILE=")) {
				h.open = h.open && !bytes.HasSuffix(line, []byte(`" .`))
				return true
			}
			return false
		}
		e := hadoopEvent{}
		rest, ok := e.historyFields(line[len(kind):])
		if h.open = !ok && rest == nil; !ok && (rest != nil || e.job == nil && e.task == nil && e.id == nil) {
			return false
		}
		h.record(kind, &e)
		if line = bytes.TrimSpace(rest); len(line) > 0 { // the line break after the record is missing
			h.log.Records++
		}
	}
	return true
}

// historyFields reads the fields up to the full stop, and returns the text after it. ok is false after an error. It
// is also false, with an empty rest, if the line ends inside a value.
func (e *hadoopEvent) historyFields(line []byte) (rest []byte, ok bool) {
	for {
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '.' {
			return line[1:], true
		}
		key, after, found := bytes.Cut(line, []byte(`="`))
		if !found || len(key) == 0 || bytes.ContainsAny(key, " \"") {
			return line, false
		}
		end := skipQuoted(after)
		if end < 0 {
			return nil, false
		}
		e.historyField(key, unescape(after[:end]))
		line = after[end+1:]
	}
}

// skipQuoted returns the index of the quote that ends a value, or -1.
func skipQuoted(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func (e *hadoopEvent) historyField(key, value []byte) {
	c := &cursor{data: value, plain: true}
	switch string(key) {
	case "JOBID":
		e.job = value
	case "TASKID":
		e.task = value
	case "TASK_ATTEMPT_ID":
		e.id = value
	case "TASK_TYPE":
		e.kind = value
	case "LAUNCH_TIME":
		e.launched = c.clock(&e.faults)
	case "TOTAL_MAPS":
		e.maps = c.index()
	case "TOTAL_REDUCES":
		e.reduces = c.index()
	case "SPLITS":
		e.splits = value
	case "START_TIME":
		e.a.Start = c.clock(&e.faults)
	case "FINISH_TIME":
		e.a.Finish = c.clock(&e.faults)
	case "TRACKER_NAME":
		e.host = trackerHost(value)
	case "HOSTNAME":
		e.host = value
	case "TASK_STATUS":
		e.state(value)
	case "COUNTERS":
		e.historyCounters(value)
	}
}

// historyCounters reads counters of the form {(group)(its title)[(NAME)(title)(value)]...}...
func (e *hadoopEvent) historyCounters(text []byte) {
	for counter := range bytes.SplitSeq(text, []byte("[")) {
		counter, _, _ = bytes.Cut(counter, []byte("]"))
		parts := bytes.Split(bytes.Trim(counter, "()"), []byte(")("))
		if len(parts) == 3 {
			c := cursor{data: parts[2], plain: true}
			e.counter(string(parts[0]), c.bytes())
		}
	}
}

func (h *history) record(kind []byte, e *hadoopEvent) {
	switch string(kind) {
	case "Job":
		h.ofJob(e)
	case "Task":
		h.ofTask(e)
	case "MapAttempt", "ReduceAttempt":
		h.ofAttempt(e)
	default:
		h.pass(kind)
	}
}
