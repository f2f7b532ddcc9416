package trace

import (
	"bytes"
	"fmt"
)

// tableKind is a kind of table, told by the names in its first line, and read row by row.
type tableKind struct {
	format Format
	// holds are the columns, in small letters, by which it is known.
	holds []string
	// separators are those that it may have.
	separators string
	row        func(t *table) bool
}

// tableKinds are the tables that are known. What is foreign to all of them is no table.
var tableKinds = []tableKind{
	{Table, []string{"phase", "start"}, ",\t;", (*table).ownRow},
	{Table, []string{"phase", "finish"}, ",\t;", (*table).ownRow},
	{Nextflow, []string{"name", "status", "submit", "duration"}, "\t,", (*table).nextflowRow},
	{Nextflow, []string{"name", "status", "start", "complete"}, "\t,", (*table).nextflowRow},
	{Nextflow, []string{"process", "tag", "status", "start", "complete"}, "\t,", (*table).nextflowRow},
	{Slurm, []string{"jobid", "jobname", "state", "start"}, "|", (*table).sacctRow},
}

// table is a log as a table: the first line names the fields.
type table struct {
	*builder
	kind    *tableKind
	sep     byte
	columns [][]byte
	at      map[string]int // of a column; of several of the name the last
	fields  [][]byte
	tasks   map[string]*tried // by what they are known by
	made    map[int]int32     // how many tasks a phase has
}

func readTable(l *lineReader) *builder {
	t := &table{builder: newBuilder(Table), at: map[string]int{}, tasks: map[string]*tried{}, made: map[int]int32{}}
	t.blank = " \r\n" // an empty field at an end counts
	t.eachLine(l, t.line)
	return t.builder
}

// tableOf reads the first line of a table; nil if it is none.
func tableOf(line []byte) (kind *tableKind, sep byte, columns [][]byte) {
	for i := range tableKinds {
		kind := &tableKinds[i]
		for _, sep := range []byte(kind.separators) {
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
	if t.fields, ok = fieldsOf(line, t.sep, t.fields); !ok || len(t.fields) != len(t.columns) {
		return false
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

// field returns the field of a column; nil if there is no such column.
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
		if c.pos > 0 && !c.done() { // a number with something behind it
			return false
		}
	}
	t.unknownFields(n.unknown)
	return t.take(&n)
}
