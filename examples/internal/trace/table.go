package trace

import (
	"bytes"
	"fmt"
	"slices"
)

// tableKind is a kind of table. It is recognised by the names in the first line, and read row by row.
type tableKind struct {
	format Format
	// holds are column names in lower case that a table of this kind has.
	holds []string
	// separators are the characters that may separate fields.
	separators string
	row        func(t *table) bool
}

// tableKinds are the known kinds. Any other text is not read as a table.
var tableKinds = []tableKind{
	{Table, []string{"phase", "start"}, ",\t;", (*table).ownRow},
	{Table, []string{"phase", "finish"}, ",\t;", (*table).ownRow},
	{Nextflow, []string{"name", "status", "submit", "duration"}, "\t,", (*table).nextflowRow},
	{Nextflow, []string{"name", "status", "start", "complete"}, "\t,", (*table).nextflowRow},
	{Nextflow, []string{"process", "tag", "status", "start", "complete"}, "\t,", (*table).nextflowRow},
	{Slurm, []string{"jobid", "jobname", "state", "start"}, "|", (*table).sacctRow},
}

// table reads a log that is a table with the names of the fields in the first line.
type table struct {
	*builder
	kind    *tableKind
	sep     byte
	columns [][]byte
	at      map[string]int // index of each column; of several columns with one name, the last
	fields  [][]byte
	tasks   map[string]*tried // by the name of the task
	made    map[int]int32     // number of tasks of each phase
}

func readTable(l *lineReader) *builder {
	t := &table{builder: newBuilder(Table), at: map[string]int{}, tasks: map[string]*tried{}, made: map[int]int32{}}
	t.blank = " \r\n" // spaces are trimmed, but an empty field at the end stays
	t.eachLine(l, t.line)
	return t.builder
}

// tableOf reads the first line of a table; nil if it is not a table.
func tableOf(line []byte) (kind *tableKind, sep byte, columns [][]byte) {
	for i := range tableKinds {
		kind := &tableKinds[i]
		for _, sep := range []byte(kind.separators) {
			if bytes.IndexByte(line, sep) < 0 { // a table has at least two columns
				continue
			}
			fields, ok := fieldsOf(line, sep, nil)
			found := map[string]bool{}
			for _, f := range fields {
				found[string(bytes.ToLower(f))] = ok
			}
			for _, name := range kind.holds {
				ok = ok && found[name]
			}
			if ok {
				for i, f := range fields {
					fields[i] = bytes.ToLower(bytes.Clone(f))
				}
				return kind, sep, fields
			}
		}
	}
	return nil, 0, nil
}

func (t *table) line(line []byte) bool {
	if t.kind == nil {
		return t.heading(line)
	}
	var ok bool
	t.fields, ok = fieldsOf(line, t.sep, t.fields)
	if t.wrongWidth = ok && len(t.fields) != len(t.columns); !ok || t.wrongWidth {
		return false
	}
	if slices.EqualFunc(t.fields, t.columns, bytes.EqualFold) { // another table begins
		return true
	}
	return t.kind.row(t)
}

func (t *table) heading(line []byte) bool {
	if t.kind, t.sep, t.columns = tableOf(line); t.kind == nil {
		return false
	}
	t.log.Format = t.kind.format
	for i, name := range t.columns {
		if _, twice := t.at[string(name)]; twice {
			t.hint(fmt.Sprintf("the first line has the column %q twice: the last column of this name is used", nameOf(name)))
		}
		t.at[string(name)] = i
	}
	return true
}

// field returns the field in a column; nil if there is no such column.
func (t *table) field(column string) []byte {
	if i, ok := t.at[column]; ok {
		return t.fields[i]
	}
	return nil
}

// ownRow reads a row of the normal form.
func (t *table) ownRow() bool {
	n := normalLine{task: -1, tasks: -1}
	for i, field := range t.fields {
		if len(field) == 0 {
			continue
		}
		c := &cursor{data: field, plain: true}
		n.member(c, t.columns[i])
		if c.pos > 0 && !c.done() { // a number with a text after it
			return false
		}
	}
	t.unknownFields(n.unknown)
	return t.take(&n)
}
