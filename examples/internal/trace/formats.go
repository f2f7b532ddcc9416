package trace

import (
	"bytes"
	"io"
	"slices"
)

// reader reads one format.
type reader struct {
	format Format
	read   func(in io.Reader) *builder
	tests  func(in io.Reader, tests *Tests) *builder // of a format of tests; it adds them to tests, if that is not nil
}

// ofTests returns the reader of a format of tests.
func ofTests(format Format, read func(io.Reader, *Tests) *builder) reader {
	return reader{format, func(in io.Reader) *builder { return read(in, nil) }, read}
}

// byLines returns the reader of a format with a record on each line.
func byLines(format Format, read func(*lineReader) *builder) reader {
	return reader{format: format, read: func(in io.Reader) *builder { return read(newLineReader(in, maxRecord, nil)) }}
}

// byStream returns the reader of a format that is a stream of JSON.
func byStream(format Format, read func(io.Reader, int) *builder) reader {
	return reader{format: format, read: func(in io.Reader) *builder { return read(in, maxRecord) }}
}

var (
	linesReader    = byLines(Lines, readLines)
	recordsReader  = byStream(Lines, readRecords)
	tableReader    = byLines(Table, readTable)
	rumenReader    = byStream(Rumen, readRumen)
	topologyReader = byStream(Topology, readTopology)
	jhistReader    = byLines(JobHistory, readJhist)
	historyReader  = byLines(JobHistory1, readHistory)
	sharkReader    = byLines(Shark, readShark)
	alibabaReader  = byLines(Alibaba, readAlibaba)
	swimReader     = byLines(Swim, readSwim)
	journalReader  = byLines(Journal, readJournal)
	junitReader    = ofTests(JUnit, readJUnit)
	goTestReader   = ofTests(GoTest, func(in io.Reader, tests *Tests) *builder {
		return readGoTest(newLineReader(in, maxRecord, nil), tests)
	})
	bazelReader    = byLines(Bazel, readBazel)
	timelineReader = byStream(Timeline, readTimeline)
	kubeReader     = byStream(Kubernetes, func(in io.Reader, limit int) *builder { return readKube(in, limit, false) })
	kubeListReader = byStream(Kubernetes, func(in io.Reader, limit int) *builder { return readKube(in, limit, true) })
	goTestRecords  = ofTests(GoTest, func(in io.Reader, tests *Tests) *builder {
		g := newGoTest(tests)
		newStream(in, maxRecord, oneOf("Time", "Action", "ImportPath")).each(g.log, g.line)
		g.flush()
		return g.builder
	})
	bazelRecords = byStream(Bazel, func(in io.Reader, limit int) *builder {
		z := newBazel()
		newStream(in, limit, oneOf("id")).each(z.log, z.line)
		return z.builder
	})
	sparkRecords = byStream(Spark, func(in io.Reader, limit int) *builder {
		s := newSpark()
		newStream(in, limit, oneOf("Event")).each(s.log, s.line)
		return s.builder
	})
	sparkReader = reader{format: Spark, read: func(in io.Reader) *builder {
		s := newSpark()
		s.read(newLineReader(in, maxRecord, unwantedEvent))
		return s.builder
	}}
)

// oneOf returns a function that reports whether a key is one of the keys.
func oneOf(keys ...string) func([]byte) bool {
	return func(key []byte) bool { return slices.Contains(keys, string(key)) }
}

// inAnyLayout has the readers for records that are not one a line, such as JSON that a tool printed again.
var inAnyLayout = map[Format]reader{Lines: recordsReader, Spark: sparkRecords, Bazel: bazelRecords, GoTest: goTestRecords}

const (
	// mostObjects is the number of JSON objects of no known format after which a file is not a log. Other text may have
	// any length.
	mostObjects = 1000
	// mostBefore is the number of lines of other text after which a line of numbers no longer is a row of SWIM's jobs or
	// of Alibaba's tables. Such a row has no name of a column, and a long text may contain one by chance.
	mostBefore = 1000
)

// search is what is left of the search for the format of a file.
type search struct {
	objects int // at which it still looks
	bare    int // lines at which a row may still belong to a table without a header
}

// formatOf recognises the format from a line of the text. The lines before may be broken, or something else. It
// subtracts the objects and the lines at which it looked from those that are left.
func formatOf(text []byte, left *search) (r reader, ok bool) {
	for rest := text; len(rest) > 0; {
		if begin := bytes.TrimLeft(rest, "[ \t\r\n"); left.objects > 0 && len(begin) > 0 && begin[0] == '{' {
			left.objects--
			if r, ok := formatOfObject(rest); ok {
				return r, true
			}
		}
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSpace(line)
		if r, known := formatOfLine(line); known {
			return r, true
		}
		if left.bare > 0 {
			left.bare--
			if r, known := formatOfBareRow(line); known {
				return r, true
			}
		}
	}
	return reader{}, false
}

// formatOfLine recognises the formats that are not JSON.
func formatOfLine(line []byte) (r reader, ok bool) {
	switch {
	case len(line) > 0 && line[0] == '<' && holds(line, "<testsuite"):
		return junitReader, true
	case string(line) == jhistMagic:
		return jhistReader, true
	case historyKind(line) != nil, bytes.HasPrefix(line, []byte("!!FILE=")):
		return historyReader, true
	case isSharkLine(line):
		return sharkReader, true
	case isJournalLine(line):
		return journalReader, true
	}
	if kind, _, _ := tableOf(line); kind != nil {
		return reader{format: kind.format, read: tableReader.read}, true
	}
	return reader{}, false
}

