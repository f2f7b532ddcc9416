package trace

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// columns are the fields of a table, in the order of WriteTable.
var columns = []string{
	"job", "phase", "task", "attempt", "ready", "start", "finish", "state", "host", "executor", "locality", "speculative",
	"input", "shuffle", "output", "preferred", "splits", "tasks", "submitted", "completed", "after", "kin", "family", "rack", "cores", "name",
}

// WriteTable writes the log in the normal form as comma-separated values. Read makes the same log from it. Values
// that Write leaves out are empty.
func WriteTable(w io.Writer, log *Log) error {
	t := tableWriter{csv: csv.NewWriter(w), row: make([]string, len(columns)), at: map[string]int{}}
	for i, name := range columns {
		t.at[name] = i
	}
	if err := t.csv.Write(columns); err != nil {
		return err
	}
	lw := lineWriter{put: t.put, log: log}
	if err := lw.all(); err != nil {
		return err
	}
	t.csv.Flush()
	return t.csv.Error()
}

type tableWriter struct {
	csv *csv.Writer
	row []string
	at  map[string]int // index of each column, by name
}

func (t *tableWriter) put(line any) error {
	clear(t.row)
	switch l := line.(type) {
	case hostLine:
		t.set("host", l.Host)
		t.set("rack", l.Rack)
	case executorLine:
		t.set("executor", l.Executor)
		t.set("host", l.Host)
		if l.Cores > 0 {
			t.set("cores", strconv.Itoa(int(l.Cores)))
		}
	case phaseLine:
		t.set("job", l.Job)
		t.set("phase", l.Phase)
		t.set("tasks", strconv.Itoa(l.Tasks))
		if l.Kin != alike.Alike {
			t.set("kin", l.Kin.String())
		}
		t.set("family", l.Family)
		t.opt("submitted", l.Submitted)
		t.opt("completed", l.Completed)
		t.list("after", l.After)
	case attemptLine:
		t.attempt(&l)
	}
	return t.csv.Write(t.row)
}

func (t *tableWriter) attempt(l *attemptLine) {
	t.set("job", l.Job)
	t.set("phase", l.Phase)
	t.set("task", strconv.Itoa(int(l.Task)))
	t.set("name", l.Name)
	t.set("attempt", strconv.Itoa(int(l.Attempt)))
	t.opt("ready", l.Ready)
	t.opt("start", l.Start)
	t.opt("finish", l.Finish)
	t.set("state", l.State.String())
	t.set("host", l.Host)
	t.set("executor", l.Executor)
	t.set("locality", localityNames[l.Locality])
	if l.Speculative != AnswerUnknown {
		t.set("speculative", strconv.FormatBool(l.Speculative == Yes))
	}
	t.opt("input", l.Input)
	t.opt("shuffle", l.Shuffle)
	t.opt("output", l.Output)
	names := make([]any, len(l.Preferred))
	for i, name := range l.Preferred {
		names[i] = name
	}
	t.list("preferred", names)
	splits := make([]any, len(l.Splits))
	for i, ms := range l.Splits {
		splits[i] = strconv.FormatInt(ms, 10)
	}
	t.list("splits", splits)
}

func (t *tableWriter) set(column, value string) { t.row[t.at[column]] = value }

func (t *tableWriter) opt(column string, value Opt) {
	if n, ok := value.Get(); ok {
		t.set(column, strconv.FormatInt(n, 10))
	}
}

// list writes names with semicolons between them, or as a JSON array if the names contain semicolons.
func (t *tableWriter) list(column string, list []any) {
	names := make([]string, len(list))
	for i, element := range list {
		name, ok := element.(string)
		if !ok || strings.ContainsAny(name, ";[") || strings.TrimSpace(name) != name {
			text, _ := json.Marshal(list) // strings and pairs of strings can always be encoded
			t.set(column, string(text))
			return
		}
		names[i] = name
	}
	t.set(column, strings.Join(names, ";"))
}