// formatOfBareRow recognises the tables without a header.
func formatOfBareRow(line []byte) (r reader, ok bool) {
	if isSwim(line) {
		return swimReader, true
	}
	_, ok = alibabaTableOf(line)
	return alibabaReader, ok
}

// formatWithin searches for a record after a broken part on the same line.
func formatWithin(text []byte) (r reader, ok bool) {
	if bytes.IndexByte([]byte(`{["`), text[0]) < 0 {
		return reader{}, false
	}
	for rest := text[1:]; ; rest = rest[1:] {
		i := bytes.IndexByte(rest, '{')
		if i < 0 {
			return reader{}, false
		}
		rest = rest[i:]
		if key := firstKey(rest); ofRumenJob(key) || ofNormalLine(key) || ofTimelineEvent(key) || ofKubeObject(key) {
			if r, ok := formatOfObject(rest); ok {
				return r, true
			}
		}
	}
}

// formatOfObject recognises the format from the first object of the text, which may be cut off.
func formatOfObject(text []byte) (r reader, ok bool) {
	array := len(bytes.TrimLeft(text, " \t\r\n")) > len(bytes.TrimLeft(text, "[ \t\r\n"))
	text = bytes.TrimLeft(text, "[ \t\r\n")
	c := cursor{data: text}
	if !c.enter('{') {
		return reader{}, false
	}
	seen := map[string]bool{}
	for key, ok := c.key(); ok; key, ok = c.key() {
		at := c.pos
		c.skip()
		if r, ok := formatOfMember(string(key), text[at:c.pos], seen); ok {
			return laidOut(r, text, array), true
		}
		seen[string(key)] = true
	}
	own := 0
	for key := range seen {
		if ofNormalLine([]byte(key)) {
			own++
		}
	}
	switch {
	case seen["kind"] && seen["apiVersion"]:
		return kubeReader, true
	case seen["phase"] && own > 1, own > 0 && own == len(seen) && (!c.bad || seen["phase"]):
		return laidOut(linesReader, text, array), true
	}
	return reader{}, false
}

// formatOfMember recognises the format from a member of the first object. seen has the keys before it.
func formatOfMember(key string, value []byte, seen map[string]bool) (r reader, ok bool) {
	value = bytes.TrimSpace(value)
	object := len(value) > 0 && value[0] == '{'
	switch {
	case key == "task_instances", key == "dag_id" && seen["task_id"], key == "dag_run_id" && someOf(seen, "dag_id", "task_id"):
		return airflow, true
	case key == "jobs" && holds(value, `"started_at"`, `"startedAt"`), key == "run_id" && seen["id"]:
		return gitHubJobs, true
	case key == "launchTime" && seen["taskId"], key == "attemptId" && seen["stageId"], key == "stageId" && seen["status"]:
		return sparkREST, true
	case key == "attempt_number" && seen["task_id"], key == "data" && holds(value, `"attempt_number"`):
		return rayTasks, true
	case key == "subtasks" && someOf(seen, "name", "parallelism"):
		return flink, true
	case key == "resourceSpans", key == "batches" && holds(value, `"scopeSpans"`, `"instrumentationLibrarySpans"`):
		return openTelemetry, true
	case key == "data" && holds(value, `"traceID"`), key == "spans" && seen["traceID"]:
		return jaeger, true
	case key == "Event":
		return sparkReader, true
	case key == "jobID", key == "mapTasks":
		return rumenReader, true
	case key == "Action" && (seen["Time"] || seen["ImportPath"]), (key == "Package" || key == "Time") && seen["Action"]:
		return goTestReader, true
	case key == "event" && seen["type"] && bytes.HasPrefix(firstKey(value), []byte("org.apache.hadoop.")):
		return jhistReader, true
	case key == "id" && object && len(seen) == 0:
		return bazelReader, true
	case key == "traceEvents", key == "ph", (key == "pid" || key == "tid") && seen["ph"]:
		return timelineReader, true
	case key == "object" && seen["type"] && ofKubeObject(firstKey(value)):
		return kubeReader, true
	case key == "items" && (seen["apiVersion"] || seen["kind"]),
		key == "kind" && bytes.HasSuffix(value, []byte(`List"`)):
		return kubeListReader, true
	case key == "children" && seen["name"]:
		return topologyReader, true
	}
	return reader{}, false
}

func someOf(seen map[string]bool, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return seen[key] })
}

// holds reports whether a value, which may be cut off, contains one of the texts.
func holds(value []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(value, []byte(text)) })
}

// laidOut returns the reader for the layout of the records. The text begins with a record, or with a bracket before
// it if array is true.
func laidOut(r reader, text []byte, array bool) reader {
	anyLayout, ok := inAnyLayout[r.format]
	switch {
	case !ok:
		return r
	case array:
		return anyLayout
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	if line = bytes.TrimSpace(line); skipValue(line, 0) == len(line) {
		return r
	}
	if r.format != Lines && oneALine(rest) { // the first record is broken, or too long for its end to be seen
		return r
	}
	return anyLayout
}

// oneALine reports whether the second line is a whole record, as far as the text goes.
func oneALine(rest []byte) bool {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '{' && skipValue(line, 0) == len(line)
}
